import Foundation
import TestSupport
import Testing

/// The same input, options and controls give the same batch and event lines, byte for byte.
@Suite struct DeterminismTests {
    let folder: TemporaryFolder
    /// A file of 1.5 s.
    let file: String
    let lines: [String]

    init() throws {
        folder = try TemporaryFolder()
        file = try folder.writeTone("tone.wav", frames: 66_150, channels: 2)
        lines = try Hemiola.records([file, "--causal", "--analyzer", "+spectrum:mfcc=5,as=timbre"]).analysis
    }

    private func expectSame(_ options: [String]) throws {
        let outcome = try Hemiola.run(["analyze", file, "--causal", "--analyzer", "+spectrum:mfcc=5,as=timbre"] + options)
        #expect(outcome.status == 0)
        #expect(try Record.all(in: outcome.output).analysis == lines)
    }

    @Test func `second run: same bytes`() throws {
        #expect(lines.count == 65)
        try expectSame([])
    }

    @Test func `--realtime: same bytes, at real-time speed`() throws {
        let start = Date()
        try expectSame(["--realtime"])
        let seconds = Date().timeIntervalSince(start)
        // The last batch is due at the time of its first frame.
        #expect(seconds > 1.3, "\(seconds) s")
    }

    @Test func `several sinks: same bytes`() throws {
        let sinks = (0..<3).map { "json-lines:\(folder("\($0).jsonl"))" }
        try expectSame((sinks + ["json-lines"]).flatMap { ["--sink", $0] })
        for number in 0..<3 {
            #expect(try Record.all(in: folder.text(of: "\(number).jsonl")).analysis == lines)
        }
    }

    @Test func `other seed, other files: same bytes`() throws {
        try expectSame(["--seed", "7"])
        let both = try Hemiola.records([file, file, "--causal", "--analyzer", "+spectrum:mfcc=5,as=timbre"])
        let name = try JSON("\"\(file)\"").string ?? ""
        let withoutName = both.analysis.map { $0.replacingOccurrences(of: "\"file\":\"\(name)\",", with: "") }
        #expect(withoutName == lines + lines)
    }
}
