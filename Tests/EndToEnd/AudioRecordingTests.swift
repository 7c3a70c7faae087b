import Foundation
import TestSupport
import Testing

/// Sound files of the sink `audio`, beside the records of the same run.
@Suite struct AudioRecordingTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func bytes(of name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder(name))))
    }

    /// The samples of a WAV file of the sink: 32-bit floats behind a header of 112 bytes.
    private func samples(of name: String) throws -> [Float] {
        let bytes = try bytes(of: name)
        return stride(from: 112, to: bytes.count - 3, by: 4).map { index in
            Float(bitPattern: (0..<4).reduce(0) { $0 | UInt32(bytes[index + $1]) << UInt32(8 * $1) })
        }
    }

    /// The lines of an analysis, without the header.
    private func lines(_ path: String) throws -> [Substring] {
        try Hemiola.run(["analyze", path]).output.split(separator: "\n").dropFirst().map { $0 }
    }

    @Test(arguments: ["flac", "wav"]) func `file: its recording has the same analysis, byte for byte`(ending: String) throws {
        let outcome = try Hemiola.run(
            ["analyze", Hemiola.minuet, "-o", folder("a.jsonl"), "--sink", "audio:\(folder("a.\(ending)"))"])
        #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
        #expect(Set(folder.names) == ["a.\(ending)", "a.jsonl"])
        #expect(try lines(folder("a.\(ending)")) == lines(Hemiola.minuet))
    }

    @Test func `clicks: in the recording at the frames of the stream`() throws {
        let outcome = try Hemiola.run([
            "analyze", "--capture", "tone:clicks,bpm=113,seconds=4,rate=44100,channels=1", "-o", folder("a.jsonl"), "--sink",
            "audio:\(folder("a.wav"))",
        ])
        #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
        let samples = try samples(of: "a.wav")
        #expect(samples.count == 4 * 44_100)
        for click in 0..<7 {
            let frame = Int((Double(click) * 60 / 113 * 44_100).rounded())
            #expect(samples[frame] != 0 && (frame == 0 || samples[frame - 1] == 0), "click \(click)")
        }
    }

    @Test(arguments: ["flac", "wav"], [SIGTERM, SIGINT])
    func `stopped recording in real time: a whole file that ends with the records`(ending: String, signal: Int32) throws {
        let process = try Hemiola.start([
            "analyze", "--realtime", "--capture", "tone:noise,seconds=0", "--analyzer", "levels", "-o", folder("a.jsonl"), "--sink",
            "audio:\(folder("a.\(ending)"))",
        ])
        try folder.wait(for: "records") { (try? folder.text(of: "a.jsonl").split(separator: "\n").count) ?? 0 >= 60 }
        process.send(signal)
        _ = try process.finish()
        let end = try #require(try Record.all(in: folder.text(of: "a.jsonl")).last)
        let recording = try Hemiola.records([folder("a.\(ending)"), "--analyzer", "levels"])
        #expect(recording.last?.int("frames") == end.int("frames"))
        #expect(recording.last?.double("summaries.levels.rms_db") == end.double("summaries.levels.rms_db"))
    }

    @Test func `existing file: a recording in real time does not replace it`() throws {
        try folder.write("old", to: "a.flac")
        let outcome = try Hemiola.run([
            "analyze", "--realtime", "--capture", "tone:sine,seconds=1", "--sink", "audio:\(folder("a.flac"))",
        ])
        #expect(outcome.status == 3 && outcome.errors.contains("the file exists"), "\(outcome.errors)")
        #expect(try folder.text(of: "a.flac") == "old")
    }

    @Test func `several inputs: refused without stem, else one file each`() throws {
        let wave = WAVBytes(samples: [0.5, 0.25], sampleRate: 8000, channelCount: 1)
        let inputs = try (1...2).map { try folder.write(wave.bytes, to: "\($0).wav") }
        let refused = try Hemiola.run(["analyze"] + inputs + ["--sink", "audio:\(folder("all.flac"))"])
        #expect(refused.status == 2 && refused.errors.contains("{stem}"), "\(refused.errors)")
        let outcome = try Hemiola.run(["analyze"] + inputs + ["--sink", "audio:\(folder("out-{stem}.flac"))"])
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(folder.names == ["1.wav", "2.wav", "out-1.flac", "out-2.flac"])
    }
}
