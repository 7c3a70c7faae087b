internal import ArgumentParser
internal import Hemiola
internal import HemiolaEngine

struct AnalyzeCommand: PipelineCommand {
    static let configuration = CommandConfiguration(
        commandName: "analyze",
        abstract: "Analyse sound files and write levels, spectrum, beats and more as JSON Lines.",
        usage: "hemiola analyze [<options>] <file or folder> ...",
        discussion: """
            For each file: one header line, one line per batch of 1024 frames, and one end line. With several files, the key \
            "file" of each line names its file. "hemiola schema" describes all keys.

            Examples:
              hemiola analyze song.flac -o song.jsonl --analyzer +spectrum:bands=8
              hemiola analyze music --summary --select rhythm.bpm -o songs.csv
              hemiola analyze music --output-dir results --resume
              find . -name '*.wav' | hemiola analyze --files-from - -o all.jsonl
              ffmpeg -v error -i song.m4a -f wav - | hemiola analyze -

            The extension of the output path selects the format: .jsonl, .json or none for JSON Lines, .csv for a table; \
            append .zst to compress; .mid for the notes of a melody (analyzer pitch). The file is created when the run is complete. With --realtime it is written line by line, \
            not compressed, and never replaces an existing file. Placeholders in the path give each input its own file: {stem} (file name \
            without extension), {name} (file name), {dir} (folder), {time} (start of the run). Missing folders are created.

            A folder stands for the sound files in it and below it; hidden files are skipped. With --output-dir, each file has \
            its own result in a tree that mirrors the folder, and failures.jsonl there lists the files that failed or were \
            incomplete. --resume continues such a run. With --files-from -, each file is analysed as its name arrives, and its \
            records are flushed; a file of which nothing can be analysed has one record of type "failure".

            After an interruption, an existing file is unchanged; a new file has all lines up to then, and its end line has \
            the reason "interrupted". With --summary --resume -o FILE, files that have a row in the table are left out, and the rows of \
            the others are added to it.

            Files are read twice: beat, chords, musical-key, pitch and structure read the whole file before the first record is \
            written, which makes their results better. --causal reads a file once and writes what "listen" would have written. \
            So do pipes, --realtime, --control, --replay-controls and live sinks (web, lights, MIDI, OSC and others), \
            unless --whole-file is given.

            A <spec> is a plugin's id and its settings: id:key=value,key=value. A value without a key sets the plugin's \
            main setting, as in json-lines:song.jsonl,select=header+end. Write \\, for a comma in a value. as=NAME names \
            a second instance of a plugin.

            A progress bar is shown on a terminal if the run takes more than a moment and standard output is neither a \
            terminal nor a pipe. NO_COLOR and TERM=dumb are supported.

            Exit codes: 0 success; 1 at least one file failed or was incomplete; 2 invalid arguments; 3 output could not be \
            written. See "hemiola --help".
            """)

    @OptionGroup(title: "Input") var input: InputOptions

    @OptionGroup(title: "Input") var capture: CaptureOptions

    @OptionGroup(title: "Pipeline") var options: PipelineOptions

    @OptionGroup(title: "Many files") var corpus: CorpusOptions

    @OptionGroup(title: "Many files") var results: ResultFormatOption

    @Flag(help: "Process at real-time speed; on a terminal, show the view of listen.")
    var realtime = false

    @OptionGroup var lookAhead: LookAheadOptions

    @Flag(
        help: """
            Write one record per file instead of its batches. It has tags, tempo, key, loudness, and the statistics of each feature. On a \
            terminal and with -o FILE.csv, a table; --select chooses its columns: title,bpm,key.
            """)
    var summary = false

    @OptionGroup var replay: ReplayOptions

    @OptionGroup var console: ConsoleOptions

    func run(with registry: PluginRegistry, on console: Console) throws(Failure) -> CommandStatus {
        if let folder = try outputFolder() {
            return try corpusRun(with: registry).run(into: folder, with: registry, on: console)
        }
        var builder = try builder(with: registry)
        if summary, corpus.resume, try !resume(&builder, on: console) { return .success }
        let status = try builder.assemble().run(on: console, replaying: try replay.read(registry.catalog))
        if let failure = builder.source?.failure, status == .success || status == .inputFailed { throw failure }
        if summary, status.isSignal, let output = options.writing.output, FileSystem.exists(output) {
            console.remark("\(output): to continue, add --resume")
        }
        return status
    }

    /// Leaves out the files that have a row in the table of an earlier run, and lets the others be added to it.
    ///
    /// - Returns: Whether there is a file to analyse.
    private func resume(_ builder: inout ConfigurationBuilder, on console: Console) throws(Failure) -> Bool {
        let output = options.writing.output
        let table = try SummaryTable(output)
        let selection = try builder.assemble().summary
        if selection?.hasAlbumGain == true {
            throw Failure("--resume: an album gain needs all songs of a folder; select replaygain.track_gain_db, or leave out --resume")
        }
        let columns = selection.flatMap { $0.isComplete ? $0.columns.map(\.name) : nil }
        let rows = try table.currentFiles(columns: columns)
        let count = builder.configuration.captures.count
        builder.configuration.captures.removeAll { spec in spec.primary.map { rows.contains(PathText.shown($0.text)) } ?? false }
        builder.addToOutput()
        let new = builder.configuration.captures.count
        console.remark("\(output ?? ""): \(count - new) of \(count) files are done; \(new) to analyse")
        return new > 0
    }

    func builder(with registry: PluginRegistry) throws(Failure) -> ConfigurationBuilder {
        var builder = ConfigurationBuilder(registry)
        let showsView = realtime && !summary && options.writing.showsView
        try builder.set(
            options, defaultSink: summary ? "summary" : showsView ? SinkPlugin.terminalID : SinkPlugin.jsonLinesID, isAdded: summary,
            analyzers: summary ? registry.summaryAnalyzers : showsView ? registry.viewAnalyzers : [])
        if summary, options.writing.sinks.isEmpty, options.writing.output == nil, FileDescriptor.standardOutput.isTerminal {
            builder.configuration.sinks = [PluginSpec("summary", settings: ["format": .text("text")])]
        }
        let captures = capture.captures
        // An output file that is also an input is found only if all inputs are known before the run.
        if captures.isEmpty, !realtime, builder.writesToStandardOutputOnly { builder.source = try input.source(registry.soundFileTypes) }
        if builder.source == nil, captures.isEmpty || input.isGiven {
            try builder.setInputs(input)
        }
        if !captures.isEmpty, input.excerpt.start != nil || input.excerpt.duration != nil {
            throw Failure(
                "--start and --duration apply to file arguments only; set them in --capture, as in file:song.flac,start=5,duration=20")
        }
        try builder.add(captures, to: .captures)
        builder.configuration.isPaced = realtime
        builder.configuration.usesLookAhead = lookAhead.usesLookAhead
        builder.configuration.jobCount = input.jobCount
        return builder
    }
}

extension PluginRegistry {
    /// The analyzers that `--summary` adds to the default ones, where the program has them.
    var summaryAnalyzers: [PluginSpec] { installed(["loudness", "musical-key"]) }

    /// Those of some analyzers that the program has.
    func installed(_ ids: [String], settings: [String: ParameterValue] = [:]) -> [PluginSpec] {
        ids.filter { id in analyzers.contains { $0.about.id == id } }.map { PluginSpec($0, settings: settings) }
    }
}
