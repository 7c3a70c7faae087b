package import Hemiola
internal import HemiolaFiles
internal import HemiolaRecords
internal import HemiolaSignal
internal import HemiolaSystem

/// What `hemiola render` draws.
package struct PictureRequest: Sendable {
    package var options: PictureOptions
    /// Whether the panels are the default ones: a panel of chroma is added where the stream has it.
    package var hasDefaultPanels = true
    /// The input, for messages.
    package var name: String
    /// Whether the input is a recording, which has levels and spectra instead of samples.
    package var isRecording: Bool
    /// The start of the part of a recording that is drawn, in seconds. Of a sound file, only that part is read.
    package var start = 0.0
    /// Its duration in seconds; nil: to the end.
    package var duration: Double?

    /// A picture of a sound file or a recording.
    package init(options: PictureOptions, hasDefaultPanels: Bool = true, name: String, isRecording: Bool) {
        self.options = options
        self.hasDefaultPanels = hasDefaultPanels
        self.name = name
        self.isRecording = isRecording
    }
}

extension SinkPlugin {
    package static let pictureID = "picture"

    /// Draws a picture of one stream.
    package static func picture(_ request: PictureRequest) -> SinkPlugin {
        SinkPlugin(
            pictureID, "A picture of one stream.", settings: PictureSettings.self, primary: "path",
            needs: { settings in
                Needs(
                    samples: !request.isRecording, standardOutput: OutputTarget(settings.path).isStandardOutput,
                    events: (request.options.showsBeats ? [.beat] : []) + (request.isRecording ? [] : [.polarity]),
                    outputs: [Output(settings.path, takesSeveralInputs: false, replacesFile: true)])
            },
            make: { settings throws(Problem) in
                PictureSink(try PathTemplate(settings.path, at: "path"), request)
            })
    }
}

struct PictureSettings: PluginSettings {
    var path = Setting.text("path", default: "-", "The picture, or - for standard output.")
}

/// Collects a stream in a `PictureRecorder` and writes its picture at the end of the stream.
final class PictureSink: Sink {
    private struct State: ~Copyable {
        var opener: OutputOpener?
        var output: BufferedOutput?
        var path = ""
        var warn: @Sendable (String) -> Void = { _ in }
        var streams = WrittenStreams()
        var streamCount = 0
        var header: StreamHeader?
        var recorder: PictureRecorder?
        var features = RecordedFeatures()
        var tonal = TonalFeatures()
    }

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

    private let template: PathTemplate
    private let request: PictureRequest
    private var state = State()

    init(_ template: PathTemplate, _ request: PictureRequest) {
        self.template = template
        self.request = request
    }

    func open(_ context: SinkContext) throws(Problem) {
        try closingOnError { () throws(Problem) in
            state.opener = OutputOpener(OutputPlan(compression: .none), context)
            state.warn = context.warn
            if !template.isPerInput { try openFile(input: "") }
        }
    }

    private func openFile(input: String) throws(Problem) {
        guard let opener = state.opener else { return }
        state.path = opener.path(template, for: input)
        state.output = try opener.open(state.path, isDocument: true, flushesEachLine: false)
    }

    func begin(_ stream: StreamHeader) throws(Problem) {
        try closingOnError { () throws(Problem) in
            state.streamCount += 1
            guard state.streamCount == 1 else {
                if state.streamCount == 2 { state.warn("\(request.name): the recording has several streams; the first one is drawn") }
                return
            }
            if template.isPerInput { try openFile(input: stream.inputPath) }
            state.streams.begin(isLive: stream.isLive)
            state.header = stream
            var excerpt = PictureRecorder.Excerpt()
            if request.isRecording {
                // Bounded, so that the sum of two times is one too.
                excerpt.start = stream.format.frame(at: min(request.start, 1e9))
                excerpt.frames = request.duration.map { stream.format.frame(at: min($0, 1e9)) }
            }
            var options = request.options
            state.tonal = TonalFeatures(stream, &options, addsPanel: request.hasDefaultPanels)
            var recorder = PictureRecorder(options, stream.format, excerpt: excerpt)
            if let chroma = state.tonal.chroma {
                recorder.expectChroma(bins: chroma.handle.count, batchFrames: stream.batching.batchFrames)
            }
            if request.isRecording { state.features = findFeatures(in: stream, &recorder, state.warn) }
            if state.tonal.chroma == nil, options.panels.contains(.chroma) {
                let reason = "not recorded: chroma.bins"
                state.features.missing[.chroma] = reason
                state.warn("\(request.name): \(PictureOptions.Panel.chroma.rawValue): \(reason); the panel is empty")
            }
            state.recorder = consume recorder
        }
    }

    func write(_ batches: BatchBlock) throws(Problem) {
        try closingOnError { () throws(Problem) in
            guard state.streamCount == 1 else { return }
            for index in 0..<batches.count {
                let batch = batches[index]
                if request.isRecording {
                    add(batch)
                } else {
                    for event in batch.events.indices {
                        guard let polarity = Polarity(batch.events[event]), let header = state.header else { continue }
                        state.recorder?.add(polarity, at: header.format.frame(at: batch.events[event].time))
                    }
                    state.recorder?.add(samples: batch.samples, at: batch.frame)
                }
                addTonal(batch)
                for event in batch.events.indices { add(batch.events[event]) }
            }
        }
    }

    func write(_ events: [Event]) throws(Problem) {
        try closingOnError { () throws(Problem) in
            for event in events { add(event) }
        }
    }

    func end(_ summary: StreamSummary) throws(Problem) {
        try closingOnError { () throws(Problem) in
            for event in summary.lateEvents { add(event) }
            guard let recorder = state.recorder.take(), let header = state.header else { return }
            state.streams.end(summary.reason)
            if summary.reason == .interrupted && !header.isLive { return }
            let bytes = try recorder.finish(
                title: FileSystem.lastName(of: title(of: header)), frames: summary.frames, start: header.source.start ?? 0,
                missing: state.features.missing)
            state.output?.buffer.append(bytes: bytes)
            try state.output?.flushIfDue()
        }
    }

    func close() throws(Problem) {
        try closingOnError { () throws(Problem) in
            guard state.output != nil, let opener = state.opener else { return }
            defer { state.output = nil }
            guard state.streams.hasBegun else { return }
            try opener.finish(&state.output!, at: state.path, state.streams, isWholeRun: !template.isPerInput, isDocument: true)
        }
    }

    /// Runs `body`. After an error the file is closed and removed.
    private func closingOnError(_ body: () throws(Problem) -> Void) throws(Problem) {
        do throws(Problem) {
            try body()
        } catch {
            state.output = nil
            throw error
        }
    }

    private func title(of header: StreamHeader) -> String {
        header.source.name == "-" ? "standard input" : header.source.name
    }

    private func add(_ event: Event) {
        guard state.streamCount == 1 else { return }
        if let beat = Beat(event) {
            state.recorder?.add(beat, at: event.time)
        } else if let row = TonalFeatures.rows[event.type.name],
            // A segment without look-ahead has no name.
            let label = event["label"].string ?? (row == .segments ? "" : nil)
        {
            state.recorder?.add(label: label, in: row, at: event.time, duration: event["duration_s"].number)
        }
    }

    /// Adds chroma and fundamental frequency.
    private func addTonal(_ batch: borrowing Batch) {
        guard batch.hasValues else { return }
        if let chroma = state.tonal.chroma {
            let values = batch.row.extracting(chroma.handle.offset..<chroma.handle.offset + chroma.handle.count)
            let middle: Int64 = batch.frame + chroma.center
            state.recorder?.add(chroma: values, at: middle)
        }
        if let pitch = state.tonal.pitch {
            let count = batch.frameCount
            let frequency: Float = batch.row[pitch.handle.offset]
            let first: Int64 = batch.frame + pitch.center - Int64(count / 2)
            state.recorder?.add(frequency: frequency, at: first, count: count)
        }
    }

    // MARK: - Recordings

    /// Finds the values that the recording has, and reports those that it has not.
    private func findFeatures(
        in stream: StreamHeader, _ recorder: inout PictureRecorder, _ warn: @Sendable (String) -> Void
    ) -> RecordedFeatures {
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
        for panel in request.options.panels {
            guard let reason = features.missing[panel] else { continue }
            warn("\(request.name): \(panel.rawValue): \(reason); the panel is empty")
        }
        return features
    }

    private func add(_ batch: borrowing Batch) {
        guard batch.hasValues else { return }
        if let spectrum = state.features.spectrum {
            let values = batch.row.extracting(spectrum.offset..<spectrum.offset + spectrum.count)
            let frame = max(0, batch.frame + state.features.offset)
            state.recorder?.add(spectrum: values, at: frame)
        }
        if let peaks = state.features.peaks, let rms = state.features.rms {
            state.recorder?.add(
                peaks: batch.row.extracting(peaks.offset..<peaks.offset + peaks.count),
                rms: batch.row.extracting(rms.offset..<rms.offset + rms.count), at: batch.frame, count: batch.frameCount)
        }
    }
}
