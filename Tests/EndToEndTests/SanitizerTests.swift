import Foundation
import TestSupport
import Testing

/// Under a sanitizer: that it is in the programs that run.
@Suite(.enabled(if: Sanitizer.isOn, "there is no sanitizer: `make sanitize` runs the tests under each")) struct SanitizerTests {
    /// What only a program that was built with it has.
    private func symbol() throws -> String {
        let symbols = ["address": "__asan_init", "thread": "__tsan_init", "undefined": "__ubsan_handle_add_overflow"]
        return try #require(symbols[Sanitizer.name ?? ""])
    }

    @Test func `these tests are built with it`() throws {
        #expect(dlsym(dlopen(nil, RTLD_NOW), try symbol()) != nil)
    }

    @Test func `the program that they start is built with it`() throws {
        let program = try Data(contentsOf: URL(fileURLWithPath: Hemiola.path), options: .mappedIfSafe)
        #expect(program.range(of: Data(try symbol().utf8)) != nil)
    }
}
