import ArgumentParser
import Hemiola
import HemiolaEngine
import HemiolaPlugins
import HemiolaRecords
import HemiolaSignal
import HemiolaSystem
import Testing

@testable import HemiolaCommandLine

/// The ids of all sinks: those of the plugins, and that of the command line.
private let sinks = (PluginRegistry.standard.sinks.map(\.about.id) + [SinkPlugin.terminalID]).joined(separator: ", ")

@Suite struct ErrorTests {
    /// The messages without `hemiola: `, and the exit code.
    private func failure(of arguments: [String]) -> (lines: [String], status: CommandStatus) {
        let log = Log()
        let status = Root.run(arguments, with: .standard, on: Console { log.append($0) })
        return (log.text.split(separator: "\n").map { String($0.trimmingPrefix("hemiola: ")) }, status)
    }

    @Test(arguments: [
        (["analyse", "x"], "unknown command \"analyse\"; did you mean analyze?"),
        (["help", "shema"], "unknown command \"shema\"; did you mean schema?"),
        (
            ["frobnicate"],
            "unknown command \"frobnicate\"; commands: analyze, listen, beats, render, replay, devices, run, check, "
                + "evaluate, send, window, plugins, presets, demo, doctor, schema, help"
        ),
        (["--bogus"], "unknown option '--bogus'; see hemiola --help"),
        (["analyze", "a", "--bach", "3"], "unknown option '--bach'; did you mean '--batch'? See hemiola analyze --help"),
        (["analyze", "a", "-x"], "unknown option '-x'; see hemiola analyze --help"),
        (["analyze", "a", "--batch"], "missing value for '--batch <frames>'; see hemiola analyze --help"),
        (["analyze", "a", "--batch", "x"], "the value 'x' is invalid for '--batch <frames>'; see hemiola analyze --help"),
        (["analyze", "a", "--quiet=3"], "the option '--quiet' does not take any value, but '3' was specified; see hemiola analyze --help"),
        (["schema", "x", "y"], "2 unexpected arguments: 'x', 'y'; see hemiola schema --help"),
        (["analyze"], "no input files; name a file, or a list with --files-from"),
        (["analyze", ""], "a file name is empty; is a variable of the shell unset?"),
        (["analyze", "-", "-"], "- is given more than once; standard input can be read only once"),
        (["analyze", "-", "--files-from", "-"], "standard input cannot be both the list and a sound file; use a file for one of them"),
        (["analyze", "-0", "a"], "--null needs a list; name it with --files-from"),
        (["analyze", "a", "--select", "beat,,end"], "--select: empty item in \"beat,,end\"; write --select beat,levels"),
        (
            ["analyze", "a", "--select", "beet"],
            "--select: \"beet\" is not a record type, analyzer or feature of this pipeline; did you mean beat?"
        ),
        (["analyze", "a", "--batch", "1500"], "--batch: 1500 is above 1024 and not a multiple of 256 frames; use 1280 or 1536"),
        (["analyze", "a", "--batch", "255"], "--batch: 255 is outside 256...8192 frames"),
        (["analyze", "a", "--batch", "8448"], "--batch: 8448 is outside 256...8192 frames"),
        (
            ["analyze", "a", "--analyzer", "spectrum:bandz=3"],
            "--analyzer spectrum:bandz=3: spectrum has no such setting; did you mean bands?"
        ),
        (["analyze", "a", "--analyzer", "spectrm"], "--analyzer spectrm: there is no analyzer \"spectrm\"; did you mean spectrum?"),
        (["analyze", "a", "--analyzer", "key"], "--analyzer key: there is no analyzer \"key\"; did you mean musical-key?"),
        (["analyze", "a", "--analyzer", "tempo"], "--analyzer tempo: there is no analyzer \"tempo\"; did you mean beat?"),
        (["analyze", "a", "--analyzer", "mfcc"], "--analyzer mfcc: there is no analyzer \"mfcc\"; did you mean spectrum?"),
        (
            ["analyze", "a", "--select", "key"],
            "--select: nothing in this pipeline has \"key\"; add --summary for that of each file, or the sink: socket, web"
        ),
        (
            ["analyze", "a", "--select", "rhythm.bpm"],
            "--select: \"rhythm.bpm\" is not a record type, analyzer or feature of this pipeline; it is a value of a whole file: add "
                + "--summary, or the sink summary"
        ),
        (
            ["analyze", "a", "--select", "tempo"],
            "--select: \"tempo\" is not a record type, analyzer or feature of this pipeline; did you mean beat.bpm?"
        ),
        (["analyze", "a", "--summary", "--select", "tempo"], "--select: \"tempo\" is no value of a summary; did you mean bpm?"),
        (
            ["analyze", "a", "--summary", "--select", "lufs"],
            "--select: \"lufs\" is no value of a summary; did you mean integrated_lufs?"
        ),
        (
            ["beats", "a", "b", "--format", "audacity"],
            "beats: standard output is for the result of one input, but there are 2; "
                + "write a file for each, with {stem} in the path of -o, or use --output-dir"
        ),
        (
            ["beats", "a", "--tempo", "-o", "t.csv"],
            "--output t.csv: tempi are lines of text, which .csv is not; use .txt, or for a table: hemiola analyze FILE --summary --select "
                + "rhythm.bpm -o tempo.csv"
        ),
        (["analyze", "a", "--analyzer", "b!"], "--analyzer: \"b!\" is no plugin SPEC; write id or id:key=value,key=value"),
        (
            ["analyze", "a", "--analyzer", "spectrum:window=han,bands=3"],
            "--analyzer spectrum:window=han: \"han\" is not one of hann, hamming, blackman-harris, rectangular; did you mean hann?"
        ),
        (
            ["analyze", "a", "--analyzer", "levels", "--analyzer", "levels"],
            "--analyzer levels: two analyzers have the name \"levels\"; rename one with as=NAME"
        ),
        (
            ["analyze", "a", "--sink", "foo"],
            "--sink foo: there is no sink \"foo\"; there are: \(sinks)"
        ),
        (
            ["analyze", "a", "--sink", "json-lines", "--sink", "json-lines"],
            "json-lines and json-lines-2 both write to standard output; use a path for one of them"
        ),
        (["send", "nextPrest"], "unknown message \"nextPrest\"; did you mean nextPreset?"),
        (["send", "setSpeed"], "the control setSpeed needs its \"speed\""),
        (["send", "setSpeed", "speed=fast"], "speed: \"fast\" is not a number"),
        (["send", "setSpeed", "sped=1"], "setSpeed has no field \"sped\"; did you mean speed?"),
        (["send", "setSpeed", "fast"], "speed: \"fast\" is not a number"),
        (["send", "tap", "1"], "\"1\" is not key=value; tap has no field"),
        (["send", "setSpeed", "1", "2"], "\"2\" is not key=value; write key=value, or the value alone first"),
        (["send", "tap", "--timeout", "0"], "--timeout: 0.0 is not above 0 and at most 3600 seconds; see hemiola send --help"),
        (
            ["analyze", "a", "--sink", "socket:/\(String(repeating: "x", count: 107))"],
            "--sink socket:/\(String(repeating: "x", count: 107)): path: the socket path is too long: 108 bytes, "
                + "maximum 107; use a shorter path"
        ),
        (
            ["analyze", "a", "-j", "-2"],
            "--jobs: -2 is outside 0...256 files at a time; 0 is one per processor; see hemiola analyze --help"
        ),
        (["beats", "a", "-j257"], "--jobs: 257 is outside 0...256 files at a time; 0 is one per processor; see hemiola beats --help"),
        (["analyze", "a", "--duration", "-3"], "--duration -3: not a time; write seconds or [h:]mm:ss, as in 90, 1:30 or 1:02:03.5"),
        (["analyze", "a", "--start", "-1:30"], "--start -1:30: not a time; write seconds or [h:]mm:ss, as in 90, 1:30 or 1:02:03.5"),
        (
            ["render", "a", "-o", "a.png", "--duration", "-3"],
            "--duration -3: not a time; write seconds or [h:]mm:ss, as in 90, 1:30 or 1:02:03.5"
        ),
        (["doctor", "--clicks", "5"], "--clicks needs --latency, the measurement that it belongs to; see hemiola doctor --help"),
        (["doctor", "--batch", "512"], "--batch needs --latency, the measurement that it belongs to; see hemiola doctor --help"),
        (["doctor", "--latency", "--clicks", "-5"], "--clicks: -5 is outside 1...10000; see hemiola doctor --help"),
        (
            ["analyze", "a", "-o", "b.jsonl", "--output", "c.csv"],
            "--output is given 2 times, as \"b.jsonl\" and \"c.csv\"; give it once; see hemiola analyze --help"
        ),
        (["beats", "a", "-ob", "-oc"], "--output is given 2 times, as \"b\" and \"c\"; give it once; see hemiola beats --help"),
        (["render", "a", "-ob", "-oc"], "--output is given 2 times, as \"b\" and \"c\"; give it once; see hemiola render --help"),
        (["demo", "--seconds", "-3"], "--seconds: -3.0 is outside 0.1...86400 seconds; see hemiola demo --help"),
        (["demo", "--seed", "2147483648"], "--seed: 2147483648 is outside 0...2147483647; see hemiola demo --help"),
        (
            ["check", "a.yaml", "--no-defaults"],
            "--no-defaults needs no pipeline file: pipeline files do not use the defaults file; see hemiola check --help"
        ),
        (["analyze", "a", "-o", ""], "--output: the path is empty; is a variable of the shell unset?"),
        (
            ["schema", "--analyzer", "+nothing"],
            "--analyzer nothing: there is no analyzer \"nothing\"; there are: levels, loudness, silence, spectrum, visualizer, beat, "
                + "cqt, chroma, musical-key, chords, pitch, structure, vamp, exec"
        ),
    ])
    func `invalid arguments: one line, exit code 2`(arguments: [String], line: String) {
        let failure = failure(of: arguments)
        #expect(failure.lines == [line])
        #expect(failure.status == .usage)
    }

    @Test func `several problems in a configuration: one line each`() {
        let lines = failure(of: ["analyze", "a", "--analyzer", "spectrum:bandz=3,size=1", "--sink", "foo", "--batch", "1"]).lines
        #expect(lines.count == 4)
        #expect(lines.contains("--batch: 1 is outside 256...8192 frames"))
        #expect(lines.contains { $0.hasPrefix("--analyzer spectrum:size=1: ") })
        #expect(lines.contains { $0.hasPrefix("--analyzer spectrum:bandz=3: ") })
        #expect(lines.contains { $0.hasPrefix("--sink foo: ") })
    }

    @Test func `file name in place of a command: suggests hemiola analyze`() throws {
        let file = try TemporaryFile([1])
        let lines = failure(of: [file.path]).lines
        #expect(lines == ["unknown command \"\(file.path)\"; to analyse that file: hemiola analyze \(file.path)"])
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
        #expect(
            UsageError.line(for: "Unknown option '-qo'\n   or: Missing value for '-o' in '-qo'", in: ["analyze", "-qo"])
                == "unknown option '-qo', or missing value for '-o' in '-qo'; see hemiola analyze --help")
        #expect(UsageError.line(for: "It is wrong.", in: ["help"]) == "it is wrong; see hemiola --help")
    }
}

@Suite struct CommandStatusTests {
    private func outcome(inputs: Int = 0, sinks: Int = 0, stopped: Bool = false, readerIsGone: Bool = false) -> RunOutcome {
        var outcome = RunOutcome()
        outcome.failedInputs = inputs
        outcome.failedSinks = sinks
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
        (PipelineNotice.captureFailed(input: "a.wav", Problem("cannot open a.wav: no")), "cannot open a.wav: no"),
        (.captureFailed(input: "a.wav", Problem("no sound file")), "a.wav: no sound file"),
        (.analyzerRefused(input: "a.wav", Problem("too many channels")), "a.wav: too many channels"),
        (
            .gap(input: "a.wav", at: 1.5, duration: 0.25, frames: 11_025, reason: .truncatedFile),
            "a.wav: the file ends at 1.5 s, 0.25 s too early; the audio before was analysed"
        ),
        (
            .gap(input: "a.wav", at: 1.5, duration: 0.00002, frames: 1, reason: .truncatedFile),
            "a.wav: the file ends at 1.5 s, 1 frame too early; the audio before was analysed"
        ),
        (
            .gap(input: "mic", at: 1.5, duration: 0.0004, frames: 19, reason: .stopped),
            "mic: 19 frames of sound were lost at 1.5 s: hemiola did not run: it was stopped, the computer slept, or other programs kept "
                + "the processor busy"
        ),
        (
            .gap(input: "a.wav", at: 1.5, duration: 0, frames: 0, reason: .truncatedFile),
            "a.wav: the file is cut off at 1.5 s; the audio before was analysed"
        ),
        (
            .gap(input: "a.ogg", at: 1.5, duration: 0.25, frames: 11_025, reason: .damagedFile),
            "a.ogg: 0.25 s of sound are missing or damaged at 1.5 s; the rest was analysed"
        ),
        (
            .gap(input: "a.ogg", at: 1.5, duration: 0, frames: 0, reason: .damagedFile),
            "a.ogg: sound of unknown length is missing or damaged at 1.5 s; the rest was analysed"
        ),
        (
            .gap(input: "a.au", at: 1.5, duration: 0, frames: 0, reason: .falseLength),
            "a.au: contains more sound than its header declares; all of it was analysed"
        ),
        (
            .damage(input: "a.mp3", places: 3, first: 1.5, duration: 2.25, frames: 99_225),
            "a.mp3: 3 parts are missing or damaged, 2.25 s in all, the first at 1.5 s; the rest was analysed"
        ),
        (
            .gap(input: "mic", at: 12.34567, duration: 0.5, frames: 22_050, reason: .overrun),
            "mic: 0.5 s of sound were lost at 12.346 s (overrun)"
        ),
        (.nonFinite(input: "a.wav", samples: 1), "a.wav: 1 sample was NaN or infinite and replaced by 0"),
        (.nonFinite(input: "a.wav", samples: 12), "a.wav: 12 samples were NaN or infinite and replaced by 0"),
        (.sinkFailed(sink: "socket", Problem("cannot write x: no")), "cannot write x: no"),
        (.sinkTrouble(sink: "socket", Problem("cannot write x: no")), "cannot write x: no; retrying"),
        (.sinkRecovered(sink: "socket"), "socket: recovered"),
        (.pacing(sink: "socket"), "socket requires real time: processing at real-time speed"),
        (.finished(input: "a.wav", StreamSummary(frames: 9, batches: 1, reason: .endOfInput)), "a.wav: 1 batch"),
        (.finished(input: "a.wav", StreamSummary(frames: 9, batches: 2, reason: .interrupted)), "a.wav: 2 batches (interrupted)"),
    ])
    func `notice: printed as one line`(notice: PipelineNotice, line: String) {
        #expect(notice.text == line)
    }
}
