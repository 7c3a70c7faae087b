internal import ArgumentParser
internal import Hemiola
internal import HemiolaSignal

/// Which files.
struct InputOptions: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "Sound files; - is standard input, a WAV stream or with --raw bare samples. After -- a name may begin with -.",
            valueName: "file"),
        completion: .file())
    var files: [String] = []

    @Option(
        help: ArgumentHelp(
            "Also the files in this list, a name per line, relative to the working directory; - is standard input.",
            valueName: "list"),
        completion: .file())
    var filesFrom: String?

    @Flag(name: [.customShort("0"), .customLong("null")], help: "The list is NUL-separated, as from find -print0.")
    var isNullSeparated = false

    @Option(
        help: ArgumentHelp(
            "The files are bare samples: encoding, sample rate and channels, as in f32le,44100,2.", valueName: "layout"))
    var raw: String?

    @Option(
        help: ArgumentHelp(
            "Begin at this time of each file, in seconds or as [h:]mm:ss (90, 1:30, 1:02:03.5); t counts from there.",
            valueName: "time"))
    var start: String?

    @Option(help: ArgumentHelp("Analyse this much of each file, in seconds or as [h:]mm:ss.", valueName: "time"))
    var duration: String?

    @Option(
        name: [.customShort("j", allowingJoined: true), .long], parsing: .unconditional,
        help: ArgumentHelp(
            "Files to analyse at a time; 0: as many as there are processors. The output is the same.", valueName: "number"))
    var jobs = Self.defaultJobs

    static let defaultJobs = 1

    /// Whether a file or a list was named.
    var isGiven: Bool { !files.isEmpty || filesFrom != nil || isNullSeparated || raw != nil }

    /// All names, in order.
    func names() throws(Failure) -> [String] {
        var names = files
        if let filesFrom {
            if filesFrom == "-" && files.contains("-") {
                throw Failure("standard input cannot be both the list and a sound file; give one of them a name")
            }
            names += try FileList.names(in: filesFrom, isNullSeparated: isNullSeparated)
        } else if isNullSeparated {
            throw Failure("--null says how a list is separated; name the list with --files-from")
        }
        guard !names.isEmpty else { throw Failure("there is nothing to analyse; name a file, or a list with --files-from") }
        if names.contains("") { throw Failure("a file name is empty; is a variable of the shell unset?") }
        if names.count(where: { $0 == "-" }) > 1 { throw Failure("standard input can be analysed only once; name - once") }
        return names
    }
}

extension InputOptions {
    /// The capture of every input, in order.
    func captures() throws(Failure) -> [PluginSpec] {
        let start = try start.map { text throws(Failure) in try Self.seconds(text, of: "--start") }
        let duration = try duration.map { text throws(Failure) in try Self.seconds(text, of: "--duration") }
        var specs: [PluginSpec] = []
        for name in try names() {
            var spec = captureSpec(for: name, raw: raw)
            if start != nil || duration != nil {
                guard spec.id == "file" else {
                    throw Failure(
                        "\(PathText.shown(name)): --start and --duration need a sound file, not a stream or bare samples; "
                            + "to cut a stream: ffmpeg -ss START -t DURATION")
                }
                spec.settings["start"] = start.map { .number($0) }
                spec.settings["duration"] = duration.map { .number($0) }
            }
            specs.append(spec)
        }
        return specs
    }

    /// Seconds from `90`, `1:30` or `1:02:03.5`.
    static func seconds(_ text: String, of option: String) throws(Failure) -> Double {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { part in
            part.allSatisfy { $0.isASCII && ($0.isNumber || $0 == ".") } ? Double(part) : nil
        }
        guard numbers.count == parts.count, (1...3).contains(parts.count),
            parts.count == 1 || numbers.dropFirst().allSatisfy({ $0 < 60 }) && !parts.dropLast().contains(where: { $0.contains(".") })
        else { throw Failure("\(option) \(text): is no time; write seconds or [h:]mm:ss, as in 90, 1:30 or 1:02:03.5") }
        return numbers.reduce(0) { $0 * 60 + $1 }
    }
}

/// What is heard, and where it goes.
struct PipelineOptions: ParsableArguments {
    @OptionGroup var analyzing: AnalyzerOptions

    @Option(
        name: .customLong("sink"),
        help: ArgumentHelp(
            "Where records go instead of standard output; repeatable (json-lines: standard output as well).",
            valueName: "spec"), completion: Completions.sink)
    var sinks: [String] = []

    @Option(
        name: [.customShort("o", allowingJoined: true), .long],
        help: ArgumentHelp(
            "Write to this file what would go to standard output; .csv: as a table. {stem}, {name}, {dir} and {time} are placeholders.",
            valueName: "path"), completion: .file())
    var output: String?

    @OptionGroup var writing: WritingOptions

    @Option(
        help: ArgumentHelp(
            "Only these records: types, analyzers, features (beat,levels.rms_db); joined with , or +, repeatable.",
            valueName: "items"), completion: Completions.selection)
    var select: [String] = []

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Frames per batch: 256...8192, above 1024 a multiple of 256.", valueName: "frames"))
    var batch = Batching.defaultFrames

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The seed of everything that is random; unset: 0, live another every time.", valueName: "number"))
    var seed: UInt64?
}

/// How files are written.
struct WritingOptions: ParsableArguments {
    @Flag(help: "Return only when the files that were written are on the disk (fsync).")
    var sync = false
}

/// Which analyzers.
struct AnalyzerOptions: ParsableArguments {
    @Option(
        name: .customLong("analyzer"),
        help: ArgumentHelp(
            "An analyzer, instead of the default ones (levels, spectrum, visualizer, beat); +spec: besides them; repeatable.",
            valueName: "spec"), completion: Completions.analyzer)
    var analyzers: [String] = []
}

/// How much a person reads on standard error.
struct ConsoleOptions: ParsableArguments {
    @Flag(
        name: .shortAndLong,
        help: "No progress bar and no warnings, but errors and lost audio.")
    var quiet = false

    @Flag(name: .shortAndLong, help: "Tell what runs and how each file went; twice: also every setting.")
    var verbose: Int

    var verbosity: Console.Verbosity {
        Console.Verbosity(isQuiet: quiet, detail: verbose)
    }
}
