import Foundation
import TestSupport
import Testing

/// The same input, options and controls give the same batch and event lines, byte for byte.
@Suite struct DeterminismTests {
    let folder: TemporaryFolder
    /// 1.5 s.
    let file: String
    let lines: [String]

    init() throws {
        folder = try TemporaryFolder()
        file = try folder.writeTone("tone.wav", frames: 66_150, channels: 2)
        lines = try Hemiola.records([file, "--analyzer", "+spectrum:mfcc=5,as=timbre"]).analysis
    }

    private func expectSame(_ options: [String]) throws {
        let outcome = try Hemiola.run(["analyze", file, "--analyzer", "+spectrum:mfcc=5,as=timbre"] + options)
        #expect(outcome.status == 0)
        #expect(try Record.all(in: outcome.output).analysis == lines)
    }

    @Test func `a second run writes the same`() throws {
        #expect(lines.count == 65)
        try expectSame([])
    }

    @Test func `pacing changes no byte, and takes the time of the sound`() throws {
        let start = Date()
        try expectSame(["--realtime"])
        let seconds = Date().timeIntervalSince(start)
        // The last batch is due when its first frame is.
        #expect(seconds > 1.3, "\(seconds) s")
    }

    @Test func `the number of sinks changes no byte`() throws {
        let sinks = (0..<3).map { "json-lines:\(folder("\($0).jsonl"))" }
        try expectSame((sinks + ["json-lines"]).flatMap { ["--sink", $0] })
        for number in 0..<3 {
            #expect(try Record.all(in: folder.text(of: "\(number).jsonl")).analysis == lines)
        }
    }

    @Test func `neither the seed nor the names of other files change a byte`() throws {
        try expectSame(["--seed", "7"])
        let both = try Hemiola.records([file, file, "--analyzer", "+spectrum:mfcc=5,as=timbre"])
        let name = try JSON("\"\(file)\"").string ?? ""
        let withoutName = both.analysis.map { $0.replacingOccurrences(of: "\"file\":\"\(name)\",", with: "") }
        #expect(withoutName == lines + lines)
    }
}
