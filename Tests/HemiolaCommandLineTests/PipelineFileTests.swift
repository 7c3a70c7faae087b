import Glibc
import Hemiola
import HemiolaEngine
import HemiolaPlugins
import TestSupport
import Testing

@testable import HemiolaCommandLine

@Suite struct PipelineFileTests {
    private func configuration(_ text: String) throws -> PipelineConfiguration {
        try PipelineFile(checking: text, title: "p.yaml", .standard).configuration
    }

    private func problems(_ text: String) -> [String] {
        do {
            _ = try PipelineFile(checking: text, title: "p.yaml", .standard)
            return []
        } catch {
            return error.status == .usage ? error.lines : ["another status"]
        }
    }

    private func printed(_ text: String) throws -> String {
        let file = try TemporaryFile(Array(text.utf8))
        return try command(CheckCommand.self, [file.path, "--print"]).text(with: .standard)
    }

    /// CPU time of this thread, which does not depend on other tests.
    private func processorSeconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    @Test func `byte order mark: ignored`() throws {
        let file = try TemporaryFile(Array("\u{FEFF}inputs: [a.wav]\nbatch: 512\n".utf8))
        let configuration = try PipelineFile(at: file.path, .standard).configuration
        #expect(configuration.paths == ["a.wav"] && configuration.batchFrames == 512)
    }

    @Test func `file with inputs only: defaults for all other keys`() throws {
        let configuration = try configuration("inputs: [song.flac, '-']")
        #expect(configuration.captures == [PluginSpec("file", primary: .text("song.flac")), PluginSpec("pcm", primary: .text("-"))])
        #expect(configuration.analyzers == PluginRegistry.standard.defaultAnalyzers)
        #expect(configuration.sinks == [PluginSpec("json-lines")])
        #expect(configuration.batchFrames == 1024)
    }

    @Test func `long list: linear time`() throws {
        let count = 60_000
        let text = "sinks:\n" + String(repeating: "- json-lines\n", count: count)
        let began = processorSeconds()
        let file = try PipelineFile(text, registry: .standard)
        // A few seconds; minutes if the time per item grew with the number of items.
        #expect(processorSeconds() - began < 30)
        #expect(file.configuration.sinks.count == count)
    }

    @Test func `all keys: set in the configuration`() throws {
        let configuration = try configuration(
            """
            captures: ["tone:clicks,bpm=120", {id: file, path: "a,b=c.wav"}]
            inputs: [007, 'x: y']
            analyzers:
              - levels
              - {id: spectrum, as: coarse, bands: 8, scale: mel-slaney, magnitudes: yes, max_hz: null, min_hz: 30.5}
            sinks:
              - {id: json-lines, path: out.jsonl, append: true, select: [levels, end], lead_ms: -5}
            controls: [link, {id: osc, as: faders, address: "127.0.0.1:9002"}]
            batch: 512
            rate: 48000
            realtime: true
            seed: 7
            jobs: 3
            select: levels, end
            """)
        #expect(configuration.captures.map(\.name) == ["tone", "file", "file", "file"])
        #expect(configuration.captures[1].settings == ["path": .text("a,b=c.wav")])
        #expect(configuration.captures[2...].map { $0.primary?.text } == ["007", "x: y"])
        #expect(configuration.analyzers[1].name == "coarse")
        #expect(
            configuration.analyzers[1].settings
                == ["bands": .integer(8), "scale": .text("mel-slaney"), "magnitudes": .text("yes"), "min_hz": .number(30.5)])
        #expect(configuration.sinks[0].settings["select"] == .list([.text("levels"), .text("end")]))
        #expect(
            configuration.controls == [PluginSpec("link"), PluginSpec("osc", as: "faders", settings: ["address": .text("127.0.0.1:9002")])])
        #expect(configuration.batchFrames == 512 && configuration.sampleRate == 48_000 && configuration.seed == 7)
        #expect(configuration.jobCount == 3)
        #expect(configuration.isPaced)
        #expect(configuration.selection == ["levels", "end"])
    }

    @Test func `empty list: replaces the default`() throws {
        let configuration = try configuration("{inputs: x, analyzers: [], sinks: [], seed: ~}")
        #expect(configuration.analyzers.isEmpty && configuration.sinks.isEmpty && configuration.captures.count == 1)
    }

    @Test func `several problems: all reported, in file order, with line, column and path`() {
        let lines = problems(
            """
            inputs: [x.wav]
            analyzers:
              - levels
              - [1]
              - {id: spectrum, bandz: 3, size: 1}
            sinks:
              - id: json-lines
                flush: never
                append: {a: b}
            batch: 1500
            rat: 3
            seed: -3
            """)
        #expect(
            lines == [
                "p.yaml:4:5: analyzers[1]: a list is neither a SPEC nor a map with the key id",
                "p.yaml:5:20: analyzers[2].bandz: spectrum has no such setting; did you mean bands?",
                "p.yaml:5:30: analyzers[2].size: 1 is outside 64...65536 frames",
                "p.yaml:8:5: sinks[0].flush: \"never\" is not one of auto, line, block",
                "p.yaml:9:5: sinks[0].append: a map is not the value of a setting",
                "p.yaml:10:1: batch: 1500 is above 1024 and not a multiple of 256 frames; use 1280 or 1536",
                "p.yaml:11:1: rat: unknown key; did you mean rate?",
                "p.yaml:12:1: seed: \"-3\" is not a whole number, 0 or more",
            ])
    }

    @Test(arguments: [
        ("a: [1,\nb: }", "p.yaml:2:4: while parsing a flow node: did not find expected node content"),
        ("batch: 512\nbatch: 256", "p.yaml:2:1: batch is already given in line 1"),
        ("- a", "p.yaml:1:1: a pipeline is a map with the keys captures, analyzers, sinks …"),
        ("", "p.yaml: captures: no input; name a capture"),
        ("# nothing", "p.yaml: captures: no input; name a capture"),
        ("inputs: []", "p.yaml: captures: no input; name a capture"),
        ("inputs: [{a: b}]", "p.yaml:1:10: inputs[0]: a map is not a path"),
        ("inputs: {a: b}", "p.yaml:1:1: inputs: a map is not a list"),
        ("captures: [{path: x}]", "p.yaml:1:12: captures[0]: the key id is missing; add the id of a plugin"),
        ("inputs: x\nrate: foo", "p.yaml:2:1: rate: \"foo\" is not a whole number of hertz or native"),
        ("inputs: x\nrealtime: 3", "p.yaml:2:1: realtime: \"3\" is not true or false"),
        ("inputs: x\nsync: maybe", "p.yaml:2:1: sync: \"maybe\" is not true or false"),
        (
            "inputs: [c1/a.wav, c2/a.wav]\nsinks: ['csv:{stem}.csv']",
            "p.yaml:2:9: sinks[0]: the results of c1/a.wav and c2/a.wav would both be written to a.csv; "
                + "use {dir} or {name} in the path"
        ),
        (
            "inputs: x\nsinks: [{id: beats, path: '{stm}'}]",
            "p.yaml:2:21: sinks[0].path: there is no placeholder {stm}; there are: {stem}, {name}, {dir}, {time}; "
                + "for a brace in a name write {{"
        ),
        (
            "inputs: x\nselect: [beet]",
            "p.yaml:2:1: select: \"beet\" is not a record type, analyzer or feature of this pipeline; did you mean beat?"
        ),
        ("inputs: x\nsinks: [jsonlines]", "p.yaml:2:9: sinks[0]: there is no sink \"jsonlines\"; did you mean json-lines?"),
        ("inputs: x\ncontrols: [mdi]", "p.yaml:2:12: controls[0]: there is no control source \"mdi\"; did you mean midi?"),
        (
            "inputs: x\ncontrols: [{id: link, quantm: 3}]",
            "p.yaml:2:23: controls[0].quantm: link has no such setting; did you mean quantum?"
        ),
        ("inputs: x\ncontrol: [link]", "p.yaml:2:1: control: unknown key; did you mean controls?"),
        ("x: é\r\ny: \u{1}", "p.yaml:2:4: control characters are not allowed"),
    ])
    func `problem: reported with line and column`(text: String, line: String) {
        #expect(problems(text) == [line])
    }

    @Test(arguments: [
        "inputs: song.flac",
        "captures: ['tone:sine,hz=1000', {id: pcm, raw: 'f32le:44100:2'}]\nanalyzers: []",
        "inputs: ['a \"b\"\\n: #.wav', 'no', '1', 'ä, ö']\nanalyzers: [{id: spectrum, as: x, min_hz: 0.1}, 'spectrum:bands=3']",
        "inputs: x\nsinks: [{id: json-lines, path: y, lead_ms: -0.5, select: [levels.rms_db]}]\nbatch: 256\nrate: 8000\nseed: 9007199254740991\njobs: 2",
        "inputs: x\nselect: [levels, end]\nrealtime: true\nsync: true\nsinks: []",
        "inputs: x\nsinks: ['osc-control:9003']\ncontrols: [link, {id: osc, as: faders, on_error: skip}, 'midi:/dev/midi1']",
        "inputs: x\nsinks: [{id: json-lines, path: 'a.{n}.jsonl', rotate_s: 3600}]",
    ])
    func `printed pipeline: parses to the same pipeline, prints the same text`(text: String) throws {
        let whole = try printed(text)
        #expect(try printed(whole) == whole)
        let (one, other) = (try configuration(text), try configuration(whole))
        #expect(one.captures.map(\.name) == other.captures.map(\.name))
        #expect(one.analyzers.map(\.name) == other.analyzers.map(\.name))
        #expect(one.sinks.map(\.name) == other.sinks.map(\.name))
        #expect(one.controls.map(\.controlName) == other.controls.map(\.controlName))
        #expect(one.batchFrames == other.batchFrames && one.sampleRate == other.sampleRate && one.isPaced == other.isPaced)
        #expect(one.seed == other.seed && one.jobCount == other.jobCount && one.selection == other.selection)
        let format = StreamFormat(sampleRate: 48_000, channelCount: 2)
        let registry = PluginRegistry.standard
        #expect(
            try registry.assemble(one).describeAnalyzers(for: format) == registry.assemble(other).describeAnalyzers(for: format))
    }

    @Test func `printed pipeline with characters that YAML does not allow or reads as line breaks: characters are preserved`() throws {
        let name = "\u{1}\u{7F}\u{82}\u{85}\u{9F}\u{A0}\u{2028}\u{2029}\u{FEFF}\u{FFFE}\u{FFFF}\u{1F600}"
        let escaped = name.unicodeScalars.map { "\\U" + ("0000000" + String($0.value, radix: 16)).suffix(8) }.joined()
        let whole = try printed("inputs: [\"\(escaped)\"]")
        #expect(try configuration(whole).captures.first?.settings["path"] == .text(name))
    }

    @Test func `check of a valid file: prints valid`() throws {
        let file = try TemporaryFile(Array("inputs: /nowhere/at/all.wav".utf8))
        #expect(try command(CheckCommand.self, [file.path]).text(with: .standard) == "\(file.path): valid\n")
    }

    @Test func `run: writes the configured output`() async throws {
        let output = try TemporaryFile([])
        let file = try TemporaryFile(
            Array("captures: ['tone:sine,seconds=0.1']\nanalyzers: [levels]\nsinks: ['json-lines:\(output.path)']".utf8))
        let log = Log()
        #expect(Root.run(["run", file.path, "-q"], with: .standard, on: Console { log.append($0) }) == .success)
        #expect(log.text == "")
        let lines = String(decoding: try FileSystem.bytes(of: output.path, count: 1 << 20), as: UTF8.self).split(separator: "\n")
        #expect(lines.first?.hasPrefix(#"{"type":"header""#) == true && lines.last?.hasPrefix(#"{"type":"end""#) == true)
        #expect(lines.count == 7)
    }

    @Test func `run with an output that is an input: refused`() async throws {
        let sound = try TemporaryFile([1, 2])
        let file = try TemporaryFile(Array("inputs: \(sound.path)\nsinks: ['json-lines:\(sound.path)']".utf8))
        let log = Log()
        #expect(Root.run(["run", file.path], with: .standard, on: Console { log.append($0) }) == .usage)
        #expect(log.text.contains("would be overwritten"))
    }

    @Test func `output that is an input, named alone or by its key: a problem of the file`() throws {
        let sound = try TemporaryFile([1, 2])
        for input in ["inputs: \(sound.path)", "captures: [{id: file, path: \(sound.path)}]"] {
            #expect(
                problems("\(input)\nsinks: ['json-lines:\(sound.path)']") == [
                    "p.yaml: \(sound.path) is an input file and would be overwritten; write to another file"
                ])
        }
    }

    @Test func `unreadable file: error`() {
        #expect(throws: Failure("cannot read /nowhere.yaml: No such file or directory")) {
            try PipelineFile(at: "/nowhere.yaml", .standard)
        }
    }

    @Test func `endless pipeline file: refused at the size limit`() {
        #expect(throws: Failure("/dev/zero: the file has more than 8 MiB; name a pipeline file in YAML")) {
            try PipelineFile(at: "/dev/zero", .standard)
        }
    }

    // MARK: - Versions and errors

    @Test func `min_version that this program has: no problem`() throws {
        for version in ["0.0.1", "0.1.0", "\"0.1.0\""] {
            #expect(problems("inputs: [a.wav]\nmin_version: \(version)\n").isEmpty)
        }
        #expect(problems("inputs: [a.wav]\nmin_version: null\n").isEmpty)
    }

    @Test func `min_version above this program: the only problem, with both versions and the way out`() throws {
        let text = "inputs: [a.wav]\nfuture: 3\nmin_version: 12.0.1\nanalyzers: [telepathy]\n"
        #expect(
            problems(text) == [
                "p.yaml:3:1: min_version: the file needs Hemiola 12.0.1, but this is \(HemiolaVersion.current); "
                    + "install a newer version, or lower min_version"
            ])
        #expect(problems("inputs: [a.wav]\nmin_version: 0.10.0\n").count == 1)
    }

    @Test(arguments: [
        "1", "0.1", "0.1.0.0", "v0.1.0", "0.1.-1", "0.1.0-beta", "\"\"", "0..1", "\">= 0.1.0\"", "0.1.99999999999999999999", "[0, 1, 0]",
    ])
    func `min_version that is no version: a problem`(version: String) throws {
        let found = problems("inputs: [a.wav]\nmin_version: \(version)\n")
        #expect(found.count == 1)
        #expect(found.first?.hasPrefix("p.yaml:2:1: min_version: ") == true)
        #expect(found.first?.hasSuffix(" is not a version; write three numbers, as \(HemiolaVersion.current)") == true)
    }

    @Test func `min_version and on_error of plugins: problems have their place`() throws {
        let text = """
            inputs: [a.wav]
            analyzers:
              - {id: levels, min_version: 2, on_error: skip}
              - {id: spectrum, min_version: 99}
            sinks:
              - id: json-lines
                on_error: sometimes
            """
        #expect(
            problems(text) == [
                "p.yaml:4:20: analyzers[1].min_version: spectrum has version 2, but version 99 is needed; "
                    + "install a newer version of the program, or lower min_version",
                "p.yaml:7:5: sinks[0].on_error: \"sometimes\" is not one of fail, skip",
            ])
    }

    @Test func `printed pipeline: has on_error and min_version of every plugin, once each`() throws {
        let text = try printed(
            """
            captures: [{id: tone, on_error: skip}]
            analyzers: [{id: levels, on_error: skip, min_version: 2}, beat]
            sinks: [{id: exec, command: cat, on_error: skip}, json-lines]
            """)
        let count = { (line: String) in text.split(separator: "\n").count { $0.drop { $0 == " " } == line } }
        #expect(count("on_error: skip") == 3 && count("on_error: fail") == 2)
        #expect(count("min_version: 1") == 4 && count("min_version: 2") == 1 && text.hasPrefix("min_version: null\n"))
        #expect(try printed(text) == text)
    }
}
