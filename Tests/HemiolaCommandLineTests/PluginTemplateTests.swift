import ArgumentParser
import Hemiola
import Testing

@testable import HemiolaCommandLine

/// `hemiola plugins new`. `examples/custom-plugin/run` builds, tests and runs what it makes.
@Suite struct PluginTemplateTests {
    @Test(arguments: ["", "My", "a b", "1a", "-a", "a-", "a--b", "a/b", "a.b", "é"]) func `a name that no package can have: refused`(
        name: String
    ) {
        #expect(throws: Failure.self) { try PluginTemplate(name, isSink: false) }
    }

    @Test(arguments: [["plugins", "new"], ["plugins", "beat", "x"], ["plugins", "--sink"]])
    func `arguments without a meaning: refused`(arguments: [String]) {
        #expect(throws: Failure.self) { try Root.parsed(arguments) }
    }
}
