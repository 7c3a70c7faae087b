public import Hemiola

/// Runs one analyzer on a signal, hop by hop, as the engine does: mix to mono, spectra, aggregation of the hops of a batch, decibels.
///
///     let harness = try AnalyzerHarness(.levels, format: AnalysisFormat(TestSignal.mono))
///     let output = harness.process(TestSignal.sine(440, frames: 44_100))
///     #expect(output.values("rms_db").last == [-3.01])
///
/// For tests of one analyzer. It is not fast: it allocates for every hop.
public struct AnalyzerHarness {
    /// The output of an analyzer for one signal.
    public struct Output {
        /// A row per batch: the values of the analyzer's features, one after the other. NaN: no value.
        public internal(set) var rows: [[Float]] = []
        /// The events, in order of time within each batch.
        public internal(set) var events: [Event] = []
        /// The values of the whole stream.
        public internal(set) var summary: [SummaryValue] = []
        let features: [Feature]

        /// The values of a feature, an array per batch; empty when the analyzer does not declare it.
        public func values(_ feature: String) -> [[Float]] {
            guard let place = features.firstIndex(where: { $0.name == feature }) else { return [] }
            let offset = features[..<place].reduce(0) { $0 + $1.count }
            return rows.map { Array($0[offset..<offset + features[place].count]) }
        }

        /// Whether both outputs are equal in every bit; NaN equals NaN.
        func isIdentical(to other: Output) -> Bool {
            rows.map { $0.map(\.bitPattern) } == other.rows.map { $0.map(\.bitPattern) }
                && events.map(\.description) == other.events.map(\.description)
                && summary.map { "\($0)" } == other.summary.map { "\($0)" }
        }
    }

    /// An interruption of the signal.
    enum Interruption {
        case none
        /// A gap after so many frames.
        case gap(Gap, after: Int)
        /// Controls at the first batch boundary after so many frames.
        case controls([Control], after: Int)
    }

    /// The format of the signal, and its batches and hops.
    public let format: AnalysisFormat
    /// The outputs that the analyzer declares for that format.
    public let outputs: AnalyzerOutputs
    private let analyzer: any Analyzer
    private let bank: SpectrumBank

    /// Makes an analyzer and prepares it for a format.
    ///
    /// - Parameters:
    ///   - plugin: The analyzer's plugin.
    ///   - settings: The settings, in the syntax of a SPEC after the colon: `size=1024,window=hann`.
    ///   - format: The format of the signals.
    /// - Throws: `Problem` for invalid settings, `Problem` when the analyzer refuses the format.
    public init(_ plugin: AnalyzerPlugin, settings: String = "", format: AnalysisFormat = AnalysisFormat(TestSignal.mono)) throws {
        let analyzer = try plugin.make(settings: settings)
        self.init(analyzer, try analyzer.prepare(format), format)
    }

    /// A harness for an analyzer that is already prepared.
    init(_ analyzer: any Analyzer, _ outputs: AnalyzerOutputs, _ format: AnalysisFormat) {
        self.analyzer = analyzer
        self.outputs = outputs
        self.format = format
        bank = SpectrumBank(outputs.spectra, hopFrames: format.hopFrames, sampleRate: format.sampleRate)
    }

    /// Processes a signal from its first frame to its last, then calls `finish`.
    ///
    /// The analyzer is not reset before: for an independent second signal, make another harness.
    ///
    /// - Parameter samples: Interleaved samples in the harness's format.
    public func process(_ samples: [Float]) -> Output {
        var refusals: [String] = []
        return process(samples, interruption: .none, refusals: &refusals)
    }

    /// - Parameter refusals: Gets the reason of every refused control.
    func process(_ samples: [Float], interruption: Interruption, refusals: inout [String]) -> Output {
        bank.clear()
        var output = Output(features: outputs.features)
        var aggregator = HopAggregator(outputs)
        var events = EventList()
        var (next, clock, hopInBatch) = (0, Int64(0), 0)
        let total = samples.count / format.channelCount
        var isInterrupted = false
        while next < total {
            var frames = min(format.hopFrames, total - next)
            var endsBatch = false
            switch interruption {
            case .gap(let gap, let after) where !isInterrupted && next + frames > after:
                if next >= after {
                    isInterrupted = true
                    analyzer.skip(gap)
                    bank.clear()
                    clock += gap.frames
                } else {
                    frames = after - next
                    endsBatch = true
                }
            case .controls(let controls, let after) where !isInterrupted && next >= after && hopInBatch == 0:
                isInterrupted = true
                for control in controls {
                    let reply = (analyzer as? any ControlHandler)?.handle(StampedControl(control, at: clock, from: "test"))
                    if case .refused(let reason) = reply { refusals.append(reason) }
                }
            default: break
            }
            process(samples, next, frames, clock, hopInBatch, into: &aggregator, events: &events)
            next += frames
            clock += Int64(frames)
            hopInBatch += 1
            if hopInBatch == format.batching.hopsPerBatch || next == total || endsBatch {
                output.rows.append(aggregator.finishBatch())
                events.drain(into: &output.events)
                hopInBatch = 0
            }
        }
        events.setAnalyzer("test")
        analyzer.finish(into: &events)
        events.drain(into: &output.events)
        output.summary = analyzer.summary()
        return output
    }

    /// Runs the first pass of an analyzer that has two.
    func processFirstPass(_ samples: [Float], of analyzer: any OfflineAnalyzer) {
        bank.clear()
        let total = samples.count / format.channelCount
        var (next, hopInBatch) = (0, 0)
        while next < total {
            let frames = min(format.hopFrames, total - next)
            withHop(samples, next, frames, Int64(next), hopInBatch) { analyzer.analyzeFirstPass($0) }
            next += frames
            hopInBatch = (hopInBatch + 1) % format.batching.hopsPerBatch
        }
        analyzer.finishFirstPass()
    }

    private func process(
        _ samples: [Float], _ first: Int, _ frames: Int, _ clock: Int64, _ hopInBatch: Int,
        into aggregator: inout HopAggregator, events: inout EventList
    ) {
        var values = [Float](repeating: .nan, count: outputs.width)
        events.setAnalyzer("test")
        withHop(samples, first, frames, clock, hopInBatch) { hop in
            var row = FeatureRow(values.mutableSpan)
            analyzer.process(hop, into: &row, events: &events)
        }
        aggregator.add(values, frames: frames)
    }

    private func withHop(
        _ samples: [Float], _ first: Int, _ frames: Int, _ clock: Int64, _ hopInBatch: Int, _ body: (borrowing Hop) -> Void
    ) {
        let channels = format.channelCount
        let slice = Array(samples[first * channels..<(first + frames) * channels])
        var mono = [Float](repeating: 0, count: format.hopFrames)
        var mix = mono.mutableSpan
        _ = mix.mix(slice.span, by: ChannelMix(format.format))
        bank.advance(mono.span, at: clock, frameCount: frames)
        body(
            Hop(
                frame: clock, frameCount: frames, indexInBatch: hopInBatch, format: format.format, mono: mono.span,
                samples: slice.span, slots: bank.slots(0..<outputs.spectra.count).span))
    }
}

/// Aggregates the values of the hops of a batch by the declared rules: a plain second implementation of the engine's.
private struct HopAggregator {
    private let outputs: AnalyzerOutputs
    private var values: [Float] = []
    private var frames = 0

    init(_ outputs: AnalyzerOutputs) {
        self.outputs = outputs
    }

    mutating func add(_ hop: [Float], frames new: Int) {
        defer { frames += new }
        guard frames > 0 else {
            values = hop
            return
        }
        var place = 0
        for feature in outputs.features {
            for index in place..<place + feature.count {
                switch feature.aggregation {
                case .latest: values[index] = hop[index]
                case .sum: values[index] += hop[index]
                case .maximum: values[index] = max(values[index], hop[index])
                case .mean: values[index] += (hop[index] - values[index]) * Float(new) / Float(frames + new)
                }
            }
            place += feature.count
        }
    }

    mutating func finishBatch() -> [Float] {
        var row = values
        var place = 0
        for feature in outputs.features {
            var span = row.mutableSpan
            var part = span._mutatingExtracting(place..<place + feature.count)
            switch feature.scale {
            case .linear: break
            case .powerDecibels: part.convertToDecibels(factor: 10)
            case .amplitudeDecibels: part.convertToDecibels(factor: 20)
            }
            place += feature.count
        }
        frames = 0
        return row
    }
}
