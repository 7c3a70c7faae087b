internal import ArgumentParser
internal import Hemiola
internal import HemiolaEngine

struct FilmCommand: PipelineCommand {
    static let configuration = CommandConfiguration(
        commandName: "film",
        abstract: "Make a film of a song: a visualizer's page as a video with the sound.",
        usage: "hemiola film <file> -o <film> [<options>]",
        discussion: """
            <file> is a sound file or a recording (.jsonl, .json, optionally .zst): the JSON Lines of "listen" or "analyze", with its \
            presets, speeds and controls. Each picture is drawn for its time in the music, however long that takes, and none is left \
            out. The same input, page, seed, size and version of Chromium give the same pictures.

            Examples:
              hemiola film song.flac -o song.mp4
              hemiola film song.flac -o song.mp4 --preset Silk --start 1:00 --duration 30
              hemiola film song.flac -o song.mp4 --presets bars=8
              hemiola film song.flac -o song.webm --page visualizer/ --size 1080x1920
              hemiola film song.flac -o 'frames/{n}.png' --transparent
              hemiola film set.jsonl --audio set.flac -o set.mp4

            The page is that of the sink web, without its controls, or one of your own. Its clocks are those of the film. A worker, a \
            video or Web Audio has a clock of its own: a message names it.

            Requires a headless Chromium (Debian: chromium-headless-shell) and, except for PNG files, ffmpeg. It uses no network. \
            Ctrl-C ends the film with what was drawn.

            Exit codes: 0 success; 1 the file could not be read, or is incomplete (the film has what was read); 2 invalid arguments; 3 \
            the film could not be made: a program is missing, or the page has failed; 130 ended by Ctrl-C.
            """)

    @Argument(help: ArgumentHelp("Sound file, or recording.", valueName: "file"), completion: .file())
    var file: String

    @Option(
        name: [.customShort("o", allowingJoined: true), .customLong("output")],
        help: ArgumentHelp(
            "The film: .mp4, .m4v, .mov (H.264, AAC), .webm (VP9, Opus), or a PNG file for each picture, as in 'frames/{n}.png'.",
            valueName: "path"), completion: .file())
    var outputs: [String] = []

    @OptionGroup var excerpt: ExcerptOptions

    @Option(
        help: ArgumentHelp("The recorded sound file, for a recording. Without it the film has no sound.", valueName: "file"),
        completion: .file())
    var audio: String?

    @Option(
        help: ArgumentHelp("Folder with an index.html, or HTML file. Default: the page of the sink web.", valueName: "path"),
        completion: .file())
    var page: String?

    @Option(help: ArgumentHelp("Width and height in pixels, both even.", valueName: "width>x<height"))
    var size = "1920x1080"

    @Option(help: ArgumentHelp("Pictures a second, 1...240.", valueName: "number"))
    var fps = 60.0

    @Option(
        help: ArgumentHelp("Pixels of the film in a pixel of the page, 0.25...8: text and lines grow with it.", valueName: "number"))
    var scale = 1.0

    @Option(help: ArgumentHelp("The preset that the page shows first.", valueName: "name"))
    var preset: String?

    @Option(
        help: ArgumentHelp(
            "Change presets: the settings of the sink presets, as in bars=8 or mode=drop,names=Silk+Vinyl.", valueName: "settings"))
    var presets: String?

    @Option(help: ArgumentHelp("Seed of all random numbers.", valueName: "number"))
    var seed: UInt32 = 1

    @Flag(help: "Keep what the page leaves transparent: .webm or PNG files.")
    var transparent = false

    @OptionGroup var analyzing: AnalyzerOptions

    @OptionGroup var lookAhead: LookAheadOptions

    @OptionGroup var console: ConsoleOptions

    func validate() throws {
        try OutputOptions.checkSingle(outputs)
    }

    func run(with registry: PluginRegistry, on console: Console) throws(Failure) -> CommandStatus {
        guard registry.sinks.contains(where: { $0.about.id == "film" }) else {
            throw Failure("this program is built without the network plugins, which films need")
        }
        let isRecording = CommandInput.isRecording(file)
        let builder = try builder(with: registry, isRecording: isRecording)
        let pipeline = if isRecording { try builder.assemble(replaying: file) } else { try builder.assemble() }
        // The film of what was drawn until then is completed.
        return pipeline.run(on: console, pictureRate: fps, grace: 60)
    }

    private func builder(with registry: PluginRegistry, isRecording: Bool) throws(Failure) -> ConfigurationBuilder {
        if file.isEmpty || audio == "" { throw Failure("a file name is empty; is a variable of the shell unset?") }
        if file == "-" { throw Failure("a film needs a file: its sound is read twice") }
        guard let output = outputs.first else { throw Failure("no output; name the film with --output, as in -o film.mp4") }
        let (start, duration) = (try excerpt.startSeconds, try excerpt.durationSeconds)
        var builder = ConfigurationBuilder(registry)
        builder.configuration.seed = UInt64(seed)
        if isRecording {
            if start != nil { throw Failure("--start applies to sound files; a film of a recording begins with it") }
            if !analyzing.analyzers.isEmpty || lookAhead.usesLookAhead != nil {
                throw Failure("--analyzer, --causal and --whole-file apply to sound files; a recording has what was recorded")
            }
            builder.configuration.captures = audio.map { [captureSpec(for: $0)] } ?? []
        } else {
            if audio != nil { throw Failure("--audio applies to recordings; a sound file has its own sound") }
            var spec = captureSpec(for: file)
            spec.settings["start"] = start.map { .number($0) }
            spec.settings["duration"] = duration.map { .number($0) }
            builder.configuration.captures = [spec]
            builder.configuration.usesLookAhead = lookAhead.usesLookAhead
            try builder.setAnalyzers(analyzing.analyzers)
        }
        var film = PluginSpec("film", primary: .text(output))
        let (width, height) = try PictureArguments.pixels(of: size)
        film.settings = [
            "width": .integer(width), "height": .integer(height), "fps": .number(fps), "scale": .number(scale), "seed": .integer(Int(seed)),
            "transparent": .boolean(transparent),
        ]
        film.settings["page"] = page.map { .text($0) }
        film.settings["preset"] = preset.map { .text($0) }
        film.settings["audio"] = (isRecording ? audio : file).map { .text($0) }
        film.settings["duration_s"] = duration.map { .number($0) }
        try builder.addSink(film, output: output)
        if let presets {
            var spec = try ConfigurationBuilder.spec("presets:\(presets)", of: "--presets")
            if spec.primary == nil { spec.primary = .text("/dev/null") }
            try builder.addSink(spec, output: nil)
        }
        return builder
    }
}
