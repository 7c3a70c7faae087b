public import Hemiola
internal import HemiolaSignal

extension AnalyzerPlugin {
    /// Silence, sound, and the boundaries of the segments of music.
    public static let structure = AnalyzerPlugin(
        "structure", "Silence, sound, and the segments of music.", settings: StructureSettings.declared, version: 1,
        records: [StructureRecords.segment, StructureRecords.silence, StructureRecords.sound]
    ) { settings throws(ConfigurationError) in
        StructureAnalyzer(StructureSettings(settings))
    }
}

/// The settings of the structure analyzer.
struct StructureSettings: Sendable {
    private static let silence = Setting(
        "silence_db", default: -60.0, in: -120...0, unit: .decibels, "Peak level below which samples are silent.")
    private static let hysteresis = Setting(
        "hysteresis_db", default: 6.0, in: 0...40, unit: "dB", "How far above silence_db a sample ends a silence.")
    private static let minimum = Setting(
        "min_silence_s", default: 0.5, in: 0.01...60, unit: .seconds, "Duration from which quiet samples are a silence.")

    static let declared = [silence.declared, hysteresis.declared, minimum.declared]

    /// In dBFS.
    var silenceLevel: Double
    /// In dB.
    var hysteresis: Double
    /// In seconds.
    var minimumSilence: Double

    init(_ settings: SettingValues) {
        silenceLevel = settings[Self.silence]
        hysteresis = settings[Self.hysteresis]
        minimumSilence = settings[Self.minimum]
    }
}

/// The record types of the structure analyzer.
enum StructureRecords {
    static let segment = RecordType(
        "segment", "A segment of music begins.",
        fields: [
            .number("duration_s", unit: .seconds, nullable: true, minimum: 0, "The duration; null without --whole-file."),
            .text("label", nullable: true, "A, B, C …; similar segments have the same label. Null without --whole-file."),
            .number("confidence", in: 0...1, "How much the music after the boundary differs from that before it."),
            .emittedTime, .timeUntilEvent,
        ])
    static let silence = RecordType(
        "silence", "A silence has ended.",
        fields: [.number("duration_s", unit: .seconds, minimum: 0, "The duration of the silence, which begins at t."), .emittedTime])
    static let sound = RecordType(
        "sound", "Sound between two silences has ended.",
        fields: [.number("duration_s", unit: .seconds, minimum: 0, "The duration of the sound, which begins at t."), .emittedTime])
}

/// Detects silence, and estimates the boundaries of segments.
///
/// - Complexity: O(samples), eight transforms a second, and O(`SegmentFeatures.count`) for each; no allocation without a first pass.
final class StructureAnalyzer: OfflineAnalyzer {
    /// Transforms per second.
    private static let spectraPerSecond = 8.0
    /// Seconds by which a segment of a whole file is announced ahead.
    private static let leadTime = 0.5

    private let settings: StructureSettings
    private var gate: SilenceGate
    private var spectrum = SpectrumHandle(index: 0)
    private var silent = FeatureHandle(offset: 0, count: 0)
    private var silenceSeconds = FeatureHandle(offset: 0, count: 0)
    private var novelty = FeatureHandle(offset: 0, count: 0)
    private var sampleRate = 48_000.0
    private var features = SegmentFeatures(sampleRate: 48_000, size: 4096)
    private var detector = BoundaryDetector()
    private var firstPass: SegmentFirstPass?
    private var segments: [EstimatedSegment]?
    private var emittedCount = 0

    init(_ settings: StructureSettings) {
        self.settings = settings
        gate = SilenceGate(settings, StreamFormat(sampleRate: 48_000, channelCount: 1))
    }

    func prepare(_ stream: AnalysisFormat) throws(AnalyzerError) -> AnalyzerOutputs {
        sampleRate = Double(stream.sampleRate)
        var size = 512
        // About 93 ms at every sample rate.
        while Double(size) < sampleRate * 0.08 { size *= 2 }
        features = SegmentFeatures(sampleRate: sampleRate, size: size)
        gate = SilenceGate(settings, stream.format)
        reset()
        var outputs = AnalyzerOutputs()
        spectrum = outputs.request(SpectrumRequest(size: size, hop: .seconds(1 / Self.spectraPerSecond), parts: .power))
        silent = outputs.add(Feature("silent", .ratio, in: 0...1, "1: all samples of the batch are silent; 0: not."))
        silenceSeconds = outputs.add(
            Feature("silence_s", .seconds, minimum: 0, "Seconds of silence up to the end of the batch."))
        novelty = outputs.add(
            Feature("novelty", .ratio, in: 0...1, "How much the last 3 s differ from the 8 s before them."))
        outputs.add(StructureRecords.segment)
        outputs.add(StructureRecords.silence)
        outputs.add(StructureRecords.sound)
        return outputs
    }

    func process(_ hop: borrowing Hop, into row: inout FeatureRow, events: inout EventList) {
        gate.process(hop, events: &events)
        row[silent] = gate.isBatchSilent ? 1 : 0
        row[silenceSeconds] = Float(gate.silenceSeconds)
        let spectra = hop.spectra(spectrum)
        for index in 0..<spectra.count {
            guard features.add(spectra.power(index), at: max(0, spectra.center(of: index) / sampleRate)) else { continue }
            let boundary = detector.add(features)
            if segments == nil, let boundary { emit(boundary, &events) }
        }
        row[novelty] = detector.novelty
        let end = Double(hop.frame + Int64(hop.frameCount)) / sampleRate
        while let segments, emittedCount < segments.count, segments[emittedCount].time <= end + Self.leadTime {
            emit(segments[emittedCount], &events)
            emittedCount += 1
        }
    }

    private func emit(_ segment: EstimatedSegment, _ events: inout EventList) {
        events.append(
            Event(
                at: segment.time, StructureRecords.segment, .optional(segment.duration), .optional(segment.label),
                .number(segment.confidence)))
    }

    func analyzeFirstPass(_ hop: borrowing Hop) {
        if firstPass == nil { firstPass = SegmentFirstPass() }
        let spectra = hop.spectra(spectrum)
        for index in 0..<spectra.count {
            if features.add(spectra.power(index), at: max(0, spectra.center(of: index) / sampleRate)) { firstPass?.add(features) }
        }
        firstPass?.end = Double(hop.frame + Int64(hop.frameCount)) / sampleRate
    }

    func finishFirstPass() {
        segments = firstPass?.segments() ?? []
        firstPass = nil
        features.reset()
    }

    func skip(_ gap: Gap) {
        gate.interrupt()
        features.reset()
        detector = BoundaryDetector()
    }

    func finish(into events: inout EventList) {
        gate.finish(into: &events)
    }

    func reset() {
        gate.reset()
        features.reset()
        detector = BoundaryDetector()
        (firstPass, segments, emittedCount) = (nil, nil, 0)
    }
}
