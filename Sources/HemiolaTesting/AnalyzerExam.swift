public import Hemiola
internal import HemiolaSignal

/// The exam that every analyzer sits: its whole life, in several formats, with silence, noise, a lost stretch and an early end.
///
///     try AnalyzerExam(.spectrum, settings: "bands=32,scale=mel-slaney").sit()
public struct AnalyzerExam {
    private static let formats = [
        StreamFormat(sampleRate: 8_000, channelCount: 1), StreamFormat(sampleRate: 44_100, channelCount: 2),
        StreamFormat(sampleRate: 48_000, channelCount: 1), StreamFormat(sampleRate: 96_000, channelCount: 3),
        StreamFormat(sampleRate: 192_000, channelCount: 6),
    ]
    private static let batchSizes = [256, 441, 1024, 4096]
    private static let controls: [Control] = [
        .tap, .tap, .lockTempo(beatsPerMinute: 120), .lockTempo(beatsPerMinute: nil), .lockTempo(beatsPerMinute: -1), .halveTempo,
        .doubleTempo, .setDownbeat, .resetTempo, .nextPreset, .setSpeed(0.5), .key(KeyStroke(key: "a", note: 60, phase: .down)),
    ]

    private let plugin: AnalyzerPlugin
    private let settings: String

    /// An exam for an analyzer with these settings.
    ///
    /// - Parameters:
    ///   - plugin: Who sits it.
    ///   - settings: As in a SPEC after the colon: `size=1024,window=hann`.
    public init(_ plugin: AnalyzerPlugin, settings: String = "") {
        self.plugin = plugin
        self.settings = settings
    }

    /// Sits the exam.
    ///
    /// - Throws: Everything that the analyzer did wrong.
    public func sit() throws(ExamFailure) {
        var paper = ExamPaper()
        var sitting = Sitting(plugin: plugin)
        if let values = paper.settings(settings, of: plugin.about), sitting.make(values, &paper) != nil {
            var accepted = 0
            for format in Self.formats {
                for size in Self.batchSizes {
                    let format = AnalysisFormat(format, batching: Batching(batchFrames: size)!, seed: 7)
                    if sitting.hear(in: format, values, &paper) { accepted += 1 }
                }
            }
            paper.require(accepted > 0, "It refuses every format of the exam.")
            sitting.hearMusic(values, &paper)
            for name in sitting.silentFeatures.sorted() {
                paper.fault("The feature \(name) was declared and never had a value.")
            }
        }
        try paper.handIn(plugin.about.id)
    }

    /// The exam under way.
    private struct Sitting {
        let plugin: AnalyzerPlugin
        /// Features that had no value so far, and those that had one.
        private var mute: Set<String> = []
        private var heard: Set<String> = []

        init(plugin: AnalyzerPlugin) {
            self.plugin = plugin
        }

        var silentFeatures: Set<String> { mute.subtracting(heard) }

        func make(_ values: SettingValues, _ paper: inout ExamPaper) -> (any Analyzer)? {
            do throws(ConfigurationError) {
                return try plugin.make(values)
            } catch {
                paper.fault("It cannot be made with the exam's settings: \(error).")
                return nil
            }
        }

        /// - Returns: Whether the analyzer takes the format.
        mutating func hear(in format: AnalysisFormat, _ values: SettingValues, _ paper: inout ExamPaper) -> Bool {
            let place = "at \(format.sampleRate) Hz, \(format.channelCount) channels, \(format.batching.batchFrames) frames a batch"
            guard let first = make(values, &paper), let second = make(values, &paper) else { return false }
            let outputs: AnalyzerOutputs
            do throws(AnalyzerError) {
                outputs = try first.prepare(format)
            } catch {
                paper.require(!error.message.isEmpty, "It refuses a stream \(place) and does not say why.")
                return false
            }
            check(outputs, place, &paper)
            // What comes of an empty stream is nobody's business, as long as it comes back.
            var none = EventList()
            first.finish(into: &none)

            let bench = AnalyzerBench(outputs, format)
            let frames = max(format.hopFrames * 20, format.batching.batchFrames * 2) + format.hopFrames * 3 / 8
            let noise = TestSignal.noise(seed: 1, frames: frames, format: format.format)
            let tone = TestSignal.sine(440, amplitude: 0.5, frames: frames, format: format.format)
            let silence = TestSignal.silence(frames: frames, format: format.format)

            guard let again = prepare(second, format, place, &paper) else { return true }
            paper.require(again == outputs, "Two analyzers with the same settings declare different outputs \(place).")
            let reference = bench.answer(noise, second, place + ", noise", &paper)
            note(reference, outputs)
            note(bench.answer(tone, first.prepared(format), place + ", a sine", &paper), outputs)
            paper.require(
                bench.answer(noise, first.prepared(format), place + ", noise", &paper).isSame(as: reference),
                "Prepared a second time, it answers otherwise than a new one \(place).")
            first.reset()
            paper.require(
                bench.answer(noise, first, place + ", noise", &paper).isSame(as: reference),
                "After reset() it answers otherwise than a new one \(place).")
            let quiet = bench.answer(silence, first.prepared(format), place + ", silence", &paper)
            paper.require(!quiet.events.contains { $0.isPulse }, "It finds onsets or beats in digital silence \(place).")

            let loss = Gap(frames: 12_345, reason: .frozen)
            let gap = AnalyzerBench.Interruption.gap(loss, after: format.hopFrames * 3 + format.hopFrames / 2)
            let broken = bench.answer(noise, first.prepared(format), place + ", a gap", interruption: gap, &paper)
            note(broken, outputs)
            first.reset()
            paper.require(
                bench.answer(noise, first, place + ", noise", &paper).isSame(as: reference),
                "After a gap and reset() it answers otherwise than a new one \(place).")
            let wishes = AnalyzerBench.Interruption.controls(AnalyzerExam.controls, after: format.hopFrames * 2)
            _ = bench.answer(tone, first.prepared(format), place + ", controls", interruption: wishes, &paper)
            look(ahead: first, bench, noise, place, &paper)
            return true
        }

        /// Ten seconds with a beat: time enough for whoever needs to settle.
        mutating func hearMusic(_ values: SettingValues, _ paper: inout ExamPaper) {
            let format = AnalysisFormat(StreamFormat(sampleRate: 44_100, channelCount: 1))
            guard let analyzer = make(values, &paper), let outputs = try? analyzer.prepare(format) else { return }
            let clicks = TestSignal.clicks(beatsPerMinute: 120, frames: 441_000)
            note(AnalyzerBench(outputs, format).answer(clicks, analyzer, "in ten seconds of clicks", &paper), outputs)
        }

        private func look(
            ahead analyzer: any Analyzer, _ bench: AnalyzerBench, _ samples: [Float], _ place: String, _ paper: inout ExamPaper
        ) {
            guard let analyzer = analyzer.prepared(bench.format) as? any OfflineAnalyzer else { return }
            bench.survey(samples, analyzer)
            let first = bench.answer(samples, analyzer, place + ", surveyed", &paper)
            _ = analyzer.prepared(bench.format)
            bench.survey(samples, analyzer)
            let second = bench.answer(samples, analyzer, place + ", surveyed", &paper)
            paper.require(first.isSame(as: second), "Two surveys of the same signal end in different answers \(place).")
        }

        private func prepare(
            _ analyzer: any Analyzer, _ format: AnalysisFormat, _ place: String, _ paper: inout ExamPaper
        ) -> AnalyzerOutputs? {
            do throws(AnalyzerError) {
                return try analyzer.prepare(format)
            } catch {
                paper.fault("It takes a format once and refuses it then \(place): \(error).")
                return nil
            }
        }

        private mutating func note(_ answer: AnalyzerBench.Answer, _ outputs: AnalyzerOutputs) {
            var place = 0
            for feature in outputs.features {
                let columns = place..<place + feature.count
                place += feature.count
                let hasValue = feature.count == 0 || answer.rows.contains { row in row[columns].contains { !$0.isNaN } }
                if hasValue { heard.insert(feature.name) } else { mute.insert(feature.name) }
            }
        }

        private func check(_ outputs: AnalyzerOutputs, _ place: String, _ paper: inout ExamPaper) {
            paper.require(outputs.latencyFrames >= 0, "Its latency is negative \(place).")
            for feature in outputs.features {
                let name = "The feature \(feature.name)"
                paper.require(feature.name.isSnakeCase, "\(name) is not named in snake_case.")
                paper.require(feature.summary.hasSuffix("."), "\(name) has no sentence that says what it is.")
                let edges = feature.edges
                paper.require(
                    edges.isEmpty || edges.count == feature.count + 1 || edges.count == feature.count + 2,
                    "\(name) has \(edges.count) edges for \(feature.count) bands \(place).")
                paper.require(zip(edges, edges.dropFirst()).allSatisfy(<), "\(name) has edges that do not rise \(place).")
                if let low = feature.minimum, let high = feature.maximum {
                    paper.require(low <= high, "\(name) has a minimum above its maximum \(place).")
                }
            }
            for event in outputs.events {
                paper.require(event.name.isSnakeCase, "The event output \(event.name) is not named in snake_case.")
                paper.require(event.summary.hasSuffix("."), "The event output \(event.name) has no sentence that says what it is.")
            }
        }
    }
}

extension Analyzer {
    /// Itself, at the start of a stream whose format it is known to take.
    fileprivate func prepared(_ format: AnalysisFormat) -> Self {
        _ = try? prepare(format)
        return self
    }
}

extension AnalyzerBench {
    /// Plays a signal and holds the answer against what was declared.
    fileprivate func answer(
        _ samples: [Float], _ analyzer: any Analyzer, _ place: String, interruption: Interruption = .none,
        _ paper: inout ExamPaper
    ) -> Answer {
        var refusals: [String] = []
        let answer = hear(samples, analyzer, interruption: interruption, refusals: &refusals)
        paper.require(!refusals.contains(""), "It refuses a control and does not say why.")
        for row in answer.rows {
            var column = 0
            for feature in outputs.features {
                for value in row[column..<column + feature.count] where !value.isNaN {
                    paper.require(value.isFinite, "The feature \(feature.name) is infinite \(place).")
                    guard value.isFinite else { continue }
                    // A float cannot meet a double's limit more exactly.
                    let slack = 1e-5 * max(1, abs(Double(value)))
                    if let low = feature.minimum, Double(value) < low - slack {
                        paper.fault("The feature \(feature.name) falls below its minimum \(low) \(place).")
                    }
                    if let high = feature.maximum, Double(value) > high + slack {
                        paper.fault("The feature \(feature.name) rises above its maximum \(high) \(place).")
                    }
                }
                column += feature.count
            }
        }
        for event in answer.events { check(event, place, &paper) }
        for value in answer.summary {
            paper.require(value.name.isSnakeCase, "The summary's \"\(value.name)\" is not named in snake_case.")
            paper.require(
                answer.summary.count { $0.name == value.name } == 1, "The summary has \"\(value.name)\" more than once.")
            if case .feature(let number, _) = value.number {
                paper.require(!number.isInfinite, "The summary's \"\(value.name)\" is infinite \(place).")
            }
        }
        return answer
    }

    private func check(_ event: Event, _ place: String, _ paper: inout ExamPaper) {
        paper.require(event.time.isFinite, "It tells an event at a time that is no number \(place).")
        let output: String
        switch event.payload {
        case .onset(let onset):
            output = "onset"
            paper.require(onset.strength.isFinite && onset.strength >= 0, "The strength of an onset is below 0 or no number \(place).")
        case .beat(let beat):
            output = "beat"
            paper.require((0...1).contains(beat.confidence), "The confidence of a beat is outside 0...1 \(place).")
            paper.require(
                beat.beatsPerMinute.isFinite && beat.beatsPerMinute > 0, "The tempo of a beat is not above 0 \(place).")
            paper.require(beat.position ?? 1 >= 1, "The position of a beat in the bar is below 1 \(place).")
        case .finding(let finding):
            output = finding.output
            paper.require(!finding.values.contains { $0.isInfinite }, "A finding of \(output) has an infinite value \(place).")
            paper.require((finding.duration ?? 0) >= 0, "A finding of \(output) has a negative duration \(place).")
        default:
            paper.fault("It tells a record of type \(event.recordType), which is not an analyzer's to tell, \(place).")
            return
        }
        paper.require(
            outputs.events.contains { $0.name == output }, "It tells events of the output \(output), which it has not declared.")
    }
}

extension Event {
    /// Whether it is an onset or a beat.
    fileprivate var isPulse: Bool {
        switch payload {
        case .onset, .beat: true
        default: false
        }
    }
}
