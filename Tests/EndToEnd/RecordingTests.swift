import Foundation
import Glibc
import TestSupport
import Testing

/// `hemiola replay`.
@Suite(.mayNotHang) struct RecordingTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    /// All but the path of the socket.
    private static func errorLines(_ outcome: ChildProcess.Outcome) -> [String] {
        outcome.errorLines.filter { !$0.contains("clients can connect to") }
    }

    @discardableResult
    private func run(_ arguments: [String], status: Int32 = 0, errors: [String] = []) throws -> ChildProcess.Outcome {
        let outcome = try Hemiola.run(arguments, in: folder.path)
        #expect(outcome.status == status, "\(arguments): \(outcome.errors)")
        let lines = Self.errorLines(outcome)
        #expect(lines.count == errors.count, "\(arguments): \(outcome.errors)")
        for (line, error) in zip(lines, errors) { #expect(line.contains(error), "\(line)") }
        return outcome
    }

    private func bytes(of name: String) throws -> Data {
        try Data(contentsOf: URL(fileURLWithPath: folder(name)))
    }

    /// Requires that two files exist, have content, and are equal.
    private func expectEqual(_ one: String, _ other: String, location: SourceLocation = #_sourceLocation) throws {
        let (first, second) = (try bytes(of: one), try bytes(of: other))
        #expect(first == second && !first.isEmpty, "\(one) and \(other)", sourceLocation: location)
    }

    /// Inputs of `analyze`: music, clicks with beats, and noise with a partial last batch.
    private static let inputs = [
        [Hemiola.minuet], ["--capture", "tone:clicks,seconds=9"],
        ["--capture", "tone:noise,seconds=2.01,rate=48000,channels=1", "--analyzer", "+spectrum:mfcc=4,as=timbre", "--batch", "2048"],
    ]

    // MARK: - Round trips

    @Test(arguments: inputs) func `recording, replayed to JSON Lines and CSV: the same bytes`(input: [String]) throws {
        try run(["analyze"] + input + ["-o", "a.jsonl"])
        try run(["analyze"] + input + ["-o", "a.csv"])
        try run(["replay", "a.jsonl", "--no-realtime", "-o", "b.jsonl"])
        try run(["replay", "a.jsonl", "--no-realtime", "-o", "b.csv"])
        try expectEqual("a.jsonl", "b.jsonl")
        try expectEqual("a.csv", "b.csv")
        try expectEqual("a.events.csv", "b.events.csv")
    }

    @Test(arguments: ["beats", "jams", "mid"]) func `recording, replayed to beats: the same bytes`(format: String) throws {
        try run(["analyze", Hemiola.minuet, "-o", "a.jsonl"])
        try run(["analyze", Hemiola.minuet, "--sink", "beats:a.\(format)"])
        try run(["replay", "a.jsonl", "--no-realtime", "--sink", "beats:b.\(format)"])
        try expectEqual("a.\(format)", "b.\(format)")
    }

    @Test func `recording, replayed to the JSON format of beats: equal but for the digits of the tempo`() throws {
        try run(["analyze", Hemiola.minuet, "-o", "a.jsonl"])
        try run(["analyze", Hemiola.minuet, "--sink", "beats:a.json"])
        try run(["replay", "a.jsonl", "--no-realtime", "--sink", "beats:b.json"])
        let (one, other) = try (JSON(String(folder.text(of: "a.json").dropLast())), JSON(String(folder.text(of: "b.json").dropLast())))
        #expect(one["file"] == other["file"] && one["duration_s"] == other["duration_s"])
        let (expected, beats) = (one["beats"]?.array ?? [], other["beats"]?.array ?? [])
        try #require(expected.count == beats.count && beats.count > 20)
        for (old, new) in zip(expected, beats) {
            for key in ["t", "position", "confidence"] { #expect(old[key] == new[key]) }
            // The record has two decimals.
            #expect(abs((old["bpm"]?.double ?? 0) - (new["bpm"]?.double ?? 1)) < 0.0051)
        }
    }

    @Test(arguments: ["timer", "bars", "beats", "milkdrop", "drop", "segments"])
    func `recording with presets, replayed: the same bytes, with recorded and with derived presets`(mode: String) throws {
        try folder.write("one\ntwo\nthree\n", to: "list")
        let presets = "presets:list=list,mode=\(mode),time_s=3"
        try run(["analyze", Hemiola.minuet, "--sink", "\(presets),path=plan.jsonl", "--sink", "json-lines:a.jsonl"])
        try run(["replay", "a.jsonl", "--no-realtime", "-o", "recorded.jsonl"])
        try run(["replay", "a.jsonl", "--no-realtime", "--sink", "\(presets),path=plan2.jsonl", "--sink", "json-lines:derived.jsonl"])
        try expectEqual("a.jsonl", "recorded.jsonl")
        try expectEqual("a.jsonl", "derived.jsonl")
        try expectEqual("plan.jsonl", "plan2.jsonl")
        #expect(try folder.text(of: "plan.jsonl").contains(#""type":"preset""#))
    }

    @Test(arguments: ["header,beat,end", "header,end", "header,levels.rms_db,onset,end", "header,spectrum,end"])
    func `recording of a selection: the same bytes`(selection: String) throws {
        try run(["analyze", Hemiola.minuet, "--select", selection, "-o", "a.jsonl"])
        try run(["replay", "a.jsonl", "--no-realtime", "-o", "b.jsonl"])
        try expectEqual("a.jsonl", "b.jsonl")
    }

    @Test func `several files in one recording, from a compressed pipe: the same bytes`() throws {
        try run(["analyze", Hemiola.minuet, try folder.writeTone(channels: 2), "-o", "a.jsonl"])
        try run(["analyze", Hemiola.minuet, folder("tone.wav"), "-o", "a.jsonl.zst"])
        try run(["replay", "a.jsonl.zst", "--no-realtime", "-o", "b.jsonl"])
        try expectEqual("a.jsonl", "b.jsonl")
        let outcome = try ChildProcess.run(
            Hemiola.path, ["replay", "-", "--no-realtime"], input: .bytes([UInt8](try bytes(of: "a.jsonl.zst"))))
        #expect(outcome.status == 0 && outcome.errors.isEmpty)
        #expect(outcome.output == (try folder.text(of: "a.jsonl")))
    }

    @Test func `truncated audio: its gap is replayed`() throws {
        try folder.write(TemporaryFolder.tone().bytes.dropLast(5001), to: "t.wav")
        try run(["analyze", "t.wav", "-o", "a.jsonl"], status: 1, errors: ["too early"])
        try run(["replay", "a.jsonl", "--no-realtime", "-o", "b.jsonl"])
        #expect(try folder.text(of: "a.jsonl").contains(#""type":"gap""#))
        try expectEqual("a.jsonl", "b.jsonl")
    }

    // MARK: - Incomplete and damaged recordings

    @Test func `recording with a cut last line: replayed up to there, exit status 1`() throws {
        try run(["analyze", Hemiola.minuet, "-o", "a.jsonl"])
        let lines = try folder.text(of: "a.jsonl").split(separator: "\n")
        try folder.write(lines[..<100].joined(separator: "\n") + "\n" + lines[100].dropLast(20), to: "cut.jsonl")
        let outcome = try run(["replay", "cut.jsonl", "--no-realtime"], status: 1, errors: ["cut.jsonl:101: the last line is cut off"])
        let records = outcome.output.split(separator: "\n")
        #expect(records.dropLast().elementsEqual(lines[..<100]))
        #expect(records.last?.contains(#""reason":"error"}"#) == true)
    }

    @Test func `gibibyte of empty lines in a small compressed file: exit status 1 without reading all`() throws {
        // A frame of zstd: 8192 blocks that each repeat a newline 131 072 times.
        var frame = Data([0x28, 0xb5, 0x2f, 0xfd, 0, 0x50])
        for block in 1...8192 { frame.append(contentsOf: [block < 8192 ? 0x02 : 0x03, 0x00, 0x10, 0x0a] as [UInt8]) }
        try folder.write(frame, to: "lines.jsonl.zst")
        try run(["replay", "lines.jsonl.zst", "--no-realtime", "-o", "out.jsonl"], status: 1, errors: ["lines.jsonl.zst:1048577: "])
        try run(["render", "lines.jsonl.zst", "-o", "out.png"], status: 1, errors: ["lines.jsonl.zst:1048577: "])
        #expect(folder.names == ["lines.jsonl.zst"])
    }

    @Test func `empty lines between records of a pipe: ignored`() throws {
        try run(["analyze", Hemiola.minuet, "--duration", "1", "-o", "a.jsonl"])
        let text = try folder.text(of: "a.jsonl")
        let outcome = try ChildProcess.run(
            Hemiola.path, ["replay", "-", "--no-realtime"],
            input: .bytes(Array(("\n\r\n" + text.replacingOccurrences(of: "\n", with: "\n\n\n")).utf8)))
        #expect(outcome.status == 0 && outcome.output == text)
    }

    // MARK: - Values that no analysis writes

    /// Keys whose values are replaced at the same time.
    private static let keys = [
        ["rms_db", "peak_db", "bands_db", "bpm", "bars", "bins", "f0_hz"], ["position"], ["t"], ["emitted_t"], ["duration_s"], ["start_s"],
        ["midi", "velocity"], ["n", "frame"], ["frames", "batches"], ["edges_hz", "minimum", "center_offset_s"], ["count"],
        ["sample_rate"], ["label", "name"], ["root_number", "quality_number"],
    ]

    @Test(arguments: keys)
    func `recording with values that no analysis writes: each output is made or refused in one line`(keys: [String]) throws {
        try run(
            ["analyze", Hemiola.minuet, "--duration", "4", "--batch", "8192", "-o", "a.jsonl"]
                + ["beat", "visualizer:bars=4", "chroma", "pitch", "chords"].flatMap { ["--analyzer", "+\($0)"] })
        var text = try folder.text(of: "a.jsonl").replacingOccurrences(of: #""duration_s":4.0"#, with: #""duration_s":4.0,"start_s":1.0"#)
        text += #"{"type":"end","t":0.0}"# + "\n"
        let outputs =
            [
                "csv:a.csv", "json-lines:b.jsonl", "summary:s.jsonl", "summary:s.csv", "beats:b.mid", "beats:b.jams", "beats:b.xml",
                "notes:n.mid",
            ]
            .flatMap { ["--sink", $0] }
        for value in ["400", "-1e308", "3.4e38", "1e15", "null", "0", "-1", "9007199254740991", "-9223372036854775808", #""x""#] {
            var changed = text
            for key in keys {
                changed = changed.replacingOccurrences(
                    of: "\"\(key)\":(\\[?)(\"[^\"]*\"|[-+.0-9e]+|null)", with: "\"\(key)\":$1\(value)", options: .regularExpression)
            }
            try folder.write(changed, to: "r.jsonl")
            for arguments in [
                ["render", "r.jsonl", "-o", "r.svg", "--size", "430x250"], ["replay", "r.jsonl", "--no-realtime"] + outputs,
            ] {
                let outcome = try Hemiola.run(arguments, in: folder.path)
                #expect(
                    [0, 1, 3].contains(outcome.status), "\(keys) \(value) \(arguments[0]): \(outcome.status) \(outcome.errors.suffix(500))")
                #expect(outcome.errorLines.allSatisfy { $0.hasPrefix("hemiola: ") }, "\(keys) \(value): \(outcome.errors.suffix(500))")
            }
        }
    }

    @Test func `compressed recording that is cut off: exit status 1`() throws {
        try run(["analyze", Hemiola.minuet, "-o", "a.jsonl.zst"])
        try folder.write(bytes(of: "a.jsonl.zst").dropLast(5000), to: "cut.zst")
        try run(["replay", "cut.zst", "--no-realtime", "-o", "out.jsonl"], status: 1, errors: ["cut off", "out.jsonl"])
        try folder.write(Data([0x28, 0xb5, 0x2f, 0xfd, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]), to: "bad.zst")
        try run(["replay", "bad.zst", "--no-realtime"], status: 1, errors: ["bad.zst: cannot decompress: "])
    }

    @Test func `recording without its end record: warning`() throws {
        try run(["analyze", Hemiola.minuet, "--select", "header,beat", "-o", "a.jsonl"])
        try run(["replay", "a.jsonl", "--no-realtime"], errors: ["warning: a.jsonl: the last stream has no end record"])
    }

    @Test func `broken line: file and line in the message, the records before are replayed`() throws {
        try run(["analyze", try folder.writeTone(channels: 2), "--analyzer", "levels", "-o", "a.jsonl"])
        var lines = try folder.text(of: "a.jsonl").split(separator: "\n")
        lines[3] = lines[3].replacing("\"n\":2", with: "\"n\":two")[...]
        try folder.write(lines.joined(separator: "\n") + "\n", to: "b.jsonl")
        let outcome = try run(["replay", "b.jsonl", "--no-realtime"], status: 1, errors: ["b.jsonl:4: invalid JSON"])
        #expect(outcome.output.split(separator: "\n").dropLast().elementsEqual(lines[..<3]))
    }

    @Test func `file that is not a recording: message with exit status 1, no output file`() throws {
        try run(["replay", Hemiola.minuet, "-o", "b.jsonl"], status: 1, errors: ["minuet.flac:1: invalid"])
        try run(["replay", "missing.jsonl"], status: 1, errors: ["missing.jsonl: No such file or directory"])
        try folder.write("", to: "empty.jsonl")
        try run(["replay", "empty.jsonl"], status: 1, errors: ["empty.jsonl: no records"])
        try run(["analyze", Hemiola.minuet, "--select", "beat", "-o", "beats.jsonl"])
        try run(["replay", "beats.jsonl"], status: 1, errors: ["beats.jsonl:1: a \"beat\" record before any header"])
        try folder.write(#"{"type":"header","schema":1}"# + "\n", to: "old.jsonl")
        try run(["replay", "old.jsonl"], status: 1, errors: ["old.jsonl:1: schema 1 is not supported"])
        #expect(!folder.names.contains("b.jsonl"))
    }

    @Test func `sink that needs what the recording lacks: message that names it, exit status 2`() throws {
        try run(["analyze", Hemiola.minuet, "--select", "header,levels,end", "-o", "a.jsonl"])
        try run(["replay", "a.jsonl", "--sink", "beats"], status: 2, errors: ["needs beat records, which the selection"])
        try run(["analyze", Hemiola.minuet, "--analyzer", "levels", "-o", "b.jsonl"])
        try run(["replay", "b.jsonl", "--sink", "beats"], status: 2, errors: ["needs the analyzer beat"])
        try run(
            ["replay", "b.jsonl", "--sink", "presets:names=a+b,mode=segments"], status: 2, errors: ["needs the analyzer structure"])
        try run(["replay", "b.jsonl", "--select", "levels.rms"], status: 2, errors: ["did you mean levels.rms_db?"])
        try run(["replay", "b.jsonl", "-o", "b.jsonl"], status: 2, errors: ["would be overwritten"])
    }

    // MARK: - Real time

    @Test func `paced replay: takes the time of the music, and the same bytes`() throws {
        try run(["analyze", "--capture", "tone:clicks,seconds=2", "-o", "a.jsonl"])
        let start = ContinuousClock.now
        try run(["replay", "a.jsonl", "-o", "b.jsonl"])
        let time = ContinuousClock.now - start
        #expect(time >= .seconds(1.99), "\(time)")
        try expectEqual("a.jsonl", "b.jsonl")
    }

    @Test func `paced replay: each line is written when its audio has ended`() throws {
        try run(["analyze", "--capture", "tone:clicks,seconds=3", "-o", "a.jsonl"])
        let process = try Hemiola.start(["replay", "a.jsonl"], in: folder.path)
        var start: ContinuousClock.Instant?
        var emitted = 0.0
        while let line = try process.readLine() {
            let record = try Record(line)
            if record.type == "header" { start = .now }
            guard let start, record.type == "batch" else {
                emitted = record.double("emitted_t") ?? emitted
                continue
            }
            let end = try #require(record.double("t")) + 1024 / 44_100
            let late = (ContinuousClock.now - start) / .seconds(1) - end
            // A busy computer may delay a line.
            #expect(late > -0.05 && late < 1 * Sanitizer.slowness, "\(late) s")
        }
        #expect(emitted > 2, "the clicks have beats")
        #expect(try process.finish().status == 0)
    }

    @Test(arguments: [SIGINT, SIGTERM]) func `signal: end record, exit status`(signal: Int32) throws {
        try run(["analyze", Hemiola.minuet, "-o", "a.jsonl"])
        let process = try Hemiola.start(["replay", "a.jsonl", "-o", "b.jsonl"], in: folder.path)
        try folder.wait(for: "records") { (try? bytes(of: "b.jsonl").count) ?? 0 >= 20_000 }
        process.send(signal)
        let outcome = try process.finish()
        #expect(outcome.status == 128 + signal && !outcome.wasKilled && outcome.errors.isEmpty, "\(outcome.errors)")
        let (all, part) = (try folder.text(of: "a.jsonl").split(separator: "\n"), try folder.text(of: "b.jsonl").split(separator: "\n"))
        #expect(part.count > 5 && part.count < all.count / 2)
        #expect(part.dropLast().elementsEqual(all.prefix(part.count - 1)))
        #expect(part.last?.contains(#""reason":"interrupted"}"#) == true)
    }

    @Test func `signal while standard input has no data: the replay ends`() throws {
        try run(["analyze", Hemiola.minuet, "-o", "a.jsonl"])
        let head = try folder.text(of: "a.jsonl").split(separator: "\n")[..<3].joined(separator: "\n") + "\n"
        let process = try Hemiola.start(["replay", "-"], input: .bytes(Array(head.utf8), staysOpen: true))
        #expect(try process.readLine()?.hasPrefix(#"{"type":"header""#) == true)
        process.send(SIGINT)
        let outcome = try process.finish(timeout: 10)
        #expect(outcome.status == 130 && outcome.output.contains(#""reason":"interrupted"}"#))
    }

    // MARK: - Audio

    /// 16-bit stereo in which all frames differ.
    private static func value(_ frame: Int, _ side: Int) -> Float {
        Float(Int16(truncatingIfNeeded: side == 0 ? frame &* 31 : frame &* 7919)) / 32_768
    }

    private func writeSound(_ name: String, frames: Int, rate: Int = 44_100) throws {
        let samples = (0..<frames).flatMap { frame in (0..<2).map { Self.value(frame, $0) } }
        try folder.write(WAVBytes(samples: samples, sampleRate: rate, channelCount: 2, encoding: .float32).bytes, to: name)
    }

    /// Replays to the socket and collects the samples that a client gets.
    private func samples(_ arguments: [String], errors: [String] = []) throws -> [Int: [Float]] {
        let process = try Hemiola.start(["replay"] + arguments + ["--sink", "socket:s"], in: folder.path)
        let client = try SocketClient(folder("s"))
        #expect(try client.readLine()?.hasPrefix(#"{"type":"hello""#) == true)
        var samples: [Int: [Float]] = [:]
        for text in try client.readAll() {
            let line = try JSON(text)
            guard line["type"]?.string == "pushSamples" else { continue }
            samples[try #require(line["frame"]?.int)] = line["samples"]?.array.compactMap { $0.double.map { Float($0) } }
        }
        let outcome = try process.finish()
        let lines = Self.errorLines(outcome)
        #expect(outcome.status == 0 && lines.count == errors.count, "\(outcome.errors)")
        for (line, error) in zip(lines, errors) { #expect(line.contains(error), "\(line)") }
        return samples
    }

    private func check(_ samples: [Int: [Float]], frames: Int, from start: Int = 0, location: SourceLocation = #_sourceLocation) {
        #expect(samples.count > 20, sourceLocation: location)
        for (frame, values) in samples {
            for index in values.indices {
                let place = frame + index / 2
                let expected = place < frames ? Self.value(place + start, index % 2) : 0
                if abs(values[index] - expected) > 1e-6 {
                    Issue.record("frame \(place): \(values[index]) is not \(expected)", sourceLocation: location)
                    return
                }
            }
        }
    }

    @Test(arguments: [[], ["--select", "header,beat,end"]])
    func `replay with audio: its samples, aligned with the records`(selection: [String]) throws {
        try writeSound("a.wav", frames: 88_200)
        try run(["analyze", "a.wav", "-o", "a.jsonl"] + selection)
        check(try samples(["a.jsonl", "--audio", "a.wav"]), frames: 88_200)
    }

    @Test func `recording of a part of a file: the samples of that part`() throws {
        try writeSound("a.wav", frames: 132_300)
        try run(["analyze", "a.wav", "--start", "1", "--duration", "1.5", "-o", "a.jsonl"])
        check(
            try samples(["a.jsonl", "--audio", "a.wav"], errors: ["a.wav: is longer than the recording"]), frames: 66_150, from: 44_100)
    }

    @Test func `audio shorter than the recording: silence, with a warning`() throws {
        try writeSound("a.wav", frames: 66_150)
        try writeSound("short.wav", frames: 44_100)
        try run(["analyze", "a.wav", "-o", "a.jsonl"])
        check(try samples(["a.jsonl", "--audio", "short.wav"], errors: ["short.wav: ends at 1.000 s"]), frames: 44_100)
    }

    @Test func `no audio: silence, with a warning that names the recorded file`() throws {
        try writeSound("a.wav", frames: 44_100)
        try run(["analyze", "a.wav", "-o", "a.jsonl"])
        check(try samples(["a.jsonl"], errors: ["add --audio a.wav"]), frames: 0)
    }

    @Test func `audio of another format: exit status 1`() throws {
        try writeSound("a.wav", frames: 44_100)
        try writeSound("b.wav", frames: 44_100, rate: 48_000)
        try run(["analyze", "a.wav", "-o", "a.jsonl"])
        try run(["replay", "a.jsonl", "--audio", "b.wav", "--sink", "socket:s"], status: 1, errors: ["48000 Hz and 2 channels, but"])
        try run(["replay", "a.jsonl", "--audio", "none.wav", "--sink", "socket:s"], status: 1, errors: ["none.wav: no such file"])
        try run(["replay", "a.jsonl", "--audio", "a.wav", "--no-realtime"], errors: ["a.wav: has no effect"])
    }

    @Test func `controls of a client during a replay: applied and recorded`() throws {
        try run(["analyze", Hemiola.minuet, "-o", "a.jsonl"])
        let process = try Hemiola.start(
            ["replay", "a.jsonl", "--quiet", "--sink", "socket:s", "--sink", "json-lines:b.jsonl"], in: folder.path)
        let client = try SocketClient(folder("s"))
        try client.send(#"{"type":"subscribe","streams":["speed"]}"#)
        try client.send(#"{"type":"setSpeed","speed":0.5,"id":1}"#)
        var types: [String] = []
        while !types.contains("speed"), let line = try client.readLine() { types.append(try JSON(line)["type"]?.string ?? "") }
        process.send(SIGINT)
        #expect(try process.finish().status == 130)
        let records = try Record.all(in: folder.text(of: "b.jsonl"))
        #expect(records.of("control").first?.string("control") == "setSpeed")
        #expect(records.of("speed").first?.double("speed") == 0.5)
    }
}
