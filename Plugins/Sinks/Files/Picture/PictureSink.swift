public import Hemiola
internal import HemiolaFiles

extension SinkPlugin {
    /// Draws a picture of one stream.
    public static let picture = SinkPlugin(
        PluginDescription("picture", "Spectrogram, waveform, beats and tempo of one input, as a picture.", primary: "path"),
        settings: PictureSettings.self,
        needs: { settings in
            Needs(
                samples: !settings.isRecorded, standardOutput: OutputTarget(settings.path).isStandardOutput,
                events: [.gap] + (settings.showsBeats ? [.beat] : []) + (settings.isRecorded ? [] : [.polarity]),
                outputs: [Output(settings.path, takesSeveralInputs: false, replacesFile: true)])
        },
        make: { settings throws(Problem) in
            guard let options = settings.options else {
                throw Problem(
                    "unsupported extension \(PathTemplate.ending(of: settings.path)); use .png, .svg or .pdf, or set the format", at: "path"
                )
            }
            if let fault = options.fault ?? Picture.libraryFault { throw Problem(fault) }
            return DocumentFile(
                try PathTemplate(settings.path, at: "path", isNumbered: true),
                FileOptions(.whole, capacity: .input, flush: .block, compression: .none)
            ) { files, context in PictureDocument(files[0], settings, options, warn: context.messages.warn) }
        })
}

/// The settings of the picture sink.
struct PictureSettings: PluginSettings {
    var path: String
    private var format: PictureOptions.Format?
    private var width: Int
    private var height: Int
    private var resolution: Int?
    private var panels: [PictureOptions.Panel]
    private var colorMap: ColorMap
    private var scale: FrequencyScale
    private var minimumFrequency: Double?
    private var maximumFrequency: Double?
    private var range: Double
    private var theme: PictureOptions.Theme
    var showsBeats: Bool
    var isRecorded: Bool
    var start: Double
    var duration: Double?

    init(_ read: inout SettingReader) {
        path = read.text("path", default: "-", "The picture, or - for standard output. Placeholders: {stem}, {name}, {dir}, {time}, {n}.")
        format = read.choice("format", "Format; by default that of the extension of the path, else png.")
        width = read.integer("width", default: 1600, in: PictureOptions.sizes, "Width in pixels, in points for svg and pdf.")
        height = read.integer("height", default: 900, in: PictureOptions.sizes, "Height in pixels, in points for svg and pdf.")
        resolution = read.integer(
            "dpi", in: PictureOptions.resolutions,
            "Pixels per inch. png: text and lines grow with it, by default 96. svg, pdf: of the spectrogram, by default 144.")
        panels = read.choices(
            "panels", default: [PictureOptions.Panel](),
            "Panels from top to bottom; by default spectrogram, chroma if the analyzer runs, waveform and tempo.")
        colorMap = read.choice("color_map", default: ColorMap.magma, "Colours of the spectrogram.")
        scale = read.choice("scale", default: FrequencyScale.log, "Spacing of the frequency axis.")
        minimumFrequency = read.hertz("min_hz", in: 0...192_000, "Lower end of the frequency axis; by default 30 for log, else 0.")
        maximumFrequency = read.hertz(
            "max_hz", in: 20...192_000, "Upper end of the frequency axis; by default 20000, at most half the sample rate.")
        range = read.number("range_db", default: 80, in: 5...200, unit: .decibels, "Range of levels that the colours show.")
        theme = read.choice("theme", default: PictureOptions.Theme.light, "Colours of background and text.")
        showsBeats = read.boolean("beats", default: true, "Draw beats, bars and tempo.")
        isRecorded = read.boolean(
            "recorded", default: false, "Draw recorded levels and spectra instead of samples, as of a recording without its sound file.")
        start = read.seconds("start_s", default: 0, in: 0...1e9, "With recorded: start of the part that is drawn.")
        duration = read.seconds("duration_s", in: 0...1e9, "With recorded: duration of the part that is drawn; by default to the end.")
    }

    /// Whether a panel of chroma is added where the stream has it.
    var hasDefaultPanels: Bool { panels.isEmpty }

    /// nil if the extension of the path is not that of a picture.
    var options: PictureOptions? {
        var options = PictureOptions()
        if let format {
            options.format = format
        } else if !OutputTarget(path).isSpecial {
            guard let format = PictureOptions.Format(rawValue: String(PathTemplate.ending(of: path).lowercased().dropFirst())) else {
                return nil
            }
            options.format = format
        }
        (options.width, options.height, options.resolution) = (width, height, resolution)
        if !hasDefaultPanels { options.panels = panels }
        // The tempo comes from the beats.
        if !showsBeats { options.panels.removeAll { $0 == .tempo } }
        (options.colorMap, options.scale, options.theme, options.showsBeats) = (colorMap, scale, theme, showsBeats)
        (options.minimumFrequency, options.maximumFrequency, options.range) = (minimumFrequency, maximumFrequency, range)
        return options
    }
}

/// Collects a stream in a `PictureRecorder` and writes its picture at the end of the stream.
final class PictureDocument: Document {
    /// The values of a recording that a picture shows.
    private struct RecordedFeatures {
        var spectrum: FeatureHandle?
        /// Frames from a batch's first frame to the middle of its spectrum.
        var offset: Int64 = 0
        var peaks: FeatureHandle?
        var rms: FeatureHandle?
        /// Why a panel is empty.
        var missing: [PictureOptions.Panel: String] = [:]
    }

    private let file: OutputFile
    private let settings: PictureSettings
    private let options: PictureOptions
    private let warn: @Sendable (String) -> Void
    private var streamCount = 0
    private var header: StreamHeader?
    private var recorder: PictureRecorder?
    private var features = RecordedFeatures()
    private var tonal = TonalFeatures()

    init(_ file: OutputFile, _ settings: PictureSettings, _ options: PictureOptions, warn: @escaping @Sendable (String) -> Void) {
        self.file = file
        self.options = options
        self.settings = settings
        self.warn = warn
    }

    func begin(_ stream: StreamHeader, at frame: Int64) {
        streamCount += 1
        guard streamCount == 1 else {
            if streamCount == 2 { warn("\(file.target.name): the input has several streams; the first one is drawn") }
            return
        }
        header = stream
        var excerpt = PictureRecorder.Excerpt()
        if settings.isRecorded {
            excerpt.start = stream.format.frame(at: settings.start)
            excerpt.frames = settings.duration.map { stream.format.frame(at: $0) }
        }
        var options = options
        tonal = TonalFeatures(stream, &options, addsPanel: settings.hasDefaultPanels)
        var recorder = PictureRecorder(options, stream.format, excerpt: excerpt)
        if let chroma = tonal.chroma {
            recorder.expectChroma(bins: chroma.handle.count, batchFrames: stream.batching.batchFrames)
        }
        if settings.isRecorded { features = findFeatures(in: stream, &recorder) }
        if tonal.chroma == nil, options.panels.contains(.chroma) { features.missing[.chroma] = "not recorded: chroma.bins" }
        for panel in options.panels {
            if let reason = features.missing[panel] { warn("\(file.target.name): \(panel.rawValue): \(reason); the panel is empty") }
        }
        self.recorder = consume recorder
    }

    func write(_ batch: borrowing Batch) {
        guard streamCount == 1 else { return }
        if settings.isRecorded {
            addRecorded(batch)
        } else {
            for place in batch.events.indices {
                guard let polarity = Polarity(batch.events[place]), let header else { continue }
                recorder?.add(polarity, at: header.format.frame(at: batch.events[place].time))
            }
            recorder?.add(samples: batch.samples, at: batch.frame)
        }
        addTonal(batch)
        for place in batch.events.indices { write(batch.events[place]) }
    }

    func end(_ summary: StreamSummary) throws(Problem) {
        for event in summary.lateEvents { write(event) }
        guard let recorder = recorder.take(), let header, summary.reason != .interrupted || header.isLive else { return }
        file.buffer.append(
            bytes: try recorder.finish(
                title: FileSystem.lastName(of: title(of: header)), frames: summary.frames, start: header.source.start ?? 0,
                missing: features.missing))
    }

    private func title(of header: StreamHeader) -> String {
        header.source.name == "-" ? "standard input" : header.source.name
    }

    func write(_ event: Event) {
        guard streamCount == 1 else { return }
        if let beat = Beat(event) {
            recorder?.add(beat, at: event.time)
        } else if let gap = Gap(event), let header {
            recorder?.add(gapOf: gap.frames, at: header.format.frame(at: event.time))
        } else if event.type.name == "phrase", let bar = event["bar"].integer {
            recorder?.add(phraseBar: bar, at: event.time)
        } else if let row = TonalFeatures.rows[event.type.name],
            // A segment without look-ahead has no name.
            let label = event["label"].string ?? (row == .segments ? "" : nil)
        {
            let label = event["role"].string.map { "\(label) \($0)" } ?? label
            recorder?.add(label: label, in: row, at: event.time, duration: event["duration_s"].number)
        }
    }

    /// Adds chroma and fundamental frequency.
    private func addTonal(_ batch: borrowing Batch) {
        guard batch.hasValues else { return }
        if let chroma = tonal.chroma {
            let values = batch.row.extracting(chroma.handle.offset..<chroma.handle.offset + chroma.handle.count)
            let middle: Int64 = batch.frame + chroma.center
            recorder?.add(chroma: values, at: middle)
        }
        if let pitch = tonal.pitch {
            let count = batch.frameCount
            let frequency: Float = batch.row[pitch.handle.offset]
            let first: Int64 = batch.frame + pitch.center - Int64(count / 2)
            recorder?.add(frequency: frequency, at: first, count: count)
        }
    }

    // MARK: - Recordings

    /// Finds the values that the recording has.
    private func findFeatures(in stream: StreamHeader, _ recorder: inout PictureRecorder) -> RecordedFeatures {
        var features = RecordedFeatures()
        for analyzer in stream.analyzers {
            let layout = stream.layout
            switch analyzer.id {
            case "spectrum" where features.spectrum == nil:
                for name in ["magnitudes", "bands_db"] where features.spectrum == nil {
                    guard let handle = layout.handle(analyzer.name, name), handle.count > 1,
                        let feature = analyzer.outputs.features.first(where: { $0.name == name })
                    else { continue }
                    if name == "bands_db", ![handle.count + 1, handle.count + 2].contains(feature.edges.count) { continue }
                    features.spectrum = handle
                    features.offset = stream.format.frame(at: min(max(-60, feature.centerOffset ?? 0), 60))
                    let binWidth = Double(stream.format.sampleRate) / Double(2 * (handle.count - 1))
                    recorder.expectSpectra(
                        name == "bands_db" ? .bands(edges: feature.edges) : .magnitudes(binWidth: binWidth), count: handle.count,
                        batchFrames: stream.batching.batchFrames)
                }
            case "levels" where features.rms == nil:
                features.peaks = layout.handle(analyzer.name, "channel_peak_db") ?? layout.handle(analyzer.name, "peak_db")
                features.rms = layout.handle(analyzer.name, "channel_rms_db") ?? layout.handle(analyzer.name, "rms_db")
            default: break
            }
        }
        let hasBeats = stream.analyzers.contains { $0.outputs.events.contains { $0.name == "beat" } }
        if features.spectrum == nil { features.missing[.spectrogram] = "not recorded: spectrum.bands_db" }
        if features.peaks == nil || features.rms == nil { features.missing[.waveform] = "not recorded: levels.peak_db, levels.rms_db" }
        if !hasBeats { features.missing[.tempo] = "not recorded: beat" }
        return features
    }

    private func addRecorded(_ batch: borrowing Batch) {
        guard batch.hasValues else { return }
        if let spectrum = features.spectrum {
            let values = batch.row.extracting(spectrum.offset..<spectrum.offset + spectrum.count)
            let frame = max(0, batch.frame + features.offset)
            recorder?.add(spectrum: values, at: frame)
        }
        if let peaks = features.peaks, let rms = features.rms {
            recorder?.add(
                peaks: batch.row.extracting(peaks.offset..<peaks.offset + peaks.count),
                rms: batch.row.extracting(rms.offset..<rms.offset + rms.count), at: batch.frame, count: batch.frameCount)
        }
    }
}
