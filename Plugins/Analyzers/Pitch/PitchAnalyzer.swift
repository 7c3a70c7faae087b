internal import Hemiola
internal import HemiolaSignal
internal import HemiolaTonal

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// Estimates the fundamental frequency of a single voice or instrument, and its notes.
///
/// - Complexity: a transform of 1024 frames, shared, one of 2048, and O(states · band) every 11.6 ms; no allocation.
final class PitchAnalyzer: OfflineAnalyzer {
    private let settings: PitchSettings
    private var spectrum = SpectrumHandle(index: 0)
    private var frequency = FeatureHandle(offset: 0, count: 0)
    private var voicing = FeatureHandle(offset: 0, count: 0)
    private var stream: PitchStream?

    init(_ settings: PitchSettings) {
        self.settings = settings
    }

    func prepare(_ format: AnalysisFormat) throws(AnalyzerError) -> AnalyzerOutputs {
        let rate = Double(format.sampleRate)
        let stream = PitchStream(settings, sampleRate: format.sampleRate)
        self.stream = stream
        var outputs = AnalyzerOutputs()
        spectrum = outputs.request(
            SpectrumRequest(
                size: PitchDetector.size, hop: .seconds(PitchDetector.hopSeconds), sampleRate: PitchDetector.sampleRate, parts: .power))
        let center = Double(format.batching.batchFrames) / rate - PitchStream.latency
        frequency = outputs.add(
            Feature(
                "f0_hz", .hertz, in: settings.frequencies.lowerBound * 0.97...settings.frequencies.upperBound * 1.03,
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

    func reset() {
        stream?.reset()
    }
}

/// The analysis of a stream.
private final class PitchStream {
    /// Frames by which the path is decoded behind the newest frame: 58 ms.
    private static let delay = 5
    /// The same in the first pass, and the number of frames that are decoded at once: 6 s each.
    private static let longDelay = 512
    /// The audio behind a window that its resampled spectrum depends on, in seconds.
    private static let resampling = 0.001
    /// From the centre of a value to the end of the audio that it depends on, in seconds.
    static let latency =
        Double(PitchDetector.size) / 2 / Double(PitchDetector.sampleRate) + Double(delay + 1) * PitchDetector.hopSeconds + resampling

    private let sampleRate: Double
    private let detector: PitchDetector
    private let decoder: PitchDecoder
    private var segmenter: NoteSegmenter
    /// The decoded frames on both sides of the next value, and the time of the newer one.
    private var older = DecodedPitch.unvoiced
    private var newer = DecodedPitch.unvoiced
    private var newerTime = -1.0

    /// The first pass while it runs, and its result.
    private var longDecoder: PitchDecoder?
    private var track: [DecodedPitch] = []
    private var trackStart = 0.0
    private var hasTrack = false
    private var pending = 0
    private var nextTrackFrame = 0
    private let settings: PitchSettings

    init(_ settings: PitchSettings, sampleRate: Int) {
        self.settings = settings
        self.sampleRate = Double(sampleRate)
        detector = PitchDetector(settings.frequencies, streamRate: sampleRate)
        decoder = PitchDecoder(settings.frequencies, hopSeconds: PitchDetector.hopSeconds, capacity: Self.delay + 1)
        segmenter = NoteSegmenter(frameSeconds: PitchDetector.hopSeconds, minimumDuration: settings.minimumNote)
    }

    func process(_ hop: borrowing Hop, _ handle: SpectrumHandle, _ events: inout EventList) {
        segmenter.emitPending(&events)
        if hasTrack {
            let end = Double(hop.frame + Int64(hop.frameCount)) / sampleRate - Self.latency
            while nextTrackFrame < track.count, time(ofTrackFrame: nextTrackFrame - 1) <= end {
                add(track[nextTrackFrame], at: time(ofTrackFrame: nextTrackFrame), &events)
                nextTrackFrame += 1
            }
            return
        }
        let spectra = hop.spectra(handle)
        for index in 0..<spectra.count {
            let center = spectra.center(of: index) / sampleRate
            detector.update(spectra.power(index))
            decoder.advance(detector)
            guard decoder.frameCount > Self.delay else { continue }
            var decoded = DecodedPitch.unvoiced
            decoder.decode(delay: Self.delay) { decoded = $0 }
            add(decoded, at: center - Double(Self.delay) * PitchDetector.hopSeconds, &events)
        }
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

    // MARK: - First pass

    private func time(ofTrackFrame index: Int) -> Double {
        trackStart + Double(index) * PitchDetector.hopSeconds
    }

    func analyzeFirstPass(_ hop: borrowing Hop, _ handle: SpectrumHandle) {
        let spectra = hop.spectra(handle)
        let decoder =
            longDecoder
            ?? PitchDecoder(
                settings.frequencies, hopSeconds: PitchDetector.hopSeconds, capacity: 2 * Self.longDelay)
        longDecoder = decoder
        for index in 0..<spectra.count {
            let center = spectra.center(of: index) / sampleRate
            if track.isEmpty, pending == 0 { trackStart = center }
            // A gap in the audio is unvoiced.
            let expected = Int(((center - trackStart) / PitchDetector.hopSeconds).rounded())
            if expected > track.count + pending {
                decodePending(pending)
                decoder.reset()
                track.append(contentsOf: repeatElement(.unvoiced, count: expected - track.count))
            }
            detector.update(spectra.power(index))
            decoder.advance(detector)
            pending += 1
            if pending == 2 * Self.longDelay { decodePending(Self.longDelay) }
        }
    }

    /// Decodes the oldest frames of those that are not decoded yet.
    private func decodePending(_ count: Int) {
        guard count > 0 else { return }
        longDecoder?.decode(delay: pending - 1, count: count) { track.append($0) }
        pending -= count
    }

    func finishFirstPass() {
        decodePending(pending)
        longDecoder = nil
        hasTrack = true
    }

    // MARK: - Interruptions

    /// Audio was lost: the note ends, and is emitted with the next hop.
    func interrupt() {
        segmenter.interrupt()
        decoder.reset()
        (older, newer) = (.unvoiced, .unvoiced)
    }

    func finish(_ events: inout EventList) {
        segmenter.emitPending(&events)
        if hasTrack {
            while nextTrackFrame < track.count {
                add(track[nextTrackFrame], at: time(ofTrackFrame: nextTrackFrame), &events)
                nextTrackFrame += 1
            }
        } else if decoder.frameCount > 0 {
            var time = newerTime
            let delay = min(Self.delay, decoder.frameCount) - 1
            if delay >= 0 {
                decoder.decode(delay: delay, count: delay + 1) { pitch in
                    time += PitchDetector.hopSeconds
                    segmenter.advance(pitch, at: time, &events)
                }
            }
        }
        segmenter.interrupt()
        segmenter.emitPending(&events)
    }

    func reset() {
        decoder.reset()
        segmenter.reset()
        (older, newer, newerTime) = (.unvoiced, .unvoiced, -1)
        (longDecoder, track, hasTrack, pending, nextTrackFrame) = (nil, [], false, 0, 0)
    }
}
