internal import ArgumentParser
internal import Hemiola

/// One result per input, in a folder: options of `analyze` and `beats`.
struct CorpusOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Write one result per file into this folder. Its tree mirrors the analysed folder, or the common folder of several "
                + "arguments: song.flac becomes song.flac.jsonl, or song.flac.beats.", valueName: "folder"),
        completion: .directory)
    var outputDir: String?

    @Flag(
        help: """
            Skip files with a current result in --output-dir. It is complete, of the same version and settings, and of the file as it is \
            now. With --summary: files with a row in the table of -o FILE.
            """)
    var resume = false

    /// The folder; nil: it is not given.
    ///
    /// - Parameter resumesTable: Whether `--resume` adds to a table.
    /// - Throws: Options that exclude each other, or need the folder.
    func folder(_ input: InputOptions, _ replay: ReplayOptions, resumesTable: Bool = false) throws(Failure) -> String? {
        guard let folder = outputDir else {
            if resume, !resumesTable { throw Failure("--resume needs --output-dir, the folder with the results of the earlier run") }
            return nil
        }
        try ConfigurationBuilder.check(folder, of: "--output-dir", remedy: "choose another name")
        if replay.controls != nil {
            throw Failure("--output-dir and --replay-controls exclude each other: controls belong to one recording")
        }
        if input.files.contains("-") {
            throw Failure("--output-dir needs files or folders, and - is standard input; write one result with --output")
        }
        return folder
    }
}

/// The format of the results of `analyze`.
struct ResultFormatOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Format of the results: jsonl, jsonl.zst, csv or csv.zst. Default: jsonl.", valueName: "format"))
    var outputFormat: ResultFormat?
}

/// The format of the results of a corpus.
enum ResultFormat: String, CaseIterable, ExpressibleByArgument {
    case jsonLines = "jsonl"
    case compressedJSONLines = "jsonl.zst"
    case csv
    case compressedCSV = "csv.zst"

    /// The sink that writes it.
    var sink: String {
        switch self {
        case .jsonLines, .compressedJSONLines: SinkPlugin.jsonLinesID
        case .csv, .compressedCSV: "csv"
        }
    }

    /// Whether a result states its version and settings.
    var hasHeader: Bool { self == .jsonLines || self == .compressedJSONLines }
}

extension AnalyzeCommand {
    /// The folder of `--output-dir`; nil: it is not given.
    ///
    /// - Throws: Options that exclude each other.
    func outputFolder() throws(Failure) -> String? {
        guard let folder = try corpus.folder(input, replay, resumesTable: summary) else {
            if results.outputFormat != nil {
                throw Failure("--output-format needs --output-dir; without it, the extension of --output selects the format")
            }
            return nil
        }
        let writing = options.writing
        if writing.output != nil { throw Failure("--output-dir and --output exclude each other: the results are in the folder") }
        if !writing.sinks.isEmpty { throw Failure("--output-dir and --sink exclude each other; choose the format with --output-format") }
        if !writing.controls.isEmpty {
            throw Failure("--output-dir and --control exclude each other: files of a folder are analysed as fast as possible")
        }
        if summary { throw Failure("--output-dir and --summary exclude each other; write one table of all songs with --summary -o FILE") }
        if !capture.captures.isEmpty { throw Failure("--output-dir and --capture exclude each other; name files or folders") }
        if realtime { throw Failure("--output-dir and --realtime exclude each other: files of a folder are analysed as fast as possible") }
        if corpus.resume, let format = results.outputFormat, !format.hasHeader {
            throw Failure(
                "--resume needs --output-format jsonl or jsonl.zst: a table does not state the settings that it was written with")
        }
        return folder
    }

    /// The run that writes a result per input.
    func corpusRun(with registry: PluginRegistry) throws(Failure) -> CorpusRun {
        let format = results.outputFormat ?? .jsonLines
        var builder = ConfigurationBuilder(registry)
        try builder.set(options, defaultSink: format.sink)
        builder.configuration.usesLookAhead = lookAhead.usesLookAhead
        // The header and the end of a result show whether it is complete.
        if !builder.configuration.selection.isEmpty { builder.configuration.selection += ["header", "end"] }
        return CorpusRun(
            builder: builder, input: input, sink: PluginSpec(format.sink), ending: format.rawValue, hasHeader: true,
            resumes: corpus.resume)
    }
}
