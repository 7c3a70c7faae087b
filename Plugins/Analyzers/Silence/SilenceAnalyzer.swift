internal import Glibc
public import Hemiola

extension AnalyzerPlugin {
    /// Silence, and the sound between silences.
    public static let silence = AnalyzerPlugin(
        PluginDescription("silence", "Silence, and the sound between silences.", version: 1, declares: .init(records: [.silence, .sound])),
        settings: SilenceSettings.self
    ) { settings throws(Problem) in
        SilenceAnalyzer(settings)
    }
}

/// The settings of the silence analyzer.
struct SilenceSettings: PluginSettings {
    var level: Double
    var hysteresis: Double
    var minimum: Double

    init(_ read: inout SettingReader) {
        level = read.number("silence_db", default: -60, in: -120...0, unit: .decibels, "Peak level below which samples are silent.")
        hysteresis = read.number("hysteresis_db", default: 6, in: 0...40, unit: "dB", "How far above silence_db a sample ends a silence.")
        minimum = read.seconds("min_silence_s", default: 0.5, in: 0.01...60, "Duration from which quiet samples are a silence.")
    }
}

extension RecordType {
    // The record types of the silence analyzer.
    static let silence = RecordType(
        "silence", "A silence has ended.",
        fields: [.number("duration_s", unit: .seconds, minimum: 0, "The duration of the silence, which begins at t."), .emittedTime])
    static let sound = RecordType(
        "sound", "Sound between two silences has ended.",
        fields: [.number("duration_s", unit: .seconds, minimum: 0, "The duration of the sound, which begins at t."), .emittedTime])
}

/// Divides a stream into silence and sound, to the frame: a silence begins after the last sample whose magnitude reaches the threshold,
/// in any channel, and ends with the first one that reaches the threshold plus the hysteresis. The magnitude is the distance from the offset of
/// the channel, which is known from the first hop that is a constant but for less than the threshold, as that of a microphone in silence.
///
/// - Complexity: O(samples), no allocation.
final class SilenceAnalyzer: Analyzer {
    private let settings: SilenceSettings
    private let threshold: Float
    private let upperThreshold: Float
    private var minimumFrames: Int64 = 1
    private var format = StreamFormat(sampleRate: 48_000, channelCount: 1)
    private var silent = FeatureHandle(offset: 0, count: 0)
    private var silenceSeconds = FeatureHandle(offset: 0, count: 0)
    /// The first frame of the current region; nil before the first hop and after a gap.
    private var regionStart: Int64?
    private var isSilence = false
    /// The frame after the last one that reached the threshold.
    private var quietStart: Int64 = 0
    /// The frame after the last one that was processed.
    private var end: Int64 = 0
    /// The offset of each channel, and whether any is not 0.
    private var offsets: [Float] = []
    private var hasOffset = false
    /// Whether no sample of the batch has reached the threshold so far.
    private var isBatchSilent = true
    private var isInterrupted = false

    init(_ settings: SilenceSettings) {
        self.settings = settings
        threshold = Float(pow(10, settings.level / 20))
        upperThreshold = Float(pow(10, (settings.level + settings.hysteresis) / 20))
    }

    func prepare(_ stream: AnalysisFormat) throws(Problem) -> AnalyzerOutputs {
        format = stream.format
        minimumFrames = max(1, Int64((settings.minimum * Double(format.sampleRate)).rounded(.up)))
        reset()
        var outputs = AnalyzerOutputs()
        silent = outputs.add(Feature("silent", .ratio, in: 0...1, "1: all samples of the batch are silent; 0: not."))
        silenceSeconds = outputs.add(
            Feature("silence_s", .seconds, minimum: 0, "Seconds of silence up to the end of the batch."))
        outputs.add(.silence)
        outputs.add(.sound)
        return outputs
    }

    func process(_ hop: borrowing Hop, into row: inout FeatureRow, events: inout EventList) {
        if isInterrupted { finish(into: &events) }
        if hop.indexInBatch == 0 { isBatchSilent = true }
        if regionStart == nil {
            (regionStart, quietStart, isSilence) = (hop.frame, hop.frame, false)
        }
        let samples = hop.samples
        // A hop whose peak is below the threshold needs no search for the frame.
        if hasOffset || samples.level.peak >= threshold {
            noteOffsets(samples)
            if !isSilence, hop.frameCount < minimumFrames {
                // No silence fits between two loud frames of the hop: the first and the last one suffice.
                var (first, last) = (0, hop.frameCount - 1)
                while first <= last, level(first, samples) < threshold { first += 1 }
                while last > first, level(last, samples) < threshold { last -= 1 }
                if first <= last { addLoudFrames(first, last, hop, &events) }
            } else {
                addAll(hop, from: 0, &events)
            }
        }
        end = hop.frame + Int64(hop.frameCount)
        confirm(at: end, &events)
        row[silent] = isBatchSilent ? 1 : 0
        row[silenceSeconds] = Float(format.seconds(at: max(0, end - quietStart)))
    }

    /// Adds the first and the last loud frame of a hop.
    private func addLoudFrames(_ first: Int, _ last: Int, _ hop: borrowing Hop, _ events: inout EventList) {
        add(loud: level(first, hop.samples), at: hop.frame + Int64(first), &events)
        // The first one may have confirmed a silence that it does not end.
        if isSilence { addAll(hop, from: first + 1, &events) } else { quietStart = hop.frame + Int64(last) + 1 }
    }

    /// Notes the offset of each channel that is constant in a hop but for less than the threshold. A hop below 5 ms tells nothing: the crest of a
    /// bass note is as flat.
    private func noteOffsets(_ samples: Span<Float>) {
        guard samples.count >= format.sampleRate / 200 * format.channelCount else { return }
        hasOffset = false
        for channel in offsets.indices {
            var (low, high) = (samples[channel], samples[channel])
            var index = channel
            // In music it ends after a few frames.
            while index < samples.count, high - low < 2 * threshold {
                (low, high) = (min(low, samples[index]), max(high, samples[index]))
                index += format.channelCount
            }
            if high - low < 2 * threshold {
                let middle = (low + high) / 2
                offsets[channel] = abs(middle) < threshold ? 0 : middle
            }
            if offsets[channel] != 0 { hasOffset = true }
        }
    }

    /// The largest magnitude of a frame, without the offsets.
    private func level(_ frame: Int, _ samples: Span<Float>) -> Float {
        var largest: Float = 0
        for channel in offsets.indices { largest = max(largest, abs(samples[frame * format.channelCount + channel] - offsets[channel])) }
        return largest
    }

    private func addAll(_ hop: borrowing Hop, from first: Int, _ events: inout EventList) {
        for frame in first..<hop.frameCount {
            let level = level(frame, hop.samples)
            if level >= threshold { add(loud: level, at: hop.frame + Int64(frame), &events) }
        }
    }

    private func add(loud level: Float, at frame: Int64, _ events: inout EventList) {
        isBatchSilent = false
        confirm(at: frame, &events)
        if isSilence, level < upperThreshold { return }
        if isSilence {
            emit(.silence, until: frame, &events)
            (isSilence, regionStart) = (false, frame)
        }
        quietStart = frame + 1
    }

    /// Ends the sound if the quiet samples before a frame are a silence.
    private func confirm(at frame: Int64, _ events: inout EventList) {
        guard !isSilence, frame - quietStart >= minimumFrames else { return }
        emit(.sound, until: quietStart, &events)
        (isSilence, regionStart) = (true, quietStart)
    }

    private func emit(_ type: RecordType, until frame: Int64, _ events: inout EventList) {
        guard let regionStart, frame > regionStart else { return }
        events.append(Event(at: format.seconds(at: regionStart), type, .number(format.seconds(at: frame - regionStart))))
    }

    func skip(_ gap: Gap) {
        // The region ends before the gap, and the next one begins after it.
        isInterrupted = regionStart != nil
    }

    func finish(into events: inout EventList) {
        emit(isSilence ? .silence : .sound, until: end, &events)
        regionStart = nil
        isInterrupted = false
    }

    private func reset() {
        offsets = Array(repeating: 0, count: format.channelCount)
        hasOffset = false
        (regionStart, isSilence, quietStart, end, isBatchSilent, isInterrupted) = (nil, false, 0, 0, true, false)
    }
}
