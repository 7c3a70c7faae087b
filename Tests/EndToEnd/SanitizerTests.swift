import Foundation
import TestSupport
import Testing

/// Checks that a sanitizer run uses programs with the sanitizer.
@Suite(.enabled(if: Sanitizer.isOn, "no sanitizer; `make sanitize` runs the tests with each")) struct SanitizerTests {
    /// A symbol that only programs with the sanitizer have.
    private func symbol() throws -> String {
        let symbols = ["address": "__asan_init", "thread": "__tsan_init", "undefined": "__ubsan_handle_add_overflow"]
        return try #require(symbols[Sanitizer.name ?? ""])
    }

    @Test func `tests: built with the sanitizer`() throws {
        #expect(dlsym(dlopen(nil, RTLD_NOW), try symbol()) != nil)
    }

    @Test func `program under test: built with the sanitizer`() throws {
        let program = try Data(contentsOf: URL(fileURLWithPath: Hemiola.path), options: .mappedIfSafe)
        #expect(program.range(of: Data(try symbol().utf8)) != nil)
    }
}
