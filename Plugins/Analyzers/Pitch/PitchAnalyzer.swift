internal import Glibc
internal import Hemiola
internal import HemiolaTonal

/// Estimates the fundamental frequency of a single voice or instrument, and its notes.
///
/// - Complexity: a transform of 1024 frames, shared, one of 2048, and O(states · band) every 11.6 ms; no allocation.
final class PitchAnalyzer: OfflineAnalyzer {
    private let frequencies: ClosedRange<Double>
    private let minimumNote: Double
    private var spectrum = SpectrumHandle(index: 0)
    private var frequency = FeatureHandle(offset: 0, count: 0)
    private var voicing = FeatureHandle(offset: 0, count: 0)
    private var stream: PitchStream?

    init(_ settings: PitchSettings) throws(Problem) {
        frequencies = try settings.frequencies()
        minimumNote = settings.minimumNote
    }

    func prepare(_ format: AnalysisFormat) throws(Problem) -> AnalyzerOutputs {
        let rate = Double(format.sampleRate)
        let stream = PitchStream(frequencies, minimumNote: minimumNote, sampleRate: format.sampleRate)
        self.stream = stream
        var outputs = AnalyzerOutputs()
        spectrum = outputs.request(
            SpectrumRequest(
                size: PitchDetector.size, hop: .seconds(PitchDetector.hopSeconds), sampleRate: PitchDetector.sampleRate, parts: .power))
        let center = Double(format.batching.batchFrames) / rate - PitchStream.latency
        frequency = outputs.add(
            Feature(
                "f0_hz", .hertz, in: frequencies.lowerBound * 0.97...frequencies.upperBound * 1.03,
                centerOffset: center, "Fundamental frequency; null where there is no pitch."))
        voicing = outputs.add(
            Feature("voicing", .ratio, in: 0...1, centerOffset: center, "Probability that there is a pitch."))
        outputs.add(RecordType.note)
        outputs.latencyFrames = Int64((PitchStream.latency * rate).rounded())
        return outputs
    }

    func process(_ hop: borrowing Hop, into row: inout FeatureRow, events: inout EventList) {
        guard let stream else { return }
        stream.process(hop, spectrum, &events)
        let value = stream.value(at: Double(hop.frame + Int64(hop.frameCount)) / Double(hop.format.sampleRate) - PitchStream.latency)
        row[voicing] = value.voicing
        if let hertz = value.frequency { row[frequency] = hertz }
    }

    func analyzeFirstPass(_ hop: borrowing Hop) {
        stream?.analyzeFirstPass(hop, spectrum)
    }

    func finishFirstPass() {
        stream?.finishFirstPass()
    }

    func skip(_ gap: Gap) {
        stream?.interrupt()
    }

    func finish(into events: inout EventList) {
        stream?.finish(&events)
    }
}

/// The analysis of a stream.
private final class PitchStream {
    /// Frames by which the path is decoded behind the newest frame: 58 ms.
    private static let delay = 5
    /// The audio behind a window that its resampled spectrum depends on, in seconds.
    private static let resampling = 0.001
    /// From the centre of a value to the end of the audio that it depends on, in seconds.
    static let latency =
        Double(PitchDetector.size) / 2 / Double(PitchDetector.sampleRate) + Double(delay + 1) * PitchDetector.hopSeconds + resampling

    private let frequencies: ClosedRange<Double>
    private let sampleRate: Double
    private let detector: PitchDetector
    private let decoder: PitchDecoder
    private var segmenter: NoteSegmenter
    /// The decoded frames on both sides of the next value, and the time of the newer one.
    private var older = DecodedPitch.unvoiced
    private var newer = DecodedPitch.unvoiced
    private var newerTime = -1.0
    /// The centre of the newest frame, which is not decoded yet, and the end of the last hop, in seconds.
    private var newestCenter = 0.0
    private var end = 0.0
    /// Whether a gap precedes the next hop.
    private var isInterrupted = false
    /// The pitches that the first pass has found; nil without one.
    private var track: PitchTrack?

    init(_ frequencies: ClosedRange<Double>, minimumNote: Double, sampleRate: Int) {
        self.frequencies = frequencies
        self.sampleRate = Double(sampleRate)
        detector = PitchDetector(frequencies, streamRate: sampleRate)
        decoder = PitchDecoder(frequencies, hopSeconds: PitchDetector.hopSeconds, capacity: Self.delay + 1)
        segmenter = NoteSegmenter(frameSeconds: PitchDetector.hopSeconds, minimumDuration: minimumNote)
    }

    func process(_ hop: borrowing Hop, _ handle: SpectrumHandle, _ events: inout EventList) {
        if isInterrupted {
            finish(&events)
            decoder.reset()
            let start = Double(hop.frame) / sampleRate
            while track?.next(until: start) != nil {}
            segmenter.resume(at: start)
            (older, newer, isInterrupted) = (.unvoiced, .unvoiced, false)
        }
        end = Double(hop.frame + Int64(hop.frameCount)) / sampleRate
        if let track {
            // One frame behind the time of the value, so that it is between two frames.
            while let (pitch, time) = track.next(until: end - Self.latency + PitchDetector.hopSeconds) { add(pitch, at: time, &events) }
            return
        }
        let spectra = hop.spectra(handle)
        for index in 0..<spectra.count {
            newestCenter = spectra.center(of: index) / sampleRate
            detector.update(spectra.power(index))
            decoder.advance(detector)
            if decoder.frameCount > Self.delay { decode(delay: Self.delay, &events) }
        }
    }

    /// Decodes the frame that is so many frames before the newest one.
    private func decode(delay: Int, _ events: inout EventList) {
        var pitch = DecodedPitch.unvoiced
        decoder.decode(delay: delay) { pitch = $0 }
        add(pitch, at: newestCenter - Double(delay) * PitchDetector.hopSeconds, &events)
    }

    private func add(_ pitch: DecodedPitch, at time: Double, _ events: inout EventList) {
        (older, newer, newerTime) = (newer, pitch, time)
        segmenter.advance(pitch, at: time, &events)
    }

    /// The value at a time between the last two frames: the nearer one, or between two pitches their geometric interpolation.
    func value(at time: Double) -> DecodedPitch {
        let share = Float(min(max(1 - (newerTime - time) / PitchDetector.hopSeconds, 0), 1))
        var value = share < 0.5 ? older : newer
        value.voicing = older.voicing + share * (newer.voicing - older.voicing)
        if let one = older.frequency, let other = newer.frequency {
            let interval = log2f(other / one)
            if abs(interval) < 1.0 / 12 { value.frequency = one * exp2f(share * interval) }
        }
        return value
    }

    func analyzeFirstPass(_ hop: borrowing Hop, _ handle: SpectrumHandle) {
        let track = track ?? PitchTrack(frequencies)
        self.track = track
        let spectra = hop.spectra(handle)
        for index in 0..<spectra.count {
            detector.update(spectra.power(index))
            track.add(detector, at: spectra.center(of: index) / sampleRate)
        }
    }

    func finishFirstPass() {
        track?.finish()
    }

    /// Audio was lost: the note ends, and is emitted with the next hop.
    func interrupt() {
        isInterrupted = true
    }

    /// Decodes the remaining frames, and ends the note.
    func finish(_ events: inout EventList) {
        if let track {
            while let (pitch, time) = track.next(until: end) { add(pitch, at: time, &events) }
        } else {
            for delay in (0..<min(Self.delay, decoder.frameCount)).reversed() { decode(delay: delay, &events) }
        }
        segmenter.finish(&events)
    }
}
