import Foundation
import TestSupport
import Testing

/// Checks that tests and program are built with the sanitizer of the run.
@Suite(.enabled(if: Sanitizer.isOn, "there is no sanitizer: `make sanitize` runs the tests under each")) struct SanitizerTests {
    /// A symbol that only programs with the sanitizer have.
    private func symbol() throws -> String {
        let symbols = ["address": "__asan_init", "thread": "__tsan_init", "undefined": "__ubsan_handle_add_overflow"]
        return try #require(symbols[Sanitizer.name ?? ""])
    }

    @Test func `the tests are built with the sanitizer`() throws {
        #expect(dlsym(dlopen(nil, RTLD_NOW), try symbol()) != nil)
    }

    @Test func `the program is built with the sanitizer`() throws {
        let program = try Data(contentsOf: URL(fileURLWithPath: Hemiola.path), options: .mappedIfSafe)
        #expect(program.range(of: Data(try symbol().utf8)) != nil)
    }
}
