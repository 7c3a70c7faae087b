internal import Glibc
internal import Hemiola
internal import HemiolaRecords
internal import HemiolaSignal

/// Divides a stream into silence and sound, to the frame: a silence begins after the last sample whose magnitude reaches the threshold,
/// in any channel, and ends with the first one that reaches the threshold plus the hysteresis.
struct SilenceGate {
    private let threshold: Float
    private let upperThreshold: Float
    private let minimumFrames: Int64
    private let format: StreamFormat
    /// The first frame of the current region; nil before the first hop and after a gap.
    private var regionStart: Int64?
    private var isSilence = false
    /// The frame after the last one that reached the threshold.
    private var quietStart: Int64 = 0
    /// The frame after the last one that was processed.
    private var end: Int64 = 0
    /// Whether no sample of the batch has reached the threshold so far.
    private(set) var isBatchSilent = true
    private var isInterrupted = false

    init(_ settings: StructureSettings, _ format: StreamFormat) {
        threshold = Float(pow(10, settings.silenceLevel / 20))
        upperThreshold = Float(pow(10, (settings.silenceLevel + settings.hysteresis) / 20))
        minimumFrames = max(1, Int64((settings.minimumSilence * Double(format.sampleRate)).rounded(.up)))
        self.format = format
    }

    /// Seconds since the last frame that reached the threshold.
    var silenceSeconds: Double { format.seconds(at: max(0, end - quietStart)) }

    /// Processes a hop. O(samples), no allocation.
    mutating func process(_ hop: borrowing Hop, events: inout EventList) {
        if isInterrupted { finish(into: &events) }
        if hop.indexInBatch == 0 { isBatchSilent = true }
        if regionStart == nil {
            (regionStart, quietStart, isSilence) = (hop.frame, hop.frame, false)
        }
        let samples = hop.samples
        // A hop whose peak is below the threshold needs no search for the frame.
        if samples.level.peak >= threshold {
            if !isSilence, hop.frameCount < minimumFrames {
                // No silence fits between two loud frames of the hop: the first and the last one suffice.
                var (first, last) = (0, hop.frameCount - 1)
                while level(first, samples) < threshold { first += 1 }
                while level(last, samples) < threshold { last -= 1 }
                add(loud: level(first, samples), at: hop.frame + Int64(first), &events)
                // The first one may have confirmed a silence that it does not end.
                if isSilence { addAll(hop, from: first + 1, &events) } else { quietStart = hop.frame + Int64(last) + 1 }
            } else {
                addAll(hop, from: 0, &events)
            }
        }
        end = hop.frame + Int64(hop.frameCount)
        confirm(at: end, &events)
    }

    /// The largest magnitude of a frame.
    private func level(_ frame: Int, _ samples: Span<Float>) -> Float {
        var largest: Float = 0
        for index in frame * format.channelCount..<(frame + 1) * format.channelCount { largest = max(largest, abs(samples[index])) }
        return largest
    }

    private mutating func addAll(_ hop: borrowing Hop, from first: Int, _ events: inout EventList) {
        for frame in first..<hop.frameCount {
            let level = level(frame, hop.samples)
            if level >= threshold { add(loud: level, at: hop.frame + Int64(frame), &events) }
        }
    }

    private mutating func add(loud level: Float, at frame: Int64, _ events: inout EventList) {
        isBatchSilent = false
        confirm(at: frame, &events)
        if isSilence, level < upperThreshold { return }
        if isSilence {
            emit(StructureRecords.silence, until: frame, &events)
            (isSilence, regionStart) = (false, frame)
        }
        quietStart = frame + 1
    }

    /// Ends the sound if the quiet samples before a frame are a silence.
    private mutating func confirm(at frame: Int64, _ events: inout EventList) {
        guard !isSilence, frame - quietStart >= minimumFrames else { return }
        emit(StructureRecords.sound, until: quietStart, &events)
        (isSilence, regionStart) = (true, quietStart)
    }

    private func emit(_ type: RecordType, until frame: Int64, _ events: inout EventList) {
        guard let regionStart, frame > regionStart else { return }
        events.append(Event(at: format.seconds(at: regionStart), type, .number(format.seconds(at: frame - regionStart))))
    }

    /// Ends the last region.
    mutating func finish(into events: inout EventList) {
        emit(isSilence ? StructureRecords.silence : StructureRecords.sound, until: end, &events)
        regionStart = nil
        isInterrupted = false
    }

    /// The current region ends before a gap, and the next one begins after it.
    mutating func interrupt() {
        isInterrupted = regionStart != nil
    }

    mutating func reset() {
        (regionStart, isSilence, quietStart, end, isBatchSilent, isInterrupted) = (nil, false, 0, 0, true, false)
    }
}
