public import Hemiola
internal import HemiolaBridge
internal import HemiolaFiles
internal import HemiolaVisualizer

extension SinkPlugin {
    /// Makes a film: a page as a video, picture by picture.
    public static let film = film(limits: FilmLimits(), presets: EnvironmentVariable.presetFolder)

    /// - Parameters:
    ///   - limits: How long a page may take.
    ///   - presets: The folder of the user's presets; nil: there is none.
    static func film(limits: FilmLimits, presets: @escaping @Sendable () -> String?) -> SinkPlugin {
        SinkPlugin(
            PluginDescription(
                "film", "A visualizer's page as a video, picture by picture.", primary: "path",
                declares: .init(records: [.preset, .speed, .key, .message], fallbackControls: PageDirector.controls)),
            settings: FilmSettings.self,
            needs: { settings in
                Needs(
                    samples: true, events: [.beat, .control, .device, .dropped, .gap, .pagePreset, .preset, .speed],
                    outputs: [Output(settings.path, takesSeveralInputs: false, replacesFile: true)])
            },
            make: { settings throws(Problem) in
                try settings.check()
                return FilmSink(settings, limits, presets: presets())
            })
    }
}

/// How long a page may take, in seconds.
struct FilmLimits: Sendable {
    /// Until it is loaded.
    var loading = 60.0
    /// For a picture.
    var picture = 10.0
}

/// The settings of the sink `film`.
struct FilmSettings: PluginSettings {
    var path: String
    var page: String?
    var width: Int
    var height: Int
    var scale: Double
    var fps: Double
    var preset: String?
    var seed: Int
    var isTransparent: Bool
    var audio: String?
    var duration: Double?

    init(_ read: inout SettingReader) {
        path = read.text(
            "path", default: "film.mp4",
            "The film: .mp4, .m4v, .mov or .webm, or a PNG file for each picture, as in frames/{n}.png. Placeholders: {stem}, {name}, {dir}, "
                + "{time}."
        )
        page = read.text("page", "Folder with an index.html, or HTML file, in place of the built-in page.")
        width = read.integer("width", default: 1920, in: 16...7680, "Width in pixels, even.")
        height = read.integer("height", default: 1080, in: 16...4320, "Height in pixels, even.")
        scale = read.number("scale", default: 1, in: 0.25...8, "Pixels of the film in a pixel of the page: text and lines grow with it.")
        fps = read.number("fps", default: 60, in: 1...240, "Pictures a second.")
        preset = read.text("preset", "The preset that the page shows first.")
        seed = read.integer("seed", default: 1, in: 0...0xffff_ffff, "Seed of the page's random numbers.")
        isTransparent = read.boolean("transparent", default: false, "Keep what the page leaves transparent: .webm or PNG files.")
        audio = read.text("audio", "The sound file whose sound the film has; by default none.")
        duration = read.seconds("duration_s", in: 0...1e9, "Duration of the film; by default to the end.")
    }

    /// Whether each picture is a file.
    var hasFiles: Bool { PathTemplate.ending(of: path).lowercased() == ".png" }

    func check() throws(Problem) {
        let ending = PathTemplate.ending(of: path).lowercased()
        guard hasFiles || VideoFile.extensions.contains(ending) else {
            throw Problem(
                "unsupported extension\(ending.isEmpty ? "" : " \(ending)"); use \(VideoFile.extensions.joined(separator: ", ")), or PNG files, as in frames/{n}.png",
                at: "path")
        }
        guard try template.isNumbered == hasFiles else {
            throw Problem(
                hasFiles ? "PNG files need {n} in their path, as in frames/{n}.png" : "a video has no {n} in its path", at: "path")
        }
        if !hasFiles, OutputTarget(path).isSpecial { throw Problem("\(path): not a regular file; name one", at: "path") }
        if duration == 0 { throw Problem("a film of 0 s has no picture", at: "duration_s") }
        if page == "" { throw Problem("the path is empty; is a variable of the shell unset?", at: "page") }
        for (key, value) in [("width", width), ("height", height)] where !value.isMultiple(of: 2) {
            throw Problem("\(value) is odd; videos have even numbers of pixels", at: key)
        }
        if isTransparent, !hasFiles, ending != ".webm" {
            throw Problem("\(ending) has no transparency; use .webm or PNG files, as in frames/{n}.png", at: "transparent")
        }
    }

    var template: PathTemplate { get throws(Problem) { try PathTemplate(path, at: "path", isNumbered: true) } }
}

/// Draws a page at the times of a film's pictures and passes the pictures to their files. It gets the batches of a file, and lets the analysis
/// wait while it draws.
final class FilmSink: DirectingSink {
    /// Seconds of the film's clock before the first picture, in which the page's timers run while it is loaded.
    private static let loading = 3.0
    /// The same in steps, so that its messages are answered.
    private static let loadingStep = 0.1

    private let settings: FilmSettings
    private let limits: FilmLimits
    private let presets: String?
    private var context = SinkContext(name: "film")
    private var page: FilmPage?
    private var browser: Chromium?
    private var writer: (any FilmWriter)?
    /// The number of pictures so far.
    private var count = 0
    private var streamCount = 0
    private var format = StreamFormat(sampleRate: 1, channelCount: 1)
    /// Whether all pictures were drawn.
    private var isComplete = false

    init(_ settings: FilmSettings, _ limits: FilmLimits, presets: String?) {
        (self.settings, self.limits, self.presets) = (settings, limits, presets)
    }

    /// Loads the page, so that what it says of its presets is known when the stream begins.
    func open(_ context: SinkContext) throws(Problem) {
        self.context = context
        (count, streamCount, isComplete) = (0, 0, false)
        let page = FilmPage(context, folder: try settings.page.map { path throws(Problem) in try PageFolder(path) }, presets: presets)
        let screen = Chromium.Screen(
            width: settings.width, height: settings.height, scale: settings.scale, isTransparent: settings.isTransparent,
            isLossless: settings.isTransparent || settings.hasFiles)
        let browser = try Chromium(screen) { page.file(at: $0) }
        let query = "?bare&seed=\(settings.seed)\(settings.isTransparent ? "&transparent" : "")"
        try browser.load(
            "http://\(FilmPage.host)/\(query)", script: String(decoding: PageFiles.film, as: UTF8.self), seed: settings.seed,
            at: -Self.loading,
            within: limits.loading)
        (self.page, self.browser) = (page, browser)
        for step in (0..<Int((Self.loading / Self.loadingStep).rounded())).reversed() {
            try advance(to: -Double(step) * Self.loadingStep, within: limits.loading)
        }
        if let preset = settings.preset, !page.presetNames.isEmpty, !page.presetNames.contains(preset) {
            throw Problem("the page has no preset \"\(preset)\"; \(preset.suggestion(among: page.presetNames, "it has"))", at: "preset")
        }
    }

    func makeDirector() throws(Problem) -> sending any Director { PageDirector(page?.presets) }

    func begin(_ stream: StreamHeader) throws(Problem) {
        streamCount += 1
        guard streamCount == 1 else {
            if streamCount == 2 { context.messages.warn("\(context.name): the input has several streams; the film shows the first one") }
            return
        }
        format = stream.format
        page?.begin(stream)
        if let preset = settings.preset { page?.load(preset: preset) }
        let values = PathTemplate.Values(input: stream.source.name, time: MonotonicTime.localText(context.run.startTime))
        let template = try settings.template
        if settings.hasFiles {
            writer = try PictureFiles(template, values)
            return
        }
        let path = template.path(values)
        let sound = settings.audio.map { VideoFile.Sound(path: $0, start: stream.source.start ?? 0, duration: settings.duration) }
        if let audio = settings.audio, OutputTarget.identity(of: audio) == OutputTarget.identity(of: path) {
            throw Problem("\(path): is the sound of the film; choose another name", at: "path")
        }
        writer = try VideoFile(path) { [settings] in
            VideoFile.arguments(path, fps: settings.fps, isTransparent: settings.isTransparent, sound: sound, output: $0)
        }
    }

    func write(_ batches: BatchBlock) throws(Problem) {
        guard streamCount == 1 else { return }
        for index in 0..<batches.count {
            page?.add(batches[index])
            // Beats of the next batch can be due before its end.
            try draw(until: format.seconds(at: batches[index].endFrame) - FilmPage.beatLead)
            if context.run.isStopping { return }
        }
    }

    func write(_ events: [Event]) {
        if streamCount == 1 { page?.add(events) }
    }

    func end(_ summary: StreamSummary) throws(Problem) {
        guard streamCount == 1 else { return }
        page?.end(summary)
        try draw(until: format.seconds(at: summary.frames))
        isComplete = summary.reason != .interrupted && !context.run.isStopping
    }

    func close() throws(Problem) {
        let writer = writer
        (self.writer, browser, page) = (nil, nil, nil)
        // Without a picture there is no film, and after a failure none is kept.
        if count > 0, isComplete || context.run.isStopping { try writer?.finish(isComplete: isComplete) }
    }

    /// Draws the pictures before a stream time in seconds.
    private func draw(until end: Double) throws(Problem) {
        guard let browser, let writer else { return }
        while case let time = Double(count) / settings.fps, time < min(end, settings.duration ?? .infinity), !context.run.isStopping {
            try advance(to: time, within: limits.picture)
            try writer.write(try browser.picture(interval: 1 / settings.fps, within: limits.picture))
            count += 1
            context.run.note(seconds: time)
        }
    }

    /// Takes the page to a time of the film, until it has nothing more to say.
    private func advance(to time: Double, within limit: Double) throws(Problem) {
        guard let page, let browser else { return }
        // The page's errors and requests have their answers in the same picture. One that always asks again gets no picture.
        for _ in 0..<100 {
            let sent = try browser.step(to: time, page.messages(until: time), within: limit)
            for message in sent { try page.receive(message.elements ?? [], at: time) }
            if sent.isEmpty { return }
        }
        throw Problem("the page does not stop sending messages")
    }
}
