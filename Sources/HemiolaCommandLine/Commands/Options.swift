internal import ArgumentParser
internal import Hemiola

/// The input files of `analyze` and `beats`.
struct InputOptions: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "Sound files, and folders whose sound files are read. - reads standard input: a WAV stream, or raw samples with --raw. Write ./ "
                + "before names that begin with -.",
            valueName: "file"),
        completion: .file())
    var files: [String] = []

    @Option(
        help: ArgumentHelp(
            "Read more file names from this file, one per line. They are relative to the working directory; - reads standard input and "
                + "analyses each file as its name arrives.",
            valueName: "list"),
        completion: .file())
    var filesFrom: String?

    @Flag(name: [.customShort("0"), .customLong("null")], help: "Names in the list end with NUL, as of find -print0.")
    var isNullSeparated = false

    @Option(
        help: ArgumentHelp(
            "Read files as raw samples, as in f32le,44100,2. That is the encoding, the sample rate in Hz and the channels; there is no header.",
            valueName: "layout")
    )
    var raw: String?

    @OptionGroup var excerpt: ExcerptOptions

    @Option(
        name: [.customShort("j", allowingJoined: true), .long], parsing: .unconditional,
        help: ArgumentHelp(
            "Number of files to analyse in parallel; 0: one per processor. Does not change the output. Default: all processors less one.",
            valueName: "number"))
    var jobs: Int?

    /// The range of `--jobs`; the engine accepts these numbers, and 0 is replaced before.
    private static let jobCounts = 0...256

    func validate() throws {
        guard let jobs, !Self.jobCounts.contains(jobs) else { return }
        throw ValidationError("--jobs: \(jobs) is outside 0...256 files at a time; 0 is one per processor")
    }

    var jobCount: Int { jobs.map { $0 == 0 ? CurrentProcess.processorCount : $0 } ?? Self.defaultJobCount }

    /// All processors less one, so that the computer stays responsive.
    static var defaultJobCount: Int { max(1, min(CurrentProcess.processorCount - 1, jobCounts.upperBound)) }

    /// Whether the arguments name a file or a list.
    var isGiven: Bool { !files.isEmpty || filesFrom != nil || isNullSeparated || raw != nil }

    /// All names, in order.
    func names() throws(Failure) -> [String] {
        var names = files
        if let filesFrom {
            if filesFrom == "-" && files.contains("-") {
                throw Failure("standard input cannot be both the list and a sound file; use a file for one of them")
            }
            names += try FileList.names(in: filesFrom, isNullSeparated: isNullSeparated)
        } else if isNullSeparated {
            throw Failure("--null needs a list; name it with --files-from")
        }
        guard !names.isEmpty else { throw Failure("no input files; name a file, or a list with --files-from") }
        try check(names)
        return names
    }

    private func check(_ names: [String]) throws(Failure) {
        if names.contains("") { throw Failure("a file name is empty; is a variable of the shell unset?") }
        if names.count(where: { $0 == "-" }) > 1 { throw Failure("- is given more than once; standard input can be read only once") }
        if raw != nil, let folder = files.first(where: FileSystem.isFolder) {
            throw Failure("\(PathText.shown(folder)): --raw needs the names of files, not a folder")
        }
    }

    /// All names, in order. Those of `files` may be folders, those of the list are files.
    func inputs(_ types: FileTypes?) throws(Failure) -> CorpusInputs {
        let names = try names()
        return CorpusInputs(names, fileCount: names.count - files.count, types: types ?? .none)
    }

    /// The inputs that become known while the pipeline runs: names that arrive on standard input, and the files of folders.
    ///
    /// - Returns: nil when all inputs are named.
    func source(_ types: FileTypes?) throws(Failure) -> OrderedSource? {
        let readsList = filesFrom == "-"
        guard readsList || files.contains(where: FileSystem.isFolder) else { return nil }
        guard !readsList || !files.contains("-") else {
            _ = try names()
            return nil
        }
        let inputs = readsList ? CorpusInputs(files, types: types ?? .none) : try inputs(types)
        try check(files)
        return try OrderedSource(inputs, readsList: readsList, isNullSeparated: isNullSeparated, spec: try spec())
    }
}

extension InputOptions {
    /// The capture of every input, in order, and by path why an entry of a folder cannot be read: a link that leads to no file, or a folder.
    func captures(_ types: FileTypes?) throws(Failure) -> (captures: [PluginSpec], faults: [String: Problem]) {
        let spec = try spec()
        var specs: [PluginSpec] = []
        var faults: [String: Problem] = [:]
        guard files.contains(where: FileSystem.isFolder) else {
            for name in try names() { specs.append(try spec(name)) }
            return (specs, faults)
        }
        var inputs = try inputs(types)
        while let item = inputs.next() {
            switch item {
            case .file(let path, _): specs.append(try spec(path))
            case .failure(let path, let problem):
                specs.append(try spec(path))
                faults[path] = problem
            }
        }
        guard !specs.isEmpty else { throw Failure(inputs.emptyText, status: .inputFailed) }
        return (specs, faults)
    }

    /// Makes the capture of a file.
    func spec() throws(Failure) -> @Sendable (String) throws(Failure) -> PluginSpec {
        let (start, duration) = (try excerpt.startSeconds, try excerpt.durationSeconds)
        return { [raw] name throws(Failure) in
            var spec = captureSpec(for: name, raw: raw)
            if start != nil || duration != nil {
                guard spec.id == "file" else {
                    throw Failure(
                        "\(PathText.shown(name)): --start and --duration need a sound file, not a stream or raw samples; "
                            + "to cut a stream: ffmpeg -ss START -t DURATION")
                }
                spec.settings["start"] = start.map { .number($0) }
                spec.settings["duration"] = duration.map { .number($0) }
            }
            return spec
        }
    }
}

/// The part of an input: `--start` and `--duration`.
struct ExcerptOptions: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Start each file at this time, seconds or [h:]mm:ss. Examples: 90, 1:30, 1:02:03.5. Times in the records count from there.",
            valueName: "time"))
    var start: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("At most this much of each file, seconds or [h:]mm:ss.", valueName: "time"))
    var duration: String?

    /// The value of `--start` in seconds; nil: it is not given.
    var startSeconds: Double? { get throws(Failure) { try Self.seconds(start, of: "--start") } }
    /// The value of `--duration` in seconds; nil: it is not given.
    var durationSeconds: Double? { get throws(Failure) { try Self.seconds(duration, of: "--duration") } }

    /// Seconds from `90`, `1:30` or `1:02:03.5`; nil: the option is not given.
    static func seconds(_ text: String?, of option: String) throws(Failure) -> Double? {
        guard let text else { return nil }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { part in
            part.allSatisfy { $0.isASCII && ($0.isNumber || $0 == ".") } ? Double(part) : nil
        }
        guard numbers.count == parts.count, (1...3).contains(parts.count),
            parts.count == 1 || numbers.dropFirst().allSatisfy({ $0 < 60 }) && !parts.dropLast().contains(where: { $0.contains(".") })
        else { throw Failure("\(option) \(text): not a time; write seconds or [h:]mm:ss, as in 90, 1:30 or 1:02:03.5") }
        return numbers.reduce(0) { $0 * 60 + $1 }
    }
}

/// `--capture`: inputs other than files and devices.
struct CaptureOptions: ParsableArguments {
    @Option(
        name: .customLong("capture"),
        help: ArgumentHelp(
            "Read from this capture plugin, as in tone:sine; repeatable. Another one: pcm:path=-,raw=f32le:44100:2. List: \"hemiola plugins\".",
            valueName: "spec"), completion: Completions.capture)
    var captures: [String] = []
}

/// Whether inputs are read as a whole before results are written: `--whole-file` and `--causal`.
struct LookAheadOptions: ParsableArguments {
    @Flag(help: "Read each input as a whole first, for better results. The default for files.")
    var wholeFile = false

    @Flag(
        help: """
            Use the preceding audio only, as "listen" does. The default for pipes, in real time and with live sinks.
            """)
    var causal = false

    func validate() throws {
        if wholeFile && causal { throw ValidationError("--whole-file and --causal exclude each other; leave one out") }
    }

    /// As in the configuration of a pipeline; nil: neither is given.
    var usesLookAhead: Bool? { wholeFile ? true : causal ? false : nil }
}

/// Analyzers, sinks, control sources and batch size of `analyze` and `listen`.
struct PipelineOptions: ParsableArguments {
    @OptionGroup var analyzing: AnalyzerOptions

    @OptionGroup var writing: OutputOptions

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Frames per batch, 256...8192; above 1024 a multiple of 256.", valueName: "frames"))
    var batch = Batching.defaultFrames

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Seed of the random number generators. Default: 0 for files, a new seed per run for live input.", valueName: "number"))
    var seed: UInt64?
}

/// Sinks, output file, control sources and records of `analyze`, `listen` and `replay`.
struct OutputOptions: ParsableArguments {
    @Option(
        name: .customLong("sink"),
        help: ArgumentHelp(
            "Write records to this sink instead of standard output; repeatable. Add json-lines to keep standard output as well.",
            valueName: "spec"), completion: Completions.sink)
    var sinks: [String] = []

    @Option(
        name: [.customShort("o", allowingJoined: true), .customLong("output")],
        help: ArgumentHelp(
            "Write to a file: .jsonl, .csv (table) or .mid (notes). Default: standard output. Placeholders: {stem}, {name}, {dir}, {time}.",
            valueName: "path"), completion: .file())
    var outputs: [String] = []

    @Option(
        name: .customLong("control"),
        help: ArgumentHelp(
            "Receive controls from this source; repeatable. As in midi:DEVICE (tap, nudge, presets, speed), osc:9001, or link for the tempo "
                + "of Ableton Link.",
            valueName: "spec"), completion: Completions.controlSource)
    var controls: [String] = []

    var output: String? { outputs.first }

    /// Whether a run in real time shows the view: standard output is a terminal that can move its cursor, and no option says what to
    /// write.
    ///
    /// - Parameter terminal: The value of TERM.
    func showsView(on output: FileDescriptor.Destination, terminal: String?) -> Bool {
        sinks.isEmpty && outputs.isEmpty && select.isEmpty && output == .terminal && FileDescriptor.canMoveCursor(terminal)
    }

    /// The same for this process.
    var showsView: Bool { showsView(on: FileDescriptor.standardOutput.destination, terminal: EnvironmentVariable.value("TERM")) }

    func validate() throws {
        try Self.checkSingle(outputs)
    }

    /// - Throws: `--output` is given more than once.
    static func checkSingle(_ outputs: [String]) throws {
        guard outputs.count > 1 else { return }
        let names = outputs.map { "\"\(PathText.shown($0))\"" }.joined(separator: " and ")
        throw ValidationError("--output is given \(outputs.count) times, as \(names); give it once")
    }

    @OptionGroup var durability: WritingOptions

    @Option(
        help: ArgumentHelp(
            "Write only these, as in beat,levels.rms_db; repeatable. Items are record types, analyzers or features, joined with , or +; "
                + "with --summary they are its values, as in title,rhythm.bpm,loudness.",
            valueName: "items"), completion: Completions.selection)
    var select: [String] = []
}

/// Durability of output files.
struct WritingOptions: ParsableArguments {
    @Flag(help: "Write output files to the disk (fsync) before exiting.")
    var sync = false
}

/// The analyzers of a pipeline.
struct AnalyzerOptions: ParsableArguments {
    @Option(
        name: .customLong("analyzer"),
        help: ArgumentHelp(
            "Use this analyzer, as +<spec> beside the default ones; repeatable. Those are levels, spectrum, visualizer and beat.",
            valueName: "spec"), completion: Completions.analyzer)
    var analyzers: [String] = []
}

/// How much is printed on standard error.
struct ConsoleOptions: ParsableArguments {
    @Flag(
        name: .shortAndLong,
        help: "Print no warnings and no progress bar; only errors, lost audio, and the URL of a page that no browser was opened for.")
    var quiet = false

    @Flag(name: .shortAndLong, help: "Print the pipeline and a summary per file; -vv also prints all settings.")
    var verbose: Int

    var verbosity: Console.Verbosity {
        Console.Verbosity(isQuiet: quiet, detail: verbose)
    }
}
