internal import Hemiola
internal import HemiolaSignal
internal import HemiolaSpectrum

/// Lets one analyzer hear a signal, hop by hop, as the engine would: mixes, transforms, folds, turns powers into decibels.
struct AnalyzerBench {
    /// What an analyzer made of a signal.
    struct Answer {
        /// One row per batch; NaN where there is no value.
        var rows: [[Float]] = []
        var events: [Event] = []
        var summary: [SummaryValue] = []

        /// Equal to the last bit: a NaN is equal to itself.
        func isSame(as other: Answer) -> Bool {
            rows.map { $0.map(\.bitPattern) } == other.rows.map { $0.map(\.bitPattern) }
                && events.map(\.comparable) == other.events.map(\.comparable)
                && summary.map(\.comparable) == other.summary.map(\.comparable)
        }
    }

    /// What it is told in the middle of a signal.
    enum Interruption {
        case none
        /// After so many frames.
        case gap(Gap, after: Int)
        case controls([Control], after: Int)
    }

    let format: AnalysisFormat
    let outputs: AnalyzerOutputs
    private let bank: SpectrumBank

    init(_ outputs: AnalyzerOutputs, _ format: AnalysisFormat) {
        self.outputs = outputs
        self.format = format
        bank = SpectrumBank(outputs.spectra, hopFrames: format.hopFrames, sampleRate: format.sampleRate)
    }

    /// Plays the signal from its start to its end.
    ///
    /// - Parameter samples: Interleaved, of the bench's format.
    func hear(
        _ samples: [Float], _ analyzer: any Analyzer, interruption: Interruption = .none, refusals: inout [String]
    ) -> Answer {
        bank.clear()
        var answer = Answer()
        var row = BenchRow(outputs)
        var events = EventList()
        var (next, clock, hopInBatch) = (0, Int64(0), 0)
        let total = samples.count / format.channelCount
        var isInterrupted = false
        while next < total {
            var frames = min(format.hopFrames, total - next)
            var breaksOff = false
            switch interruption {
            case .gap(let gap, let after) where !isInterrupted && next + frames > after:
                if next >= after {
                    isInterrupted = true
                    analyzer.skip(gap)
                    bank.clear()
                    clock += gap.frames
                } else {
                    frames = after - next
                    breaksOff = true
                }
            case .controls(let controls, let after) where !isInterrupted && next >= after && hopInBatch == 0:
                isInterrupted = true
                for control in controls {
                    let reply = (analyzer as? any Controllable)?.obey(StampedControl(control, at: clock, from: "exam"))
                    if case .refused(let reason) = reply { refusals.append(reason) }
                }
            default: break
            }
            process(
                samples, next, frames, clock, hopInBatch, analyzer, into: &row, events: &events)
            next += frames
            clock += Int64(frames)
            hopInBatch += 1
            if hopInBatch == format.batching.hopsPerBatch || next == total || breaksOff {
                answer.rows.append(row.seal())
                events.drain(into: &answer.events)
                hopInBatch = 0
            }
        }
        events.speak(as: "exam")
        analyzer.finish(into: &events)
        events.drain(into: &answer.events)
        answer.summary = (analyzer as? any SummarizingAnalyzer)?.summary() ?? []
        return answer
    }

    /// The first of two passes.
    func survey(_ samples: [Float], _ analyzer: any OfflineAnalyzer) {
        bank.clear()
        let total = samples.count / format.channelCount
        var (next, hopInBatch) = (0, 0)
        while next < total {
            let frames = min(format.hopFrames, total - next)
            withHop(samples, next, frames, Int64(next), hopInBatch) { analyzer.survey($0) }
            next += frames
            hopInBatch = (hopInBatch + 1) % format.batching.hopsPerBatch
        }
        analyzer.concludeSurvey()
    }

    private func process(
        _ samples: [Float], _ first: Int, _ frames: Int, _ clock: Int64, _ hopInBatch: Int, _ analyzer: any Analyzer,
        into row: inout BenchRow, events: inout EventList
    ) {
        var values = [Float](repeating: .nan, count: outputs.width)
        events.speak(as: "exam")
        withHop(samples, first, frames, clock, hopInBatch) { hop in
            var view = FeatureRow(values.mutableSpan)
            analyzer.process(hop, into: &view, events: &events)
        }
        row.fold(values, frames: frames)
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

/// A batch's row under way. As the engine folds, only plainer.
private struct BenchRow {
    private let outputs: AnalyzerOutputs
    private var values: [Float] = []
    private var frames = 0

    init(_ outputs: AnalyzerOutputs) {
        self.outputs = outputs
    }

    mutating func fold(_ hop: [Float], frames new: Int) {
        defer { frames += new }
        guard frames > 0 else {
            values = hop
            return
        }
        var place = 0
        for feature in outputs.features {
            for index in place..<place + feature.count {
                switch feature.fold {
                case .latest: values[index] = hop[index]
                case .sum: values[index] += hop[index]
                case .maximum: values[index] = max(values[index], hop[index])
                case .mean: values[index] += (hop[index] - values[index]) * Float(new) / Float(frames + new)
                }
            }
            place += feature.count
        }
    }

    mutating func seal() -> [Float] {
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

extension Event {
    /// Its text: a NaN among its values is then equal to itself.
    fileprivate var comparable: String { "\(self)" }
}

extension SummaryValue {
    fileprivate var comparable: String { "\(self)" }
}
