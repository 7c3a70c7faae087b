import Foundation
import TestSupport
import Testing

/// Invalid and damaged input: one error line with the file and a fix, the documented exit code, no incomplete output.
@Suite struct BadInputTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.write("before\n", to: "out.jsonl")
    }

    /// Analyses a file that is refused, with an existing file as output.
    private func expectRefusal(
        _ name: String, saying words: String..., location: SourceLocation = #_sourceLocation,
        run: ([String]) throws -> ChildProcess.Outcome = { try Hemiola.run($0) }
    ) throws {
        let path = folder(name)
        let outcome = try run(["analyze", path, "-o", folder("out.jsonl")])
        #expect(outcome.status == 1, sourceLocation: location)
        expectOneError(outcome, of: path, saying: words, location)
        #expect(outcome.output.isEmpty, sourceLocation: location)
        #expect(try folder.text(of: "out.jsonl") == "before\n", sourceLocation: location)
        #expect(!folder.names.contains { $0.hasSuffix(".partial") }, sourceLocation: location)
    }

    private func expectOneError(
        _ outcome: ChildProcess.Outcome, of path: String, saying words: [String], _ location: SourceLocation
    ) {
        #expect(outcome.errorLines.count == 1, "\(outcome.errors)", sourceLocation: location)
        #expect(outcome.errors.contains(path), "\(outcome.errors)", sourceLocation: location)
        for word in words { #expect(outcome.errors.contains(word), "\(outcome.errors)", sourceLocation: location) }
    }

    /// Analyses a file that is analysed completely, with one warning.
    private func recordsWithWarning(
        _ name: String, saying words: String..., location: SourceLocation = #_sourceLocation
    ) throws -> [Record] {
        let path = folder(name)
        let outcome = try Hemiola.run(["analyze", path])
        #expect(outcome.status == 0, sourceLocation: location)
        expectOneError(outcome, of: path, saying: words + ["warning"], location)
        return try Record.all(in: outcome.output)
    }

    /// Analyses an incomplete file with --quiet: the loss is still reported.
    private func recordsWithLoss(
        _ name: String, saying words: String..., location: SourceLocation = #_sourceLocation
    ) throws -> [Record] {
        let path = folder(name)
        let outcome = try Hemiola.run(["analyze", "--quiet", path])
        #expect(outcome.status == 1, sourceLocation: location)
        expectOneError(outcome, of: path, saying: words, location)
        return try Record.all(in: outcome.output)
    }

    // MARK: - Not audio

    @Test func `missing file: one error line, exit code 1`() throws {
        try expectRefusal("missing.wav", saying: "no such file")
    }

    @Test func `missing file with a similar name in the folder: suggests that file`() throws {
        try folder.writeTone("kitchen.wav", frames: 256)
        try expectRefusal("kichen.wav", saying: "did you mean \(folder("kitchen.wav"))?")
    }

    @Test func `folder without sound files: one error line, exit code 1`() throws {
        try FileManager.default.createDirectory(atPath: folder("album"), withIntermediateDirectories: false)
        try folder.write("words", to: "album/notes")
        try expectRefusal("album", saying: "no sound files")
    }

    @Test func `empty file: one error line, exit code 1`() throws {
        try folder.write("", to: "empty.wav")
        try expectRefusal("empty.wav", saying: "is empty")
    }

    @Test func `text file with an audio extension: one error line, exit code 1`() throws {
        try folder.write(String(repeating: "These are words, not waves.\n", count: 40), to: "words.wav")
        try expectRefusal("words.wav", saying: "is not audio", "text")
    }

    @Test func `named pipe without a writer: refused`() throws {
        let outcome = try Hemiola.shell("mkfifo \(folder("pipe.wav"))")
        try #require(outcome.status == 0)
        try expectRefusal("pipe.wav", saying: "is a pipe")
    }

    @Test func `unreadable file: one error line, exit code 1`() throws {
        try folder.writeTone("secret.wav", frames: 256)
        chmod(folder("secret.wav"), 0)
        // File permissions do not restrict root, except without these capabilities.
        let sheds = geteuid() == 0 ? ["/usr/bin/setpriv", "--bounding-set=-dac_override,-dac_read_search"] : ["/usr/bin/env"]
        try expectRefusal("secret.wav", saying: "permission denied", "ls -ld") { arguments in
            try ChildProcess.run(sheds[0], sheds.dropFirst() + [Hemiola.path] + arguments)
        }
    }

    @Test(arguments: ["-dash.flac", "-help.wav", "-out.flac", "-q.flac", "--summary", "-1.wav"], ["analyze", "beats"])
    func `file name that begins with -: one error line with the way out, exit code 2`(name: String, command: String) throws {
        try folder.writeTone(name, frames: 4096)
        let outcome = try Hemiola.run([command, name], in: folder.path)
        #expect(outcome.status == 2 && outcome.output.isEmpty && outcome.errorLines.count == 1, "\(outcome.errors)")
        #expect(outcome.errors.contains("./\(name)"), "\(outcome.errors)")
        for arguments in [["./\(name)"], ["--", name]] {
            #expect(try Hemiola.run([command] + arguments, in: folder.path).status == 0)
        }
    }

    @Test func `missing file whose name begins with - and has an h: no help, exit code 2`() throws {
        let outcome = try Hemiola.run(["analyze", "-dash.flac"])
        #expect(outcome.status == 2 && outcome.output.isEmpty && outcome.errors.contains("./-dash.flac"), "\(outcome.errors)")
        #expect(try Hemiola.run(["analyze", "-h"]).status == 0)
    }

    @Test(arguments: ["-n 4", "-v 50000", "-v 60000"]) func `limit that leaves nothing to work with: one line, no trap`(limit: String)
        throws
    {
        try folder.writeTone("a.wav", frames: 4096)
        let outcome = try ChildProcess.run(
            "/bin/sh", ["-c", "ulimit -c 0; ulimit \(limit); exec '\(Hemiola.path)' analyze a.wav -o b.jsonl"], in: folder.path)
        #expect(!outcome.wasKilled, "\(outcome.status)")
        #expect(outcome.status == 0 || outcome.errorLines.count == 1, "\(outcome.errors)")
    }

    @Test func `no further thread: one error line with the way out before anything is written, exit code 1`() throws {
        try folder.writeTone("a.wav", frames: 4096)
        let outcome = try ThreadDenial.run(Hemiola.path, ["analyze", "a.wav", "-o", "b.jsonl"], threads: 0, in: folder.path)
        #expect(outcome.status == 1 && outcome.errorLines.count == 1, "\(outcome.status), \(outcome.errors)")
        #expect(outcome.errors.contains("cannot start a thread for signals") && outcome.errors.contains("ulimit -u"), "\(outcome.errors)")
        #expect(!FileManager.default.fileExists(atPath: folder("b.jsonl")))
    }

    @Test(.disabled(if: Sanitizer.isOn, "sanitizers use the address space"))
    func `thread for signals, but none for the sink: one error line that names it, exit code 3`() throws {
        try folder.writeTone("a.wav", frames: 4096)
        let outcome = try ThreadDenial.run(Hemiola.path, ["analyze", "a.wav", "-o", "b.jsonl"], threads: 1, in: folder.path)
        #expect(outcome.status == 3 && outcome.errorLines.count == 1, "\(outcome.status), \(outcome.errors)")
        #expect(outcome.errors.contains("the sink json-lines"), "\(outcome.errors)")
        #expect(!FileManager.default.fileExists(atPath: folder("b.jsonl")))
    }

    // Beside the jobs, signals and the sink have a thread each. How many jobs that makes depends on what else takes a thread at that moment.
    @Test(.disabled(if: Sanitizer.isOn, "sanitizers use the address space"), arguments: [2, 3, 5])
    func `fewer threads than jobs: all files analysed by those that run, said once`(threads: Int) throws {
        let names = (0..<8).map { "\($0).wav" }
        for name in names { try folder.writeTone(name, frames: 4096) }
        let outcome = try ThreadDenial.run(Hemiola.path, ["analyze", "--jobs", "8"] + names, threads: threads, in: folder.path)
        #expect(outcome.status == 0, "\(outcome.status), \(outcome.errors)")
        #expect(outcome.errorLines.filter { $0.contains(" of 8 jobs run: ") }.count == 1, "\(outcome.errors)")
        #expect(try Record.all(in: outcome.output).count { $0.string("type") == "end" } == 8)
    }

    @Test func `line feed in a name: one error line`() throws {
        let outcome = try Hemiola.run(["analyze", folder("a\nb.wav")])
        #expect(outcome.status == 1 && outcome.errorLines.count == 1)
        #expect(outcome.errors.contains(#"a\nb.wav"#))
    }

    // MARK: - Invalid headers

    @Test func `0 channels: refused`() throws {
        var wave = TemporaryFolder.tone(frames: 2000)
        wave.statedChannelCount = 0
        try folder.write(wave.bytes, to: "none.wav")
        try expectRefusal("none.wav", saying: "0 channels", "1...32")
    }

    @Test func `too many channels: refused`() throws {
        var wave = TemporaryFolder.tone(frames: 2000)
        wave.statedChannelCount = 500
        try folder.write(wave.bytes, to: "choir.wav")
        try expectRefusal("choir.wav", saying: "500 channels", "1...32")
    }

    @Test(arguments: [0, 4_000_000_000] as [UInt32])
    func `sample rate of 0, or one that ffmpeg does not convert: refused`(rate: UInt32) throws {
        var wave = TemporaryFolder.tone(frames: 2000)
        wave.statedSampleRate = rate
        try folder.write(wave.bytes, to: "rate.wav")
        try expectRefusal("rate.wav", saying: "\(rate) Hz", "8000...384000")
    }

    @Test(.needs(.ffmpeg), arguments: [(1000, 8000), (7999, 15_998), (384_001, 192_000), (705_600, 352_800)] as [(UInt32, Int)])
    func `sample rate out of range: resampled`(rate: UInt32, expected: Int) throws {
        var wave = TemporaryFolder.tone(frames: 2000)
        wave.statedSampleRate = rate
        try folder.write(wave.bytes, to: "rate.wav")
        let outcome = try Hemiola.run(["analyze", folder("rate.wav"), "--analyzer", "levels"])
        #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
        #expect(outcome.lines.first?.contains("\"sample_rate\":\(expected),") == true)
    }

    @Test func `header that declares 2⁴⁰ frames: normal time and memory`() throws {
        let wave = TemporaryFolder.tone(frames: 2000)
        let declared = UInt64(1) << 40
        let sizes = WAVBytes.little(declared * 2 + 72) + WAVBytes.little(declared * 2) + WAVBytes.little(declared) + [0, 0, 0, 0]
        let body =
            Array("WAVE".utf8) + WAVBytes.chunk("ds64", sizes) + WAVBytes.chunk("fmt ", wave.format)
            + Array("data".utf8) + WAVBytes.little(UInt32.max) + wave.sound
        try folder.write(Array("RF64".utf8) + WAVBytes.little(UInt32.max) + body, to: "vast.wav")
        let records = try recordsWithLoss("vast.wav", saying: "ends at")
        #expect(records.last?.string("reason") == "end-of-input")
        #expect(records.of("gap").map { $0.string("reason") } == ["truncated-file"])
        #expect(records.batches.count == 2)
        // The available audio is analysed; the clock includes the missing part.
        #expect(records.of("gap").first?.int("frames") == 1 << 40 - 2000)
    }

    @Test func `placeholder length in the header: no truncation reported`() throws {
        var wave = TemporaryFolder.tone(frames: 5000)
        wave.statedDataSize = .max
        wave.statedRIFFSize = .max
        let file = try folder.write(wave.bytes, to: "piped.wav")
        let records = try Hemiola.records([file])
        #expect(records.of("gap").isEmpty)
        records.expectWholeStream(frames: 5000, rate: 44_100)
    }

    // MARK: - Damaged audio

    @Test func `file truncated within a sample: analysed up to the truncation, exit code 1`() throws {
        // 3000 frames of 4 bytes plus one byte.
        let bytes = TemporaryFolder.tone(frames: 5000, channels: 2).bytes
        try folder.write(bytes.dropLast(2000 * 4 - 1), to: "cut.wav")
        let records = try recordsWithLoss("cut.wav", saying: "ends at 0.068 s", "the audio before was analysed")
        #expect(records.types == ["header", "batch", "batch", "batch", "gap", "end"])
        let gap = try #require(records.of("gap").first)
        #expect(gap.string("reason") == "truncated-file" && gap.int("frames") == 2000)
        #expect(abs((gap.double("duration_s") ?? 0) - 2000.0 / 44_100) < 1e-6)
        #expect(records.batches.last?["partial"] == .bool(true))
        #expect(records.last?.string("reason") == "end-of-input")
        // No samples are added.
        #expect(records.batches.allSatisfy { ($0.double("levels.rms_db") ?? -120) > -13 })
    }

    @Test func `NaN and infinite samples: replaced by 0 and counted`() throws {
        var wave = TemporaryFolder.tone(frames: 4096, encoding: .float32)
        for (index, value) in [(100, Float.nan), (2000, .infinity), (2001, -.infinity), (4000, -.nan)] { wave.samples[index] = value }
        try folder.write(wave.bytes, to: "odd.wav")
        let records = try recordsWithWarning("odd.wav", saying: "4 samples")
        records.expectWholeStream(frames: 4096, rate: 44_100)
        #expect(records.last?.int("non_finite") == 4)

        for index in [100, 2000, 2001, 4000] { wave.samples[index] = 0 }
        let zeros = try Hemiola.records([try folder.write(wave.bytes, to: "even.wav")])
        #expect(records.analysis == zeros.analysis)
        #expect(zeros.last?.int("non_finite") == 0)
    }

    @Test func `file of NaN only: silence`() throws {
        let wave = WAVBytes(samples: Array(repeating: .nan, count: 2048), encoding: .float32)
        try folder.write(wave.bytes, to: "nan.wav")
        let records = try recordsWithWarning("nan.wav", saying: "2048 samples")
        #expect(records.batches.allSatisfy { $0["levels.rms_db"] == .number("-120.0") })
        #expect(records.batches.allSatisfy { $0["spectrum.centroid_hz"] == .null })
    }

    @Test func `file without samples: an error and exit code 1`() throws {
        try folder.write(WAVBytes(samples: []).bytes, to: "none.wav")
        let outcome = try Hemiola.run(["analyze", "none.wav"], in: folder.path)
        #expect(outcome.status == 1 && outcome.errors.contains("none.wav: none of its sound can be decoded"))
    }

    @Test func `WAV with a LIST subchunk of -16 bytes: refused with exit code 1`() throws {
        let bytes: [UInt8] = [
            0x52, 0x49, 0x46, 0x46, 0xff, 0xff, 0x00, 0x00, 0x57, 0x41, 0x56, 0x45, 0x4c, 0x49, 0x53, 0x54, 0xff, 0x00, 0x00, 0x00,
            0x4c, 0x49, 0x53, 0x54, 0x00, 0x00, 0x00, 0x00, 0x66, 0x6d, 0x74, 0x20, 0xf0, 0xff, 0xff, 0xff,
        ]
        try folder.write(bytes, to: "circle.wav")
        try expectRefusal("circle.wav", saying: "looks like a WAV file, but cannot be decoded")
    }

    @Test func `truncated FLAC, also with --whole-file: analysed up to the truncation`() throws {
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: Hemiola.minuet)))
        for index in 0..<4000 { bytes[bytes.count / 3 + index] = UInt8(truncatingIfNeeded: index &* 7919 &+ index >> 3) }
        let path = try folder.write(bytes, to: "damaged.flac")
        let causal = try Hemiola.run(["analyze", path, "--analyzer", "levels", "--analyzer", "beat"])
        let whole = try Hemiola.run(["analyze", path, "--analyzer", "levels", "--analyzer", "beat", "--whole-file"])
        #expect(causal.status == 1 && whole.status == 1)
        let batches = try Record.all(in: whole.output).batches.count
        #expect(try batches > 100 && batches == Record.all(in: causal.output).batches.count)
        #expect(whole.errors == causal.errors)
    }

    @Test func `damaged MIDI sample dump: only records on standard output`() throws {
        // 80 samples of 16 bits at 8000 Hz in two packets, the first of which begins with wrong bytes: libsndfile prints them.
        let header: [UInt8] = [0xf0, 0x7e, 0, 1, 0, 0, 16, 72, 80, 7, 80, 0, 0, 0, 0, 0, 80, 0, 0, 0x7f, 0xf7]
        func packet(_ number: UInt8, from start: [UInt8]) -> [UInt8] {
            start + [0, 2, number] + [UInt8](repeating: 0x40, count: 120) + [0, 0xf7]
        }
        let bytes = header + packet(0, from: [0x60, 0x04]) + packet(1, from: [0xf0, 0x7e])
        let output = try Hemiola.run(["analyze", try folder.write(bytes, to: "damaged.sds")]).output
        let records = try Record.all(in: output)
        #expect(records.types.first == "header" && records.types.last == "end")
    }

    @Test(.needs(.ffmpeg)) func `truncated Ogg Vorbis: analysed up to the cut, with exit code 1`() throws {
        let tone = try folder.writeTone("tone.wav", frames: 441_000)
        let made = try ChildProcess.run(
            try #require(Tool.location(of: "ffmpeg")), ["-v", "error", "-i", tone, "-c:a", "libvorbis", folder("whole.ogg")])
        try #require(made.status == 0, "\(made.errors)")
        let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: folder("whole.ogg"))))
        try folder.write(bytes.prefix(bytes.count * 6 / 10), to: "cut.ogg")
        let records = try recordsWithLoss("cut.ogg", saying: "is cut off at", "the audio before was analysed")
        #expect(records.of("gap").map { $0.string("reason") } == ["truncated-file"])
        #expect((3...9).contains(records.last?.double("t") ?? 0))
    }

    @Test(.needs(.ffmpeg)) func `MP3 with damaged frames: one message, none of the decoder`() throws {
        let tone = try folder.writeTone("tone.wav", frames: 441_000)
        let made = try ChildProcess.run(
            try #require(Tool.location(of: "ffmpeg")), ["-v", "error", "-i", tone, "-c:a", "libmp3lame", folder("whole.mp3")])
        try #require(made.status == 0, "\(made.errors)")
        var bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: folder("whole.mp3"))))
        // Damages only data after the frame headers: the decoder continues with silence.
        for index in bytes.count / 4..<bytes.count * 3 / 4
        where index % 32 < 20 && bytes[index] != 0xff && bytes[index - 1] != 0xff
            && bytes[index - 2] != 0xff
        {
            bytes[index] = UInt8(truncatingIfNeeded: index &* 37) & 0x7f
        }
        try folder.write(bytes, to: "damaged.mp3")
        let records = try recordsWithLoss("damaged.mp3", saying: "missing or damaged")
        #expect(records.of("gap").allSatisfy { $0.string("reason") == "damaged-file" })
        #expect(records.last?.string("reason") == "end-of-input")
    }

    // MARK: - Formats for ffmpeg

    @Test func `MPEG-4 without ffmpeg: refused with the install command`() throws {
        let head: [UInt8] = [0, 0, 0, 0x20] + Array("ftypM4A \0\0\0\0M4A mp42isom\0\0\0\0".utf8)
        try folder.write(head + Array(repeating: 7, count: 4000), to: "a song.m4a")
        try expectRefusal("a song.m4a", saying: "MPEG-4", "apt install ffmpeg") { arguments in
            try ChildProcess.run("/usr/bin/env", ["PATH=/nonexistent", Hemiola.path] + arguments)
        }
    }

    @Test(.needs(.ffmpeg)) func `MPEG-4 with ffmpeg: analysed`() throws {
        let tone = try folder.writeTone("tone.wav", frames: 44_100)
        let song = folder("it's a song.m4a")
        let made = try ChildProcess.run(
            try #require(Tool.location(of: "ffmpeg")), ["-v", "error", "-i", tone, "-c:a", "aac", song])
        try #require(made.status == 0, "\(made.errors)")
        let records = try Hemiola.records([song])
        #expect(records.first?.string("source.name") == song)
        // The encoder adds samples at both ends.
        #expect(abs((records.last?.double("t") ?? 0) - 1) < 0.1)
        #expect(abs((records.batches[20].double("levels.rms_db") ?? 0) + 9.03) < 0.5)
    }

    @Test func `names that are not UTF-8: analysed as arguments and from a list, with their bytes in Base64`() throws {
        let tone = try folder.writeTone("tone.wav", frames: 2048)
        let outcome = try Hemiola.shell(
            "cd '\(folder.path)'; name=$(printf 'c\\351.wav'); cp '\(tone)' \"$name\"; "
                + "printf 'c\\351.wav\\0tone.wav\\0' | '\(Hemiola.path)' analyze --files-from - -0 \"./$name\" --select header,end")
        #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
        let headers = try Record.all(in: outcome.output).of("header")
        #expect(headers.map { $0.string("file") } == ["./c\u{fffd}.wav", "c\u{fffd}.wav", "tone.wav"])
        #expect(headers.map { $0.string("file_base64") } == ["Li9j6S53YXY=", "Y+kud2F2", nil])
        #expect(headers.map { $0.string("source.name_base64") } == ["Li9j6S53YXY=", "Y+kud2F2", nil])
    }

    // MARK: - Several inputs

    @Test func `some files fail: all others analysed, exit code 1`() throws {
        try folder.writeTone("a.wav", frames: 2048)
        try folder.write("no sound at all, only words and words and words\n", to: "b.wav")
        try folder.writeTone("d.wav", frames: 1024)
        let outcome = try Hemiola.run(["analyze", "a.wav", "b.wav", "c.wav", "d.wav", "-o", "out.jsonl"], in: folder.path)
        #expect(outcome.status == 1)
        #expect(outcome.errorLines.count == 2, "\(outcome.errors)")
        #expect(outcome.errorLines.first?.contains("b.wav: ") == true && outcome.errorLines.last?.contains("c.wav: ") == true)
        let records = try Record.all(in: folder.text(of: "out.jsonl"))
        #expect(records.of("end").map { $0.string("file") } == ["a.wav", "d.wav"])
        #expect(records.batches.count == 3)
        #expect(!folder.names.contains { $0.hasSuffix(".partial") })
    }

    // MARK: - The command line

    @Test(arguments: [
        (["--analyzer", "spectrm"], "did you mean spectrum?"),
        (["--analyzer", "spectrum:bandz=3"], "did you mean bands?"),
        (["--analyzer", "spectrum:window=han"], "did you mean hann?"),
        (["--analyzer", "spectrum:bands=-1"], "bands=-1"),
        (["--analyzer", "spectrum:bands=many"], "bands=many"),
        (["--sink", "json-line"], "did you mean json-lines?"),
        (["--sink", "json-lines:x,flash=line"], "did you mean flush?"),
        (["--sink", "json-lines:x,flush=lines"], "did you mean line?"),
        (["--select", "levels.rms"], "did you mean levels.rms_db?"),
        (["--batch", "100"], "256...8192"),
        (["--bach", "1024"], "did you mean '--batch'?"),
        (["--files-from", "/nonexistent/list"], "/nonexistent/list"),
    ])
    func `unknown option value: suggests the nearest, nothing is done`(options: [String], hint: String) throws {
        try folder.writeTone(frames: 256)
        let outcome = try Hemiola.run(["analyze", "tone.wav", "-o", "out.jsonl"] + options, in: folder.path)
        #expect(outcome.status == 2 && outcome.output.isEmpty)
        #expect(outcome.errorLines.count == 1, "\(outcome.errors)")
        #expect(outcome.errors.contains(hint), "\(outcome.errors)")
        #expect(try folder.text(of: "out.jsonl") == "before\n")
        #expect(folder.names == ["out.jsonl", "tone.wav"])
    }

    @Test func `several problems in the arguments: one line each`() throws {
        let outcome = try Hemiola.run(["analyze", "x.wav", "--analyzer", "spectrum:bandz=3,size=1", "--sink", "foo", "--batch", "1"])
        #expect(outcome.status == 2)
        #expect(outcome.errorLines.count == 4, "\(outcome.errors)")
        #expect(outcome.errorLines.allSatisfy { $0.hasPrefix("hemiola: ") })
    }

    @Test(arguments: [["analyse", "x.wav"], ["x.wav"], ["analyze"], ["schema", "x"]])
    func `no command: usage, exit code 2`(arguments: [String]) throws {
        let outcome = try Hemiola.run(arguments)
        #expect(outcome.status == 2 && outcome.output.isEmpty)
        #expect(outcome.errorLines.count == 1, "\(outcome.errors)")
    }

    @Test func `no arguments: the first steps, on standard output`() throws {
        let outcome = try Hemiola.run([])
        #expect(outcome.status == 0 && outcome.errors.isEmpty)
        #expect(outcome.output.contains("\n  hemiola demo\n") && outcome.output.contains("\n  hemiola beats song.flac\n"))
    }

    @Test func `output path that is the input: refused`() throws {
        let file = try folder.writeTone(frames: 256)
        let before = try Data(contentsOf: URL(fileURLWithPath: file))
        let outcome = try Hemiola.run(["analyze", file, "-o", "./tone.wav"], in: folder.path)
        #expect(outcome.status == 2 && outcome.errorLines.count == 1)
        #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == before)
    }
}
