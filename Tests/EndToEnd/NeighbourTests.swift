import Foundation
import TestSupport
import Testing

/// Programs that read what Hemiola finds, by running their examples.
@Suite struct NeighbourTests {
    private func run(_ example: String) throws -> ChildProcess.Outcome {
        let outcome = try ChildProcess.run(
            "\(Hemiola.root)/examples/\(example)/run", [], environment: ["HEMIOLA": Hemiola.path, "HEMIOLA_PYTHON": Tool.python],
            timeout: Hemiola.timeout)
        try #require(outcome.status == 0, "\(outcome.output)\(outcome.errors)")
        return outcome
    }

    @Test(.needs(.program("liquidsoap"))) func `Liquidsoap plays songs from cue to cue, crossfaded, at one loudness`() throws {
        #expect(try run("liquidsoap").lines.last?.contains("expected -18.0") == true)
    }

    @Test(.needs(.python(module: "beets")), .needs(.program("loudgain")))
    func `beets writes tempo, key and the gains of loudgain into tags`() throws {
        #expect(try run("beets").lines.count == 3)
    }
}
