import Foundation
import TestSupport
import Testing

@Suite struct AnalyzeTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    // MARK: - One file

    @Test(arguments: [(8000, 1), (44_100, 2), (48_000, 6), (192_000, 1)])
    func `file: header, batches and end`(rate: Int, channels: Int) throws {
        let frames = 9000
        let file = try folder.writeTone(frames: frames, rate: rate, channels: channels)
        let records = try Hemiola.records([file])
        records.expectWholeStream(frames: frames, rate: rate)
        #expect(records[0].int("channels") == channels)
        #expect(records[0].string("source.kind") == "file")
        #expect(records[0].string("source.name") == file)
        #expect(records[0].double("source.duration_s") == (Double(frames) / Double(rate) * 1e6).rounded() / 1e6)
        #expect(records.allSatisfy { $0["file"] == nil })
        #expect(records.batches.allSatisfy { $0["levels.channel_rms_db"]?.array.count == channels })
    }

    @Test func `sine: correct level and frequency`() throws {
        let records = try Hemiola.records([try folder.writeTone(channels: 2)])
        let batch = records.batches[5]
        // Half of full scale, -3.01 dB for a sine.
        for level in batch["levels.channel_rms_db"]?.array ?? [] { #expect(abs((level.double ?? 0) + 9.03) < 0.1) }
        let bands = batch["spectrum.bands_db"]?.array.compactMap(\.double) ?? []
        let edges = records[0].json["analyzers"]?.array[1]["outputs"]?.array[0]["edges_hz"]?.array.compactMap(\.double) ?? []
        try #require(bands.count == 64 && edges.count == 65)
        let loudest = bands.indices.max { bands[$0] < bands[$1] }!
        #expect(edges[loudest] < 560 && edges[loudest + 1] > 430)
    }

    @Test func `5.1: level of the BS.775 downmix, channel names in the header`() throws {
        // Full-scale sines: −3.01 dB each, alone on one loudspeaker after the other; both fronts together are a stereo tone.
        let cases: [(on: [Int], level: Double)] = [
            ([0, 1], -3.01), ([0], -9.03), ([2], -6.02), ([3], -120), ([4], -12.04), ([5], -12.04),
        ]
        for (index, (on, level)) in cases.enumerated() {
            var samples: [Float] = []
            for frame in 0..<8192 {
                let value = Float(sin(2 * Double.pi * 1500 * Double(frame) / 48_000))
                for channel in 0..<6 { samples.append(on.contains(channel) ? value : 0) }
            }
            var wave = WAVBytes(samples: samples, sampleRate: 48_000, channelCount: 6)
            wave.channelMask = 0x3f
            let records = try Hemiola.records([try folder.write(wave.bytes, to: "\(index).wav"), "--analyzer", "levels"])
            #expect(records[0].json["channel_names"]?.array.compactMap(\.string) == ["FL", "FR", "FC", "LFE", "BL", "BR"])
            let measured = try #require(records.batches[3].double("levels.rms_db"))
            #expect(abs(measured - level) < 0.05, "\(on): \(measured)")
        }
        let plain = try Hemiola.records([try folder.writeTone(rate: 48_000, channels: 6), "--analyzer", "levels"])
        #expect(plain[0].json["channel_names"] == nil)
    }

    @Test func `keys: same JSON type in all records`() throws {
        try folder.writeTone("a.wav", channels: 2)
        try folder.write(TemporaryFolder.tone().bytes.dropLast(1001), to: "b.wav")
        let outcome = try Hemiola.run(["analyze", "a.wav", "b.wav", "--analyzer", "+spectrum:mfcc=4,as=timbre"], in: folder.path)
        var kinds: [String: JSON.Kind] = [:]
        func check(_ key: String, _ value: JSON) {
            if value == .null { return }
            let kind = kinds[key] ?? value.kind
            kinds[key] = kind
            #expect(value.kind == kind, "\(key) is \(value.kind) and was \(kind)")
            // The keys of these objects are names of analyzers, settings and sinks.
            if ["parameters", "summaries", "dropped"].contains(key) { return }
            for member in value.members { check(member.key, member.value) }
            for element in value.array { check("an element of \(key)", element) }
        }
        for record in try Record.all(in: outcome.output) { check("record", record.json) }
        #expect(kinds["t"] == .fraction && kinds["frame"] == .integer && kinds["rms_db"] == .fraction)
    }

    @Test(arguments: [256, 1000, 1024, 2048, 8192])
    func `--batch: frames per batch`(frames: Int) throws {
        let records = try Hemiola.records([try folder.writeTone(frames: 20_000), "--batch", "\(frames)"])
        records.expectWholeStream(frames: 20_000, rate: 44_100, batchFrames: frames)
    }

    @Test func `standard input: same batches as from a file`() throws {
        let wave = TemporaryFolder.tone(channels: 2)
        let lines = try Hemiola.records([try folder.write(wave.bytes, to: "tone.wav"), "--causal"]).analysis
        var piped = wave
        piped.statedDataSize = .max
        for bytes in [wave.bytes, piped.bytes] {
            let outcome = try Hemiola.run(["analyze", "-"], input: .bytes(bytes))
            #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
            #expect(try Record.all(in: outcome.output).analysis == lines)
        }
    }

    @Test func `standard input that is not audio: refused`() throws {
        for bytes in [[], Array("not a sound at all, but words and words and words".utf8)] {
            let outcome = try Hemiola.run(["analyze", "-", "-o", folder("out.jsonl")], input: .bytes(bytes))
            #expect(outcome.status == 1 && outcome.errorLines.count == 1, "\(outcome.errors)")
            #expect(outcome.errors.contains("standard input"), "\(outcome.errors)")
        }
        #expect(folder.names.isEmpty)
    }

    // MARK: - Several files

    @Test func `several files: every line names its file`() throws {
        try folder.writeTone("a.wav", frames: 5000)
        try folder.writeTone("b, c.wav", frames: 3000, rate: 48_000, channels: 2)
        let records = try Hemiola.records(["a.wav", "b, c.wav"], in: folder.path)
        #expect(records.allSatisfy { $0.json.members[1].key == "file" })
        let streams = Dictionary(grouping: records) { $0.string("file") ?? "" }
        #expect(Set(streams.keys) == ["a.wav", "b, c.wav"])
        streams["a.wav"]?.expectWholeStream(frames: 5000, rate: 44_100)
        streams["b, c.wav"]?.expectWholeStream(frames: 3000, rate: 48_000)
        #expect(records.last?.string("file") == "b, c.wav")
    }

    @Test(arguments: [("one.wav\ntwo.wav\n", false), ("one.wav\r\n\r\ntwo.wav", false), ("one.wav\0two.wav\0", true)])
    func `list of files: all analysed`(list: String, isNullSeparated: Bool) throws {
        try folder.writeTone("one.wav", frames: 2048)
        try folder.writeTone("two.wav", frames: 1024)
        try folder.write(list, to: "list")
        let options = isNullSeparated ? ["-0"] : []
        let records = try Hemiola.records(["--files-from", "list"] + options, in: folder.path)
        #expect(records.of("header").map { $0.string("file") } == ["one.wav", "two.wav"])
        #expect(records.batches.count == 3)
        let piped = try Hemiola.run(
            ["analyze", "--files-from", "-"] + options, in: folder.path, input: .bytes(Array(list.utf8)))
        #expect(piped.status == 0)
        #expect(piped.lines == records.map(\.line))
    }

    @Test(arguments: ["-j2", "-j0", "--jobs=7"]) func `several jobs: same bytes as one`(jobs: String) throws {
        let names = (0..<9).map { "\($0).wav" }
        for (index, name) in names.enumerated() where index != 4 {
            try folder.writeTone(name, frames: [400_000, 1, 30_000][index % 3], channels: index % 2 + 1)
        }
        let one = try Hemiola.run(["analyze"] + names, in: folder.path)
        let several = try Hemiola.run(["analyze", jobs] + names, in: folder.path)
        #expect(several.output == one.output)
        #expect(several.errors == one.errors)
        #expect(one.status == 1 && several.status == 1)
    }

    @Test func `presets with mode=segments and --whole-file: a change where the music changes`() throws {
        let rate = 22_050
        let samples = (0..<40 * rate).map { frame -> Float in
            let notes: [Double] = frame < 20 * rate ? [220, 277.2, 329.6] : [1046.5, 1244.5, 1568, 3100]
            let phase = 2 * Double.pi * Double(frame) / Double(rate)
            return Float(notes.reduce(0) { sum, hertz in sum + 0.1 * sin(hertz * phase) })
        }
        try folder.write(WAVBytes(samples: samples, sampleRate: rate, encoding: .float32).bytes, to: "parts.wav")
        let records = try Hemiola.records(["parts.wav", "--whole-file", "--sink", "presets:mode=segments,names=a+b"], in: folder.path)
        let changes = records.of("preset").filter { $0.string("reason") == "segment" }
        #expect(changes.count == 1)
        #expect(abs((changes.first?.double("t") ?? 0) - 20) < 0.3)
    }

    @Test func `list and file arguments: both analysed`() throws {
        for name in ["a.wav", "b\nc.wav"] { try folder.writeTone(name, frames: 1024) }
        try folder.write("b\nc.wav\0", to: "list")
        let records = try Hemiola.records(["a.wav", "-0", "--files-from", "list"], in: folder.path)
        #expect(records.of("end").map { $0.string("file") } == ["a.wav", "b\nc.wav"])
    }

    @Test func `name that begins with a dash: analysed`() throws {
        try folder.writeTone("-a.wav", frames: 1024)
        #expect(try Hemiola.records(["--", "-a.wav"], in: folder.path).count == 3)
    }

    // MARK: - Analyzers, sinks, selection

    @Test func `named analyzers: run under the given names`() throws {
        let file = try folder.writeTone(frames: 4096)
        func names(_ options: String...) throws -> [String] {
            try Hemiola.records([file] + options).batches[0].json.members.dropFirst(4).map(\.key)
        }
        #expect(try names() == ["levels", "spectrum", "visualizer", "beat"])
        #expect(try names("--analyzer", "levels") == ["levels"])
        #expect(try names("--analyzer", "+spectrum:bands=8,as=coarse") == ["levels", "spectrum", "visualizer", "beat", "coarse"])
        let records = try Hemiola.records([file, "--analyzer", "spectrum:bands=8,scale=mel-htk,mfcc=5,magnitudes=true,size=512"])
        #expect(records.batches.allSatisfy { $0["spectrum.bands_db"]?.array.count == 8 })
        #expect(records.batches.allSatisfy { $0["spectrum.mfcc"]?.array.count == 5 })
        #expect(records.batches.allSatisfy { $0["spectrum.magnitudes"]?.array.count == 257 })
        #expect(records[0].json["analyzers"]?.array[0]["parameters"]?["size"] == .number("512"))
    }

    @Test func `--select: other records and features are not written`() throws {
        let file = try folder.writeTone(frames: 4096)
        let some = try Hemiola.records([file, "--select", "levels.rms_db,spectrum.centroid_hz"])
        #expect(some.batches.count == 4)
        for batch in some.batches {
            #expect(batch["levels"]?.members.map(\.key) == ["rms_db"])
            #expect(batch["spectrum"]?.members.map(\.key) == ["centroid_hz"])
        }
        #expect(try Hemiola.records([file, "--select", "header+end"]).types == ["header", "end"])
        #expect(try Hemiola.records([file, "--select", "end"]).types == ["end"])
    }

    @Test func `output: to a file, several sinks, or the null device`() throws {
        let file = try folder.writeTone()
        let lines = try Hemiola.records([file]).map(\.line)

        let toFile = try Hemiola.run(["analyze", file, "-o", folder("out.jsonl")])
        #expect(toFile.status == 0 && toFile.output.isEmpty && toFile.errors.isEmpty)
        #expect(try folder.text(of: "out.jsonl") == lines.joined(separator: "\n") + "\n")

        let both = try Hemiola.run(["analyze", file, "--sink", "json-lines:\(folder("a.jsonl")),select=header+end"])
        #expect(both.status == 0 && both.output.isEmpty && both.errors.isEmpty)
        #expect(try Record.all(in: folder.text(of: "a.jsonl")).types == ["header", "end"])

        let two = try Hemiola.run(["analyze", file, "--sink", "json-lines:\(folder("b.jsonl"))", "--sink", "json-lines"])
        #expect(two.status == 0 && two.lines == lines && two.errors.isEmpty)
        #expect(try folder.text(of: "b.jsonl") == folder.text(of: "out.jsonl"))
        #expect(folder.names == ["a.jsonl", "b.jsonl", "out.jsonl", "tone.wav"])
    }

    @Test func `append=true: sink appends to a file`() throws {
        let file = try folder.writeTone(frames: 1024)
        try folder.write("{\"type\":\"mine\"}\n", to: "log.jsonl")
        for _ in 0..<2 {
            #expect(try Hemiola.run(["analyze", file, "-q", "--sink", "json-lines:\(folder("log.jsonl")),append=true"]).status == 0)
        }
        let types = try Record.all(in: folder.text(of: "log.jsonl")).types
        #expect(types == ["mine", "header", "batch", "end", "header", "batch", "end"])
    }

    // MARK: - Messages and help

    @Test func `quiet: no warnings; -v: more details`() throws {
        // A warning without a loss: --quiet hides it.
        var wave = TemporaryFolder.tone(encoding: .float32)
        wave.samples[100] = .nan
        let file = try folder.write(wave.bytes, to: "odd.wav")
        let plain = try Hemiola.run(["analyze", file])
        #expect(plain.errorLines.count == 1)
        let quiet = try Hemiola.run(["analyze", "--quiet", file])
        #expect(quiet.status == 0 && quiet.errors.isEmpty && quiet.output == plain.output)
        let verbose = try Hemiola.run(["analyze", "-v", file])
        #expect(verbose.output == plain.output)
        #expect(verbose.errorLines.count == 3)
        #expect(verbose.errors.contains("levels, spectrum"))
        let twice = try Hemiola.run(["analyze", "-vv", file])
        #expect(twice.errors.contains("bands=64"))
    }

    @Test func `--version: prints a version number`() throws {
        let outcome = try Hemiola.run(["--version"])
        #expect(outcome.status == 0)
        #expect(outcome.output.firstMatch(of: /^[0-9]+\.[0-9]+\.[0-9]+\n$/) != nil)
        let header = try Hemiola.records([try folder.writeTone(frames: 256)])[0]
        #expect(header.string("hemiola") == outcome.lines[0])
    }

    @Test(arguments: [["--help"], ["help"], ["analyze", "--help"], ["help", "analyze"]])
    func `help: printed on standard output`(arguments: [String]) throws {
        let outcome = try Hemiola.run(arguments)
        #expect(outcome.status == 0 && outcome.errors.isEmpty)
        #expect(outcome.output.contains("Examples:"))
    }

    @Test(.needs(.jq), .needs(.ffmpeg), arguments: [[], ["analyze"], ["schema"]])
    func `examples in help: run successfully`(command: [String]) throws {
        // The content of each file identifies its format.
        for name in ["song.flac", "song.wav", "song.m4a"] { try folder.writeTone(name) }
        try FileManager.default.createDirectory(atPath: folder("music"), withIntermediateDirectories: false)
        try folder.writeTone("music/a b.wav")
        let help = try Hemiola.run(command + ["--help"])
        let examples = help.lines.drop { $0 != "Examples:" }.dropFirst().prefix { $0.hasPrefix("  ") }.map { $0.dropFirst(2) }
        try #require(examples.count > 2)
        for example in examples {
            let outcome = try Hemiola.shell(String(example), in: folder.path)
            // A run with a folder of results reports their number.
            let errors = outcome.errorLines.filter { !$0.contains(" analysed") }
            #expect(outcome.status == 0 && errors.isEmpty, "\(example): \(outcome.errors)")
        }
    }
}
