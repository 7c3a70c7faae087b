public import Hemiola

extension AnalyzerPlugin {
    /// The boundaries of the segments of music.
    public static let structure = AnalyzerPlugin(
        PluginDescription("structure", "The segments of music.", version: 2, declares: .init(records: [.segment])),
        settings: NoSettings.self
    ) { _ throws(Problem) in
        StructureAnalyzer()
    }
}

extension RecordType {
    /// The record type of the structure analyzer.
    static let segment = RecordType(
        "segment", "A segment of music begins.",
        fields: [
            .number("duration_s", unit: .seconds, nullable: true, minimum: 0, "The duration; null in a causal analysis."),
            .text("label", nullable: true, "A, B, C …; similar segments have the same label. Null in a causal analysis."),
            .choice(
                "role", of: SegmentRole.allCases.map(\.rawValue), nullable: true,
                "The segment lacks the bass and drums of the others, at the start of the song, in its midst or at its end; null: none is "
                    + "evident, or the analysis is causal."),
            .number("confidence", in: 0...1, "How much the music after the boundary differs from that before it."),
            .emittedTime, .timeUntilEvent,
        ])
}

/// Estimates the boundaries of segments.
///
/// - Complexity: 20 spectra of 4096 frames at 8 kHz a second, shared with other analyzers of harmony, 20 of 46 ms, and about
///   10 µs for each; no allocation without a first pass, 172 bytes for every 0.1 s with one.
final class StructureAnalyzer: OfflineAnalyzer {
    /// Seconds by which a segment of a whole file is announced ahead.
    private static let leadTime = 0.5

    private var novelty = FeatureHandle(offset: 0, count: 0)
    private var sampleRate = 48_000.0
    private var features: SegmentFeatures?
    private var detector = BoundaryDetector()
    private var firstPass: SegmentFirstPass?
    /// The results of the first pass, once there is one: the second pass needs no features.
    private var results: FirstPassResults?

    private struct FirstPassResults {
        var segments: [EstimatedSegment]
        var emittedCount = 0
        var novelty: (times: [Double], values: [Float])
        var frame = 0
    }

    func prepare(_ stream: AnalysisFormat) throws(Problem) -> AnalyzerOutputs {
        sampleRate = Double(stream.sampleRate)
        var outputs = AnalyzerOutputs()
        features = SegmentFeatures(stream, outputs: &outputs)
        detector.reset()
        (firstPass, results) = (nil, nil)
        novelty = outputs.add(
            Feature("novelty", .ratio, in: 0...1, "How much the last 3.5 s differ from the 8 s before them."))
        outputs.add(.segment)
        return outputs
    }

    func process(_ hop: borrowing Hop, into row: inout FeatureRow, events: inout EventList) {
        if results == nil {
            detect(in: hop) { boundary, _ in
                if let boundary { emit(boundary, &events) }
            }
            row[novelty] = detector.novelty
        } else {
            row[novelty] = replay(until: Double(hop.frame + Int64(hop.frameCount)) / sampleRate, &events)
        }
    }

    /// Computes the frames that a hop completes, and calls a closure for each with the boundary that it confirms.
    @inline(__always)
    private func detect(in hop: borrowing Hop, _ body: (EstimatedSegment?, SegmentFeatures) -> Void) {
        guard let features else { return }
        features.measureBands(of: hop)
        for index in 0..<features.stepCount(in: hop) where features.update(from: hop, index) {
            // A peak across a gap is none.
            if !features.isContinuous { detector.reset() }
            body(detector.add(features.frame, at: features.time), features)
        }
    }

    /// Emits the segments that are due, and returns the novelty, both from the first pass.
    private func replay(until end: Double, _ events: inout EventList) -> Float {
        guard var results = results.take() else { return 0 }
        while results.emittedCount < results.segments.count, results.segments[results.emittedCount].time <= end + Self.leadTime {
            emit(results.segments[results.emittedCount], &events)
            results.emittedCount += 1
        }
        let latency = features?.latency ?? 0
        while results.frame < results.novelty.times.count, results.novelty.times[results.frame] + latency <= end { results.frame += 1 }
        let novelty = results.frame == 0 ? 0 : results.novelty.values[results.frame - 1]
        self.results = results
        return novelty
    }

    private func emit(_ segment: EstimatedSegment, _ events: inout EventList) {
        events.append(
            Event(
                at: segment.time, .segment, .optional(segment.duration), .optional(segment.label), .optional(segment.role?.rawValue),
                .number(segment.confidence)))
    }

    func analyzeFirstPass(_ hop: borrowing Hop) {
        if firstPass == nil { firstPass = SegmentFirstPass() }
        detect(in: hop) { _, features in
            firstPass?.add(features.frame, at: features.time, novelty: detector.novelty)
        }
        firstPass?.end = Double(hop.frame + Int64(hop.frameCount)) / sampleRate
    }

    func finishFirstPass() {
        results = FirstPassResults(segments: firstPass?.segments() ?? [], novelty: firstPass?.noveltyCurve() ?? ([], []))
        firstPass = nil
    }

    func skip(_ gap: Gap) {
        features?.skip()
    }
}
