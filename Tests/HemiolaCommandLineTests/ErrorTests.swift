import ArgumentParser
import Hemiola
import HemiolaEngine
import HemiolaPlugins
import Testing

@testable import HemiolaCommandLine

@Suite struct ErrorTests {
    /// The messages without `hemiola: `, and the exit code.
    private func failure(of arguments: [String]) -> (lines: [String], status: CommandStatus) {
        let log = Log()
        let status = Root.run(arguments, with: .standard, on: Console { log.append($0) })
        return (log.text.split(separator: "\n").map { String($0.trimmingPrefix("hemiola: ")) }, status)
    }

    /// A command line, and what its message names: the thing that is wrong, and the way out.
    @Test(arguments: [
        ("analyse x", ["\"analyse\"", "analyze"]), ("help shema", ["\"shema\"", "schema"]), ("--bogus", ["'--bogus'", "hemiola --help"]),
        ("analyze a --bach 3", ["'--bach'", "'--batch'", "hemiola analyze --help"]), ("analyze a -x", ["'-x'", "hemiola analyze --help"]),
        ("analyze a --batch", ["--batch <frames>", "hemiola analyze --help"]),
        ("analyze a --batch x", ["'x'", "--batch <frames>", "hemiola analyze --help"]),
        ("analyze a --quiet=3", ["--quiet", "'3'", "hemiola analyze --help"]), ("schema x y", ["'x', 'y'", "hemiola schema --help"]),
        ("doctor --foo", ["'--foo'", "hemiola doctor --help"]), ("analyze", ["no input", "--files-from"]), ("analyze ", ["empty"]),
        ("analyze - -", ["-", "once"]), ("analyze - --files-from -", ["standard input", "file"]),
        ("analyze a --control mdi:x", ["--control mdi:x", "no control source \"mdi\"", "did you mean midi?"]),
        ("analyze a --control osc:addres=1", ["--control osc:addres=1", "did you mean address?"]),
        ("analyze a --control link --output-dir b", ["--output-dir", "--control"]),
        ("analyze -0 a", ["--null", "--files-from"]),
        ("analyze a --select beat,,end", ["--select", "beat,,end"]), ("analyze a --select beet", ["\"beet\"", "beat"]),
        ("analyze a --batch 1500", ["--batch: 1500", "1280", "1536"]), ("analyze a --batch 255", ["--batch: 255", "256...8192"]),
        ("analyze a --batch 8448", ["--batch: 8448", "256...8192"]),
        ("analyze a --analyzer spectrum:bandz=3", ["spectrum:bandz=3", "bands?"]),
        ("analyze a --analyzer spectrm", ["\"spectrm\"", "spectrum"]),
        ("analyze a --analyzer key", ["\"key\"", "musical-key"]), ("analyze a --analyzer tempo", ["\"tempo\"", "beat"]),
        ("analyze a --analyzer mfcc", ["\"mfcc\"", "spectrum"]), ("analyze a --select key", ["\"key\"", "--summary", "socket"]),
        ("analyze a --select rhythm.bpm", ["\"rhythm.bpm\"", "--summary"]), ("analyze a --select tempo", ["\"tempo\"", "beat.bpm"]),
        ("analyze a --summary --select tempo", ["\"tempo\"", "bpm?"]),
        ("analyze a --summary --select lufs", ["\"lufs\"", "integrated_lufs"]),
        ("beats a b --format audacity", ["2", "{stem}", "--output-dir"]), ("beats a --tempo -o t.csv", ["t.csv", ".txt", "--summary"]),
        ("analyze a --analyzer b!", ["\"b!\"", "id:key=value"]),
        ("analyze a --analyzer spectrum:window=han,bands=3", ["spectrum:window=han", "hann?"]),
        ("analyze a --analyzer levels --analyzer levels", ["\"levels\"", "as=NAME"]),
        ("analyze a --sink json-lines --sink json-lines", ["json-lines-2", "path"]), ("send nextPrest", ["\"nextPrest\"", "nextPreset"]),
        ("send setSpeed", ["setSpeed", "\"speed\""]), ("send setSpeed speed=fast", ["speed", "\"fast\"", "number"]),
        ("send setSpeed sped=1", ["\"sped\"", "speed?"]), ("send setSpeed fast", ["speed", "\"fast\"", "number"]),
        ("send tap 1", ["\"1\"", "key=value"]), ("send setSpeed 1 2", ["\"2\"", "key=value"]),
        ("send tap --timeout 0", ["--timeout: 0.0", "3600", "hemiola send --help"]),
        ("analyze a --sink socket:/\(String(repeating: "x", count: 107))", ["socket:/xxx", "107", "shorter"]),
        ("analyze a -j -2", ["--jobs: -2", "0...256", "hemiola analyze --help"]),
        ("beats a -j257", ["--jobs: 257", "0...256", "hemiola beats --help"]), ("analyze a --duration -3", ["--duration -3", "1:30"]),
        ("analyze a --start -1:30", ["--start -1:30", "1:30"]), ("render a -o a.png --duration -3", ["--duration -3", "1:30"]),
        ("doctor --clicks 5", ["--clicks", "--latency"]), ("doctor --batch 512", ["--batch", "--latency"]),
        ("doctor --latency --clicks -5", ["--clicks: -5", "1...10000", "hemiola doctor --help"]),
        ("analyze a -o b.jsonl --output c.csv", ["--output", "b.jsonl", "c.csv", "once"]),
        ("beats a -ob -oc", ["--output", "\"b\"", "\"c\""]),
        ("render a -ob -oc", ["--output", "\"b\"", "\"c\""]), ("demo --seconds -3", ["--seconds: -3", "0.1...86400"]),
        ("demo --seed 2147483648", ["--seed: 2147483648", "0...2147483647"]),
        ("check a.yaml --no-defaults", ["--no-defaults", "pipeline file"]),
        ("analyze a -o ", ["--output", "empty"]),
    ])
    func `invalid arguments: one line that names them and the way out, exit code 2`(command: String, names: [String]) {
        let failure = failure(of: command.split(separator: " ", omittingEmptySubsequences: false).map(String.init))
        #expect(failure.lines.count == 1 && failure.status == .usage)
        for name in names { #expect(failure.lines.joined().contains(name), "\(failure.lines)") }
    }

    @Test func `name that is like no other: the line lists all there are`() {
        let registry = PluginRegistry.standard
        let lists = [
            ("frobnicate", Root.commandNames), ("schema --analyzer +nothing", registry.analyzers.map(\.about.id)),
            ("analyze a --sink foo", registry.sinks.map(\.about.id) + [SinkPlugin.terminalID]),
            ("analyze a --control foo", registry.controls.map(\.about.id)),
        ]
        for (command, names) in lists {
            let failure = failure(of: command.split(separator: " ").map(String.init))
            #expect(failure.lines.count == 1 && failure.status == .usage)
            #expect(failure.lines.joined().contains(names.joined(separator: ", ")), "\(failure.lines)")
        }
    }

    @Test func `option that is like no other: no suggestion`() {
        #expect(!failure(of: ["doctor", "--foo"]).lines.joined().contains("mean"))
    }

    @Test func `several problems in a configuration: one line each`() {
        let lines = failure(of: ["analyze", "a", "--analyzer", "spectrum:bandz=3,size=1", "--sink", "foo", "--batch", "1"]).lines
        #expect(lines.count == 4)
        #expect(lines.contains { $0.hasPrefix("--batch: 1 ") && $0.contains("256...8192") })
        #expect(lines.contains { $0.hasPrefix("--analyzer spectrum:size=1: ") })
        #expect(lines.contains { $0.hasPrefix("--analyzer spectrum:bandz=3: ") })
        #expect(lines.contains { $0.hasPrefix("--sink foo: ") })
    }

    @Test func `file name in place of a command: suggests hemiola analyze`() throws {
        let file = try TemporaryFile([1])
        let lines = failure(of: [file.path]).lines
        #expect(lines.count == 1 && lines[0].contains("hemiola analyze \(file.path)"))
    }

    @Test(
        arguments: [
            (.capture(0, "path"), "wrong", "a=b.wav: wrong"), (.analyzer(0), "wrong", "levels: wrong"),
            (.analyzer(1, "bands"), "wrong", "--analyzer spectrum:bands=3: wrong"),
            (.analyzer(1, "max_hz"), "wrong", "--analyzer spectrum:bands=3,size=512: max_hz: wrong"),
            (.sink(0, "path"), "wrong", "json-lines: path: wrong"), (.sink(), "wrong", "wrong"),
            (Place(.select), "wrong", "--select: wrong"), (.key("rate"), "wrong", "--rate: wrong"), (nil, "wrong", "wrong"),
            (.key("else.where"), "wrong", "else.where: wrong"), (.analyzer(7, "x"), "wrong", "analyzers[7].x: wrong"),
        ] as [(Place?, String, String)])
    func `place of a problem: replaced by the option text`(place: Place?, message: String, line: String) throws {
        let builder = try builder(["a=b.wav", "--analyzer", "+spectrum:bands=3,size=512"])
        #expect(builder.line(for: Problem(message, at: place)) == line)
    }

    @Test func `message of several lines: joined to one`() {
        let line = UsageError.line(for: "Unknown option '-qo'\n   or: Missing value for '-o' in '-qo'", in: ["analyze", "-qo"])
        #expect(!line.contains("\n") && line.contains("'-qo', or missing") && line.hasSuffix("hemiola analyze --help"))
        let other = UsageError.line(for: "It is wrong.", in: ["help"])
        #expect(other.hasPrefix("it is wrong") && other.hasSuffix("hemiola --help"))
    }
}

@Suite struct CommandStatusTests {
    private func outcome(
        inputs: Int = 0, sinks: Int = 0, isMisconfigured: Bool = false, stopped: Bool = false, readerIsGone: Bool = false
    ) -> RunOutcome {
        var outcome = RunOutcome()
        outcome.failedInputs = inputs
        outcome.failedSinks = sinks
        outcome.isMisconfigured = isMisconfigured
        outcome.wasStopped = stopped
        outcome.readerIsGone = readerIsGone
        return outcome
    }

    @Test func `several failures in a run: status of the most severe`() {
        #expect(CommandStatus(outcome()).rawValue == 0)
        #expect(CommandStatus(outcome(readerIsGone: true)).rawValue == 0)
        #expect(CommandStatus(outcome(inputs: 2)).rawValue == 1)
        #expect(CommandStatus(outcome(sinks: 1)).rawValue == 3)
        #expect(CommandStatus(outcome(inputs: 1, sinks: 1)).rawValue == 3)
        #expect(CommandStatus(outcome(sinks: 1, isMisconfigured: true)).rawValue == 2)
    }

    @Test(arguments: [(1, 129), (2, 130), (15, 143)] as [(Int32, Int32)])
    func `ended by a signal: status 128 + signal number`(number: Int32, code: Int32) {
        #expect(CommandStatus(outcome(inputs: 1, stopped: true), signal: number).rawValue == code)
    }

    @Test func `invalid arguments: status 2`() {
        #expect(CommandStatus.usage.rawValue == 2)
        #expect(Failure("wrong").status == .usage)
    }
}

@Suite struct NoticeTests {
    @Test(arguments: [
        (PipelineNotice.inputFailed(input: "a.wav", Problem("no sound file")), ["a.wav: no sound file"]),
        (.gap(input: "a.wav", at: 1.5, duration: 0.25, frames: 11_025, reason: .truncatedFile), ["a.wav", "1.5 s", "0.25 s"]),
        (.gap(input: "a.wav", at: 1.5, duration: 0.00002, frames: 1, reason: .truncatedFile), ["a.wav", "1.5 s", "1 frame "]),
        (.gap(input: "mic", at: 1.5, duration: 0.0004, frames: 19, reason: .stopped), ["mic", "1.5 s", "19 frames"]),
        (.gap(input: "a.wav", at: 1.5, duration: 0, frames: 0, reason: .truncatedFile), ["a.wav", "cut off", "1.5 s"]),
        (.gap(input: "a.ogg", at: 1.5, duration: 0.25, frames: 11_025, reason: .damagedFile), ["a.ogg", "0.25 s", "1.5 s"]),
        (.gap(input: "a.ogg", at: 1.5, duration: 0, frames: 0, reason: .damagedFile), ["a.ogg", "unknown length", "1.5 s"]),
        (.gap(input: "a.au", at: 1.5, duration: 0, frames: 0, reason: .falseLength), ["a.au", "header"]),
        (.damage(input: "a.mp3", places: 3, first: 1.5, duration: 2.25, frames: 99_225), ["a.mp3", "3 parts", "2.25 s", "1.5 s"]),
        (.gap(input: "mic", at: 12.34567, duration: 0.5, frames: 22_050, reason: .overrun), ["mic", "0.5 s", "12.346 s", "overrun"]),
        (.sinkFailed(sink: "socket", Problem("cannot write x: no")), ["cannot write x: no"]),
        (.finished(input: "a.wav", StreamSummary(frames: 9, batches: 1, reason: .endOfInput), seconds: 1), ["a.wav", "1 batch"]),
        (
            .finished(input: "a.wav", StreamSummary(frames: 9, batches: 2, reason: .interrupted), seconds: 1),
            ["a.wav", "2 batches", "interrupted"]
        ),
    ])
    func `notice: one line with the input and what happened`(notice: PipelineNotice, parts: [String]) {
        #expect(!notice.text.contains("\n"))
        for part in parts { #expect(notice.text.contains(part), "\(notice.text)") }
    }

    @Test func `error that names its input: the name is not repeated`() {
        let problem = Problem("cannot open a.wav: no")
        #expect(PipelineNotice.inputFailed(input: "a.wav", problem).text == problem.message)
    }
}
