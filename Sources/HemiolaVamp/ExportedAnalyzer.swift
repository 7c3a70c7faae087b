internal import CVamp
internal import Hemiola
internal import HemiolaRecords
internal import HemiolaSignal

/// An instance of a Vamp plugin: an analyzer, with the hops, spectra and decibels that `hemiola analyze` computes. Used by one thread at a
/// time.
///
/// A host with steps of 256 to 1024 frames gets a feature per step, as with `--batch`; with any other step hops have 1024 frames, and the
/// features have the hops' rate. Where blocks overlap, each frame is read from the first block that has it in its first step.
final class ExportedAnalyzer {
    /// The step, and the block, that hosts should choose.
    static let preferredStep = Batching.defaultFrames
    /// More channels would need positions, which Vamp does not have.
    static let channelCounts = 1...2
    /// Frames of the longest step and block.
    private static let longestStep = 1 << 20

    /// An output.
    private enum Source {
        /// The times of the events of a type, with a label.
        case times(RecordType, EventOutput)
        /// The numbers of the events of a type: the fields at these places.
        case numbers(RecordType, [Int])
        case feature(Feature, FeatureHandle)
    }

    private let exported: ExportedPlugin
    private let sampleRate: Int
    private var values: [Float]
    /// Whether parameters were set since the outputs were declared.
    private var isOutdated = false

    private var analyzer: any Analyzer
    private var format: StreamFormat
    private var batching = Batching.standard
    private var bank: SpectrumBank
    private var outputs = AnalyzerOutputs()
    private var sources: [Source] = []
    /// What the host passes: channels, and frames per step.
    private var hostFormat: StreamFormat
    private var step = preferredStep
    /// Whether each step is a hop; else features have times.
    private var isStepped = true
    private var isInitialised = false

    private var row: [Float] = []
    private var mono: [Float] = []
    private var polarity = PolarityDetector(sampleRate: 1, hopFrames: 1)
    /// The hop, interleaved, of which `filled` frames are there.
    private var samples: [Float] = []
    private var filled = 0
    /// The mono mix of the whole file; unused, unless the file is read first.
    private var song: [Float] = []
    private var offline: (any OfflineAnalyzer)?
    /// The next frame, and the time of the first one in the host's stream, in seconds.
    private var clock: Int64 = 0
    private var start: Double?
    private var isFinished = false
    private var events = EventList()
    private let results = FeatureSet()

    /// - Returns: nil when the analyzer does not support the sample rate.
    init?(_ exported: ExportedPlugin, sampleRate: Int) {
        let values = exported.parameters.map(\.defaultValue)
        guard StreamFormat.sampleRates.contains(sampleRate), let analyzer = exported.makeAnalyzer(values) else { return nil }
        (self.exported, self.sampleRate, self.values, self.analyzer) = (exported, sampleRate, values, analyzer)
        format = StreamFormat(sampleRate: sampleRate, channelCount: 1)
        hostFormat = format
        bank = SpectrumBank([], hopFrames: batching.hopFrames, sampleRate: sampleRate)
        guard prepare() else { return nil }
    }

    // MARK: - Before processing

    func parameter(_ index: Int) -> Float { values.indices.contains(index) ? values[index] : 0 }

    func setParameter(_ index: Int, to value: Float) {
        guard values.indices.contains(index) else { return }
        values[index] = exported.parameters[index].nearest(to: value)
        isOutdated = true
    }

    /// - Returns: Whether the analyzer accepts the parameters and this form of blocks.
    func initialise(channelCount: Int, step: Int, block: Int) -> Bool {
        isInitialised = false
        guard (1...Self.longestStep).contains(step), (step...Self.longestStep).contains(block), Self.channelCounts.contains(channelCount)
        else { return false }
        self.step = step
        hostFormat = StreamFormat(sampleRate: sampleRate, channelCount: channelCount)
        isInitialised = prepare()
        return isInitialised
    }

    /// Makes the analyzer for the parameters and the form of blocks.
    private func prepare() -> Bool {
        isOutdated = false
        guard let analyzer = exported.makeAnalyzer(values) else { return false }
        offline = exported.readsWholeFile(values) ? analyzer as? any OfflineAnalyzer : nil
        // Else hops of 1024 frames, whose rate a 32-bit float holds exactly.
        let hop = offline == nil ? Batching(batchFrames: step).flatMap { $0.hopsPerBatch == 1 ? $0 : nil } : nil
        isStepped = hop != nil
        let batching = hop ?? .standard
        // The analyzers with two passes read the mono mix only.
        let format = offline == nil ? hostFormat : StreamFormat(sampleRate: sampleRate, channelCount: 1)
        guard let outputs = try? analyzer.prepare(AnalysisFormat(format, batching: batching)) else { return false }
        (self.analyzer, self.batching, self.format, self.outputs) = (analyzer, batching, format, outputs)
        bank = SpectrumBank(outputs.spectra, hopFrames: batching.hopFrames, sampleRate: sampleRate)
        sources = Self.sources(outputs, exported.plugin.about.records)
        row = Array(repeating: .nan, count: outputs.width)
        mono = Array(repeating: 0, count: batching.hopFrames)
        polarity = PolarityDetector(sampleRate: sampleRate, hopFrames: batching.hopFrames)
        samples = Array(repeating: 0, count: batching.hopFrames * hostFormat.channelCount)
        results.reset(outputCount: sources.count)
        clear()
        return true
    }

    /// The outputs: events first, because hosts show the first output where the user names none.
    private static func sources(_ outputs: AnalyzerOutputs, _ records: [RecordType]) -> [Source] {
        var sources: [Source] = []
        for output in outputs.events {
            guard let type = ([.onset, .beat] + records).first(where: { $0.name == output.name }) else { continue }
            sources.append(.times(type, output))
            // A category's text is in the label, and its number among the features.
            let texts = type.storedFields.filter { !$0.isNumber }.map { "\($0.name)_number" }
            let numbers = type.storedFields.indices.filter {
                type.storedFields[$0].isNumber && !texts.contains(type.storedFields[$0].name)
            }
            if !numbers.isEmpty { sources.append(.numbers(type, numbers)) }
        }
        var offset = 0
        for feature in outputs.features {
            if feature.count > 0 { sources.append(.feature(feature, FeatureHandle(offset: offset, count: feature.count))) }
            offset += feature.count
        }
        return sources
    }

    private func clear() {
        bank.clear()
        polarity.reset()
        (filled, clock, start, isFinished) = (0, 0, nil, false)
        song.removeAll()
        events = EventList()
        results.clear()
    }

    /// Begins another stream of the same form.
    func reset() {
        // Succeeds: the analyzer has accepted the format before.
        _ = try? analyzer.prepare(AnalysisFormat(format, batching: batching))
        clear()
    }

    // MARK: - Processing

    /// Processes a block. The features stay in memory until the next call.
    ///
    /// - Parameters:
    ///   - buffers: One per channel; NULL is silence.
    ///   - seconds: The time of the block's first frame in the host's stream.
    func process(_ buffers: UnsafePointer<UnsafePointer<Float>?>, at seconds: Double) -> UnsafeMutablePointer<CVampFeatureList> {
        results.clear()
        guard isInitialised else { return results.lists }
        if isFinished { reset() }
        if start == nil { start = seconds }
        var next = 0
        while next < step {
            let part = min(batching.hopFrames - filled, step - next)
            copy(buffers, from: next, count: part)
            filled += part
            next += part
            if filled == batching.hopFrames { endHop() }
        }
        addEvents()
        return results.lists
    }

    /// Ends the stream, and returns what remains.
    func finish() -> UnsafeMutablePointer<CVampFeatureList> {
        results.clear()
        guard isInitialised, !isFinished else { return results.lists }
        isFinished = true
        if filled > 0 { endHop() }
        if let offline { processSong(by: offline) }
        analyzer.finish(into: &events)
        addEvents()
        return results.lists
    }

    /// Copies frames of a block into the hop. NaN and infinity are 0, as in `hemiola analyze`.
    private func copy(_ buffers: UnsafePointer<UnsafePointer<Float>?>, from first: Int, count: Int) {
        let (channels, filled) = (hostFormat.channelCount, filled)
        samples.withUnsafeMutableBufferPointer { samples in
            for channel in 0..<channels {
                let buffer = buffers[channel]
                for frame in 0..<count {
                    let value = buffer?[first + frame] ?? 0
                    samples[(filled + frame) * channels + channel] = value.isFinite ? value : 0
                }
            }
        }
    }

    /// Mixes the hop, of which the last one may be incomplete, and analyses it, or stores it if the whole file is read first.
    private func endHop() {
        let frames = filled
        filled = 0
        var mix = mono.mutableSpan
        _ = mix.mix(samples.span.extracting(first: frames * hostFormat.channelCount), by: ChannelMix(hostFormat), following: &polarity)
        for frame in frames..<batching.hopFrames { mix[frame] = 0 }
        if offline != nil {
            song += mono[..<frames]
        } else {
            analyse(frames)
        }
    }

    /// Reads the whole file twice.
    private func processSong(by offline: any OfflineAnalyzer) {
        bank.clear()
        forEachHop { frames in
            samples.withUnsafeMutableBufferPointer { _ = $0.update(fromContentsOf: mono[..<frames]) }
            bank.advance(mono.span, at: clock, frameCount: frames)
            offline.analyzeFirstPass(
                Hop(
                    frame: clock, frameCount: frames, indexInBatch: 0, format: format, mono: mono.span,
                    samples: samples.span.extracting(first: frames), slots: bank.slots(0..<outputs.spectra.count).span))
            clock += Int64(frames)
        }
        offline.finishFirstPass()
        bank.clear()
        clock = 0
        forEachHop { frames in
            samples.withUnsafeMutableBufferPointer { _ = $0.update(fromContentsOf: mono[..<frames]) }
            analyse(frames)
        }
        song.removeAll()
    }

    /// Copies each hop of the file into `mono`.
    private func forEachHop(_ body: (Int) -> Void) {
        for first in stride(from: 0, to: song.count, by: batching.hopFrames) {
            let frames = min(batching.hopFrames, song.count - first)
            for frame in 0..<batching.hopFrames { mono[frame] = frame < frames ? song[first + frame] : 0 }
            body(frames)
        }
    }

    /// Analyses the hop in `mono` and `samples`.
    private func analyse(_ frames: Int) {
        bank.advance(mono.span, at: clock, frameCount: frames)
        for index in row.indices { row[index] = .nan }
        var values = FeatureRow(row.mutableSpan)
        analyzer.process(
            Hop(
                frame: clock, frameCount: frames, indexInBatch: 0, format: format, mono: mono.span,
                samples: samples.span.extracting(first: frames * format.channelCount),
                slots: bank.slots(0..<outputs.spectra.count).span), into: &values, events: &events)
        let time = isStepped ? nil : format.seconds(at: clock) + (start ?? 0)
        clock += Int64(frames)
        for (index, source) in sources.enumerated() {
            guard case .feature(let feature, let handle) = source else { continue }
            var part = Array(row[handle.offset..<handle.offset + handle.count])
            // Without any value, the step has no feature. A single missing value is 0, because hosts expect numbers.
            if part.allSatisfy(\.isNaN) { continue }
            feature.scale.convert(&part)
            for place in part.indices where part[place].isNaN { part[place] = 0 }
            results.add(part, to: index, time: time)
        }
    }

    private func addEvents() {
        var found: [Event] = []
        events.drain(into: &found)
        for event in found {
            let time = event.time + (start ?? 0)
            for (index, source) in sources.enumerated() {
                switch source {
                case .times(let type, _) where type == event.type:
                    results.add([], to: index, time: time, label: type.label(of: event))
                case .numbers(let type, let places) where type == event.type:
                    // An unknown number is 0, as the position of a beat in a bar that is not known.
                    results.add(places.map { Float(event[$0].number ?? 0) }, to: index, time: time)
                default: break
                }
            }
        }
    }

    // MARK: - Outputs

    var outputCount: Int {
        if isOutdated, !isInitialised { _ = prepare() }
        return sources.count
    }

    /// The structure of an output, which the host releases; nil: there is none.
    func descriptor(_ index: Int) -> UnsafeMutablePointer<CVampOutput>? {
        guard index < outputCount, index >= 0 else { return nil }
        var output = CVampOutput()
        output.hasFixedBinCount = 1
        switch sources[index] {
        case .times(let type, let event):
            output.name("\(type.name)s", "\(Text.title(type.name))s", event.summary)
            output.sampleType = Int32(CVAMP_VARIABLE_SAMPLE_RATE)
        case .numbers(let type, let places):
            let fields = places.map { type.storedFields[$0] }
            let summaries = fields.map { "\(Text.title($0.name)): \($0.summary)" }
            output.name("\(type.name)_values", "\(Text.title(type.name)) values", summaries.joined(separator: " "))
            if fields.count == 1 { output.unit = Text.stored(fields[0].unit.rawValue) }
            (output.binCount, output.binNames) = (UInt32(fields.count), Text.list(fields.map(\.name)))
            output.sampleType = Int32(CVAMP_VARIABLE_SAMPLE_RATE)
        case .feature(let feature, _):
            output.name(feature.name, Text.title(feature.name), feature.summary)
            output.unit = Text.stored(feature.unit.rawValue)
            output.binCount = UInt32(feature.count)
            if let names = ExportedPlugin.binNames(of: feature, in: exported.plugin.about.id) { output.binNames = Text.list(names) }
            if let low = feature.minimum, let high = feature.maximum {
                (output.hasKnownExtents, output.minValue, output.maxValue) = (1, Float(low), Float(high))
            }
            output.sampleType = Int32(isStepped ? CVAMP_ONE_SAMPLE_PER_STEP : CVAMP_FIXED_SAMPLE_RATE)
            if !isStepped { output.sampleRate = Float(sampleRate) / Float(batching.hopFrames) }
        }
        let result = UnsafeMutablePointer<CVampOutput>.allocate(capacity: 1)
        result.initialize(to: output)
        return result
    }
}

extension CVampOutput {
    fileprivate mutating func name(_ identifier: String, _ title: String, _ summary: String) {
        (self.identifier, name, description) = (Text.stored(identifier), Text.stored(title), Text.stored(summary))
        unit = Text.stored("")
    }
}

extension Feature.Scale {
    fileprivate func convert(_ values: inout [Float]) {
        var span = values.mutableSpan
        switch self {
        case .linear: break
        case .powerDecibels: span.convertToDecibels(factor: 10)
        case .amplitudeDecibels: span.convertToDecibels(factor: 20)
        }
    }
}

extension RecordType {
    /// The fields whose values an event stores, in the order of their places.
    fileprivate var storedFields: [Field] { fields.filter { $0.source == .stored } }

    /// The field `label`, else the first whole number, as the position of a beat in the bar; empty: unknown.
    fileprivate func label(of event: Event) -> String {
        if let text = event["label"].string { return text }
        for (place, field) in storedFields.enumerated() where field.kind == .integer {
            if let number = event[place].integer { return "\(number)" }
        }
        return ""
    }
}

extension Field {
    fileprivate var isNumber: Bool { kind == .number || kind == .integer }
}
