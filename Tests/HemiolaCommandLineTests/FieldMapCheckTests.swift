import Foundation
import HemiolaPlugins
import TestSupport
import Testing

@testable import HemiolaCommandLine

/// `hemiola check` of field maps.
@Suite struct FieldMapCheckTests {
    private func check(_ arguments: [String]) throws -> String {
        try command(CheckCommand.self, arguments).text(with: .standard)
    }

    @Test(arguments: ["midi", "qlcplus", "resolume", "synesthesia", "touchdesigner"])
    func `built-in map: valid with the features of the program, and printed with its comments`(name: String) throws {
        #expect(try check(["--map", name]) == "\(name): valid\n")
        #expect(try check(["--map", name, "--print"]).hasPrefix("# "))
    }

    @Test func `map file: validated against all analyzers and records`() throws {
        let file = try TemporaryFile(Array("- {from: pitch.f0_hz, to: /a}\n- {to: /b, when: preset}\n".utf8))
        #expect(throws: Never.self) { try check([file.path]) }
    }

    @Test func `map with typos: every one in a line with place and suggestion, exit code 2`() throws {
        let file = try TemporaryFile(Array("- {from: beat.fase, to: /a}\n- {from: bpn, to: /b, when: beat}\n".utf8))
        let failure = #expect(throws: Failure.self) { try check([file.path]) }
        #expect(failure?.status == .usage)
        #expect(
            failure?.lines.map { $0.drop { $0 != ":" } } == [
                ":1:3: [0].from: beat has no feature \"fase\"; did you mean beat.phase?",
                ":2:3: [1].from: the record beat has no field \"bpn\"; did you mean bpm?",
            ])
    }

    @Test func `unknown built-in map: a suggestion`() {
        #expect(throws: Failure("there is no field map \"touchdesiner\"; did you mean touchdesigner?")) {
            try check(["--map", "touchdesiner"])
        }
    }
}
