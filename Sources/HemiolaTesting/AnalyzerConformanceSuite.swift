public import Hemiola

/// Checks the rules that every analyzer follows.
///
///     try AnalyzerConformanceSuite(.spectrum, settings: "bands=32,scale=mel-slaney").run()
///
/// The analyzer processes noise, a sine and digital silence, in five formats and four batch sizes, a click track and a cadence. Checked are:
///
/// - the declaration: names, which are no other keys of the records, summaries, ranges, band edges; equal settings declare equal outputs
/// - values: finite, within their declared ranges; every declared feature has a value in at least one batch
/// - events: finite times, declared types and outputs, values of the declared types and ranges; no onset and no beat in silence
/// - repeatability: after a second `prepare`, also after a gap, the output is equal in every bit
/// - controls: every declared control is handled, with values within the declared ranges; a refusal states its reason; any
///   other control is refused
/// - an `OfflineAnalyzer`: two passes over the same signal give equal output
///
/// The suite does not check whether the values are right; that is for the analyzer's own tests (``AnalyzerHarness``).
public struct AnalyzerConformanceSuite {
    private static let formats = [
        StreamFormat(sampleRate: 8_000, channelCount: 1), StreamFormat(sampleRate: 44_100, channelCount: 2),
        StreamFormat(sampleRate: 48_000, channelCount: 1), StreamFormat(sampleRate: 96_000, channelCount: 3),
        StreamFormat(sampleRate: 192_000, channelCount: 6),
    ]
    private static let batchSizes = [256, 441, 1024, 4096]
    private let plugin: AnalyzerPlugin
    private let settings: String

    /// A suite for an analyzer with these settings.
    ///
    /// - Parameters:
    ///   - plugin: The analyzer's plugin.
    ///   - settings: The settings, in the syntax of a SPEC after the colon: `size=1024,window=hann`.
    public init(_ plugin: AnalyzerPlugin, settings: String = "") {
        self.plugin = plugin
        self.settings = settings
    }

    /// Runs all checks. Takes about a second for a light analyzer.
    ///
    /// - Throws: All rules that the analyzer violates.
    public func run() throws(Problem) {
        var report = ConformanceReport()
        var run = Run(plugin: plugin)
        report.checkName(ofAnalyzer: plugin.about)
        if let values = report.settings(settings, of: plugin.about), let analyzer = run.make(values, &report) {
            report.require(
                plugin.about.controls.isEmpty || analyzer is any ControlHandler,
                "The plugin declares controls, and the analyzer is not a ControlHandler.")
            var accepted = 0
            for format in Self.formats {
                for size in Self.batchSizes {
                    let format = AnalysisFormat(format, batching: Batching(batchFrames: size)!, seed: 7)
                    if run.process(format, values, &report) { accepted += 1 }
                }
            }
            report.require(accepted > 0, "The analyzer refuses every format of the suite.")
            run.processMusic(values, &report)
            for name in run.featuresWithoutValue.sorted() {
                report.fail("The feature \(name) is declared and has no value in any batch.")
            }
        }
        try report.throwIfFailed(plugin.about.id)
    }

    private struct Run {
        let plugin: AnalyzerPlugin
        private var withoutValue: Set<String> = []
        private var withValue: Set<String> = []

        init(plugin: AnalyzerPlugin) {
            self.plugin = plugin
        }

        var featuresWithoutValue: Set<String> { withoutValue.subtracting(withValue) }

        func make(_ values: SettingValues, _ report: inout ConformanceReport) -> (any Analyzer)? {
            do {
                return try plugin.make(values)
            } catch {
                report.fail("The analyzer cannot be made with the settings of the suite: \(error).")
                return nil
            }
        }

        /// - Returns: Whether the analyzer accepts the format.
        mutating func process(_ format: AnalysisFormat, _ values: SettingValues, _ report: inout ConformanceReport) -> Bool {
            let place = "at \(format.sampleRate) Hz, \(format.channelCount) channels, \(format.batching.batchFrames) frames per batch"
            guard let first = make(values, &report), let second = make(values, &report) else { return false }
            let outputs: AnalyzerOutputs
            do {
                outputs = try first.prepare(format)
            } catch {
                report.require(!error.message.isEmpty, "The analyzer refuses a stream without a reason \(place).")
                return false
            }
            check(outputs, place, &report)
            // A stream without a frame: `finish` must return; its output is not checked.
            var none = EventList()
            first.finish(into: &none)

            let frames = max(format.hopFrames * 20, format.batching.batchFrames * 2) + format.hopFrames * 3 / 8
            let noise = TestSignal.noise(seed: 1, frames: frames, format: format.format)
            let sine = TestSignal.sine(440, amplitude: 0.5, frames: frames, format: format.format)
            let silence = TestSignal.silence(frames: frames, format: format.format)

            guard let again = prepare(second, format, place, &report) else { return true }
            report.require(again == outputs, "Two analyzers with the same settings declare different outputs \(place).")
            func output(
                _ analyzer: any Analyzer, _ samples: [Float], _ signal: String, interruption: AnalyzerHarness.Interruption = .none,
                _ report: inout ConformanceReport
            ) -> AnalyzerHarness.Output {
                AnalyzerHarness(analyzer, outputs, format)
                    .checkedOutput(samples, plugin.about.records, "\(place), \(signal)", interruption, &report)
            }
            let reference = output(second, noise, "noise", &report)
            record(reference, outputs)
            record(output(first.prepared(format), sine, "a sine", &report), outputs)
            report.require(
                output(first.prepared(format), noise, "noise", &report).isIdentical(to: reference),
                "After a second prepare() the output differs from that of a new analyzer \(place).")
            let quiet = output(first.prepared(format), silence, "silence", &report)
            report.require(
                !quiet.events.contains { $0.type == .onset || $0.type == .beat },
                "The analyzer emits onsets or beats in digital silence \(place).")

            let gap = AnalyzerHarness.Interruption.gap(
                Gap(frames: 12_345, reason: .frozen), after: format.hopFrames * 3 + format.hopFrames / 2)
            record(output(first.prepared(format), noise, "a gap", interruption: gap, &report), outputs)
            report.require(
                output(first.prepared(format), noise, "noise", &report).isIdentical(to: reference),
                "After a gap and prepare() the output differs from that of a new analyzer \(place).")
            let controls = AnalyzerHarness.Interruption.controls(
                plugin.about.controls.flatMap(Control.samples), after: format.hopFrames * 2)
            _ = output(first.prepared(format), sine, "controls", interruption: controls, &report)
            if let handler = first.prepared(format) as? any ControlHandler {
                report.checkControls(plugin.about.controls, of: handler, "The analyzer")
            }
            if let analyzer = first.prepared(format) as? any OfflineAnalyzer {
                let results = (0..<2).map { _ in
                    _ = analyzer.prepared(format)
                    AnalyzerHarness(analyzer, outputs, format).processFirstPass(noise, of: analyzer)
                    return output(analyzer, noise, "two passes", &report)
                }
                report.require(results[0].isIdentical(to: results[1]), "Two runs of two passes differ \(place).")
            }
            return true
        }

        /// Ten seconds of clicks at 120 BPM and of a cadence: enough for an analyzer that needs several beats or chords before it has
        /// a value.
        mutating func processMusic(_ values: SettingValues, _ report: inout ConformanceReport) {
            let format = AnalysisFormat(StreamFormat(sampleRate: 44_100, channelCount: 1))
            let signals = [
                ("clicks", TestSignal.clicks(beatsPerMinute: 120, frames: 441_000)), ("a cadence", TestSignal.cadence(frames: 441_000)),
            ]
            for (name, signal) in signals {
                guard let analyzer = make(values, &report), let outputs = try? analyzer.prepare(format) else { return }
                let output = AnalyzerHarness(analyzer, outputs, format)
                    .checkedOutput(signal, plugin.about.records, "in ten seconds of \(name)", .none, &report)
                record(output, outputs)
            }
        }

        private func prepare(
            _ analyzer: any Analyzer, _ format: AnalysisFormat, _ place: String, _ report: inout ConformanceReport
        ) -> AnalyzerOutputs? {
            do {
                return try analyzer.prepare(format)
            } catch {
                report.fail("The analyzer accepts a format once and then refuses it \(place): \(error).")
                return nil
            }
        }

        /// Records which features have a value.
        private mutating func record(_ output: AnalyzerHarness.Output, _ outputs: AnalyzerOutputs) {
            for feature in outputs.features {
                let hasValue = feature.count == 0 || output.values(feature.name).contains { $0.contains { !$0.isNaN } }
                if hasValue { withValue.insert(feature.name) } else { withoutValue.insert(feature.name) }
            }
        }

        private func check(_ outputs: AnalyzerOutputs, _ place: String, _ report: inout ConformanceReport) {
            report.require(outputs.latencyFrames >= 0, "The declared latency is negative \(place).")
            for feature in outputs.features {
                let name = "The feature \(feature.name)"
                report.require(feature.name.isSnakeCase, "\(name) is not named in snake_case.")
                report.require(feature.summary.hasSuffix("."), "The summary of the feature \(feature.name) is not a sentence.")
                let edges = feature.edges
                report.require(
                    edges.isEmpty || edges.count == feature.count + 1 || edges.count == feature.count + 2,
                    "\(name) has \(edges.count) edges for \(feature.count) bands \(place).")
                report.require(
                    zip(edges, edges.dropFirst()).allSatisfy(<), "The edges of the feature \(feature.name) do not rise \(place).")
                if let low = feature.minimum, let high = feature.maximum {
                    report.require(low <= high, "\(name) has a minimum above its maximum \(place).")
                }
            }
            for event in outputs.events {
                report.require(event.name.isSnakeCase, "The event output \(event.name) is not named in snake_case.")
                report.require(event.summary.hasSuffix("."), "The summary of the event output \(event.name) is not a sentence.")
            }
        }
    }
}

extension Analyzer {
    /// Prepares the analyzer for a format that it is known to accept.
    fileprivate func prepared(_ format: AnalysisFormat) -> Self {
        _ = try? prepare(format)
        return self
    }
}

extension AnalyzerHarness {
    /// Processes a signal and checks the output against the declarations.
    fileprivate func checkedOutput(
        _ samples: [Float], _ declaredTypes: [RecordType], _ place: String, _ interruption: Interruption,
        _ report: inout ConformanceReport
    ) -> Output {
        var refusals: [String] = []
        let output = process(samples, interruption: interruption, refusals: &refusals)
        report.require(!refusals.contains(""), "The analyzer refuses a control without a reason.")
        for feature in outputs.features {
            for value in output.values(feature.name).joined() where !value.isNaN {
                report.require(value.isFinite, "The feature \(feature.name) is infinite \(place).")
                guard value.isFinite else { continue }
                report.require(
                    !feature.isCategory || value == value.rounded(), "\(feature.name) is no whole number \(place).")
                // The declared limits are doubles, the values floats: their rounding is allowed for.
                let tolerance = 1e-5 * max(1, abs(Double(value)))
                if let low = feature.minimum, Double(value) < low - tolerance {
                    report.fail("The feature \(feature.name) falls below its minimum \(low) \(place).")
                }
                if let high = feature.maximum, Double(value) > high + tolerance {
                    report.fail("The feature \(feature.name) rises above its maximum \(high) \(place).")
                }
            }
        }
        for event in output.events { check(event, declaredTypes, place, &report) }
        for value in output.summary {
            report.require(value.name.isSnakeCase, "The summary value \"\(value.name)\" is not named in snake_case.")
            report.require(
                output.summary.count { $0.name == value.name } == 1, "The summary has the value \"\(value.name)\" more than once.")
            if case .feature(let number, _) = value.value {
                report.require(!number.isInfinite, "The summary value \"\(value.name)\" is infinite \(place).")
            }
        }
        return output
    }

    private func check(_ event: Event, _ declaredTypes: [RecordType], _ place: String, _ report: inout ConformanceReport) {
        let output: String
        if let event = AnalyzerEvent(event) {
            output = event.output
            report.require(!event.values.contains { $0.isInfinite }, "An event of the output \(output) has an infinite value \(place).")
        } else {
            output = event.type.name
            guard event.type == .onset || event.type == .beat || declaredTypes.contains(event.type) else {
                report.fail("The analyzer emits a record of type \(output), which its plugin does not declare, \(place).")
                return
            }
        }
        report.check(event, place)
        report.require(
            outputs.events.contains { $0.name == output },
            "The analyzer emits a record of the output \(output), which it does not declare in prepare().")
    }
}
