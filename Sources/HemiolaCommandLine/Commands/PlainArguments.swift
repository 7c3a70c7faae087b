internal import ArgumentParser
internal import HemiolaSignal

/// Arguments of `analyze` in their plainest form, which need no argument parser: files, `-q`, and some options with a value.
///
/// The argument parser reflects over every property of every option group, and each new type takes the Swift runtime a search
/// through all conformances in the program: 45 % of the processor time from the start of the program to its first record. `analyze`
/// is often run once per file from a shell loop, so its most frequent arguments are read here. All other arguments, all errors and
/// all help are the argument parser's. `PlainArgumentsTests` compares the two.
struct PlainArguments {
    private(set) var files: [String] = []
    private(set) var analyzers: [String] = []
    private(set) var sinks: [String] = []
    private(set) var selections: [String] = []
    private(set) var output: String?
    private(set) var isQuiet = false

    /// - Parameter arguments: Those after the command's name.
    /// - Returns: nil for any argument that is not in plain form.
    init?(_ arguments: ArraySlice<String>) {
        var rest = arguments.makeIterator()
        while let argument = rest.next() {
            guard argument.utf8.first == UInt8(ascii: "-") else {
                files.append(argument)
                continue
            }
            if argument == "-q" || argument == "--quiet" {
                isQuiet = true
                continue
            }
            // The argument parser decides about a value that looks like an option.
            guard let value = rest.next(), value.utf8.first != UInt8(ascii: "-") else { return nil }
            switch argument {
            case "--analyzer": analyzers.append(value)
            case "--sink": sinks.append(value)
            case "--select": selections.append(value)
            case "-o", "--output":
                if output != nil { return nil }
                output = value
            default: return nil
            }
        }
    }
}

// Each initializer sets every property of its group: reading one that is not set would end the process.

extension AnalyzeCommand {
    /// - Parameter arguments: Those of the process, the command's name first.
    /// - Returns: nil for another command, and for arguments that are not in plain form.
    init?(plain arguments: [String]) {
        guard arguments.first == Self.configuration.commandName, let plain = PlainArguments(arguments.dropFirst()) else { return nil }
        self.init()
        input = InputOptions(plain)
        capture = CaptureOptions()
        capture.captures = []
        options = PipelineOptions(plain)
        corpus = CorpusOptions()
        corpus.outputDir = nil
        corpus.outputFormat = nil
        corpus.resume = false
        realtime = false
        (wholeFile, summary) = (false, false)
        replay = ReplayOptions()
        replay.controls = nil
        console = ConsoleOptions()
        console.quiet = plain.isQuiet
        console.verbose = 0
    }
}

extension InputOptions {
    fileprivate init(_ plain: PlainArguments) {
        self.init()
        files = plain.files
        filesFrom = nil
        isNullSeparated = false
        raw = nil
        start = nil
        duration = nil
        jobs = Self.defaultJobs
    }
}

extension PipelineOptions {
    fileprivate init(_ plain: PlainArguments) {
        self.init()
        analyzing = AnalyzerOptions()
        analyzing.analyzers = plain.analyzers
        writing = OutputOptions()
        writing.sinks = plain.sinks
        writing.outputs = plain.output.map { [$0] } ?? []
        writing.durability = WritingOptions()
        writing.durability.sync = false
        writing.select = plain.selections
        batch = Batching.defaultFrames
        seed = nil
    }
}
