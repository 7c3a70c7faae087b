import Foundation
import TestSupport
import Testing

/// `hemiola beats`: settings, the tempo, and one result per file.
@Suite struct BeatsTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func beats(_ arguments: String..., status: Int32 = 0) throws -> ChildProcess.Outcome {
        let outcome = try Hemiola.run(["beats"] + arguments, in: folder.path)
        #expect(outcome.status == status, "\(arguments): \(outcome.errors)")
        return outcome
    }

    @Test func `--analyzer beat with settings: those beats; another analyzer: refused`() throws {
        let fast = try beats(Hemiola.minuet, "--analyzer", "beat:min_bpm=160,max_bpm=300").lines
        #expect(try beats(Hemiola.minuet).lines.count < fast.count)
        for spec in ["chords", "+levels", "beat:as=other"] {
            let outcome = try beats(Hemiola.minuet, "--analyzer", spec, status: 2)
            #expect(outcome.output.isEmpty && outcome.errorLines.count == 1)
        }
    }

    @Test func `--tempo: the tempo of the summary, a line per file, - without beats`() throws {
        try folder.writeTone("tone.wav", frames: 44_100)
        let summary = try JSON(document: try Hemiola.run(["analyze", "--summary", Hemiola.minuet]).lines[0])
        let tempo = try #require(summary["rhythm"]?["bpm"]?.double)
        let alone = try beats("--tempo", Hemiola.minuet).lines
        #expect(alone.count == 1 && abs((Double(alone[0]) ?? 0) - tempo) <= 0.005, "\(alone)")
        #expect(try beats("--tempo", Hemiola.minuet, "tone.wav").lines == ["\(Hemiola.minuet)\t\(alone[0])", "tone.wav\t-"])
        #expect(try beats("--tempo", "tone.wav").lines == ["-"])
        try folder.write("", to: "empty.wav")
        let outcome = try beats("--tempo", "empty.wav", "tone.wav", status: 1)
        #expect(outcome.lines == ["tone.wav\t-"] && outcome.errors.contains("empty.wav"))
        #expect(try beats("--tempo", "--format", "json", "tone.wav", status: 2).output.isEmpty)
    }

    @Test func `--output-dir: a result per file in the tree; --resume repeats what is missing, changed, or has other settings`() throws {
        try FileManager.default.createDirectory(atPath: folder("in/a"), withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: Hemiola.minuet, toPath: folder("in/a/minuet.flac"))
        try folder.writeTone("in/tone.wav", frames: 44_100)
        #expect(try beats("in", "--output-dir", "out", "-j2").errors.contains("2 analysed"))
        let minuet = try folder.text(of: "out/a/minuet.flac.beats")
        #expect(try minuet == beats(Hemiola.minuet).output)
        #expect(try folder.text(of: "out/tone.wav.beats").isEmpty)
        #expect(try beats("in", "--output-dir", "out", "--resume").errors.contains("2 skipped"))
        try FileManager.default.removeItem(atPath: folder("out/tone.wav.beats"))
        let repeated = try beats("in", "--output-dir", "out", "--resume")
        #expect(repeated.errors.contains("1 analysed; 1 skipped"), "\(repeated.errors)")
        #expect(try beats("in", "--output-dir", "out", "--resume", "--causal").errors.contains("2 analysed"))
        #expect(try folder.text(of: "out/a/minuet.flac.beats") != minuet)
        #expect(try beats("in", "--output-dir", "out", "--resume", "--causal").errors.contains("2 skipped"))
        #expect(try beats("in", "--output-dir", "out", "--resume", "--format", "json").errors.contains("2 analysed"))
        #expect(try folder.text(of: "out/a/minuet.flac.json").hasPrefix("{"))
        for options in [["-o", "x"], ["--tempo"], ["--replay-controls", "c"]] {
            #expect(try Hemiola.run(["beats", "in", "--output-dir", "out"] + options, in: folder.path).status == 2)
        }
        #expect(try beats("in", "--resume", status: 2).output.isEmpty)
    }

    @Test func `--output-dir: an incomplete file is repeated by --resume`() throws {
        try folder.writeTone("a.wav", frames: 44_100)
        try folder.write(TemporaryFolder.tone(frames: 50_000).bytes.dropLast(30_000), to: "cut.wav")
        for errors in ["1 analysed; 1 failed", "1 skipped, because their results are complete; 1 failed"] {
            let outcome = try beats("a.wav", "cut.wav", "--output-dir", "out", "--resume", status: 1)
            #expect(outcome.errors.contains(errors), "\(outcome.errors)")
        }
    }
}
