/// Computes the spectra that the analyzers of a pipeline request; equal requests of several analyzers are computed once.
///
/// The bank keeps the last frames of the mono mix, as many as the longest window needs, at each requested sample rate. With each hop
/// it computes the spectra that are due and writes them to its slots, from which `Hop` gives them to the analyzers.
///
/// - Complexity: per hop O(size · log size) for each distinct request that is due, and O(frames) for each sample rate that is
///   not the stream's; no allocation after `init`.
public final class SpectrumBank {
    /// Spectra with the same window, sample rate and hop, and the buffers for the results. The bank owns the transform, the window
    /// and the history.
    private struct Track: ~Copyable {
        let fft: UnsafeMutablePointer<RealFFT>
        /// The window's values; nil for the rectangular window.
        let window: UnsafePointer<Float>?
        /// The frames at the track's sample rate.
        let history: UnsafePointer<FrameHistory>
        /// Frames between two spectra, not necessarily a whole number; 0 for one spectrum per hop.
        let hopFrames: Double
        let power: UnsafeMutablePointer<Float>?
        let magnitude: UnsafeMutablePointer<Float>?
        let complex: UnsafeMutablePointer<Float>?

        deinit {
            power?.deallocate()
            magnitude?.deallocate()
            complex?.deallocate()
        }
    }

    /// What requests have in common that share a track.
    private struct Identity: Equatable {
        var view: View
        var sampleRate: Int
        var hopFrames: Double
    }

    /// A window's size and shape.
    private struct View: Equatable {
        var size: Int
        var window: WindowShape
    }

    // Unsafe pointers throughout: the buffers of the hot path, allocated once, indexed without exclusivity checks.
    private let hopFrames: Int
    private let tracks: UnsafeMutablePointer<Track>
    private let trackCount: Int
    /// One transform per size and one window per size and shape, so that tracks of a kind find them in the cache.
    private let ffts: [UnsafeMutablePointer<RealFFT>]
    private let windows: [(view: View, weights: UnsafeMutablePointer<Float>)]
    private let slots: UnsafeMutablePointer<SpectrumSlot>
    /// The frames at the stream's sample rate, then those at each other rate.
    private let histories: UnsafeMutablePointer<FrameHistory>
    private let historyCount: Int
    /// For each request in order, the index of its track.
    private let trackOfRequest: [Int]
    /// The first frame of the stream since its start or the last gap; nil before it.
    private var firstFrame: Int64?

    /// The number of transforms computed so far; equal requests share one. For tests.
    private(set) var transformCount = 0

    /// A bank for these requests. Its history holds zeros.
    ///
    /// - Parameters:
    ///   - requests: Those of all analyzers, in order; `slots(_:)` finds their results by index.
    ///   - hopFrames: Frames per hop.
    ///   - sampleRate: Frames per second.
    public init(_ requests: [SpectrumRequest], hopFrames: Int, sampleRate: Int) {
        self.hopFrames = hopFrames
        var identities: [Identity] = []
        var parts: [SpectrumParts] = []
        var trackOfRequest: [Int] = []
        for request in requests {
            let rate = request.sampleRate ?? sampleRate
            var identity = Identity(view: View(size: request.size, window: request.window), sampleRate: rate, hopFrames: 0)
            if case .seconds(let seconds) = request.hop {
                let frames = seconds * Double(rate)
                // A number that is whole but for the rounding of seconds is meant to be whole.
                identity.hopFrames = max(1, abs(frames - frames.rounded()) < 1e-6 ? frames.rounded() : frames)
            }
            if let index = identities.firstIndex(of: identity) {
                parts[index].formUnion(request.parts)
                trackOfRequest.append(index)
            } else {
                trackOfRequest.append(identities.count)
                identities.append(identity)
                parts.append(request.parts)
            }
        }
        self.trackOfRequest = trackOfRequest
        trackCount = identities.count
        tracks = .allocate(capacity: max(1, trackCount))
        // Arrays, and no sets or dictionaries: there are few entries, and each generic type takes the runtime a search at start-up.
        var (ffts, windows) = ([UnsafeMutablePointer<RealFFT>](), [(view: View, weights: UnsafeMutablePointer<Float>)]())
        var rates: [Int] = []
        for identity in identities {
            let view = identity.view
            if !ffts.contains(where: { $0.pointee.size == view.size }) {
                let fft = UnsafeMutablePointer<RealFFT>.allocate(capacity: 1)
                fft.initialize(to: RealFFT(size: view.size))
                ffts.append(fft)
            }
            if view.window != .rectangular, !windows.contains(where: { $0.view == view }) {
                let weights = UnsafeMutablePointer<Float>.allocate(capacity: view.size)
                weights.initialize(from: view.window.values(size: view.size), count: view.size)
                windows.append((view, weights))
            }
            if identity.sampleRate != sampleRate, !rates.contains(identity.sampleRate) { rates.append(identity.sampleRate) }
        }
        rates.sort()
        (self.ffts, self.windows) = (ffts, windows)
        historyCount = 1 + rates.count
        histories = Self.histories(identities, rates, hopFrames: hopFrames, sampleRate: sampleRate)
        for (index, identity) in identities.enumerated() {
            guard let fft = ffts.first(where: { $0.pointee.size == identity.view.size }) else {
                preconditionFailure("every size has its transform")
            }
            let window = windows.first { $0.view == identity.view }?.weights
            let history = histories + (rates.firstIndex(of: identity.sampleRate).map { $0 + 1 } ?? 0)
            let track = Self.track(identity, fft, window, history, parts[index], hopFrames: hopFrames)
            (tracks + index).initialize(to: track)
        }
        slots = .allocate(capacity: max(1, requests.count))
        slots.initialize(repeating: SpectrumSlot(), count: max(1, requests.count))
    }

    deinit {
        tracks.deinitialize(count: trackCount)
        tracks.deallocate()
        for fft in ffts {
            fft.deinitialize(count: 1)
            fft.deallocate()
        }
        for window in windows { window.weights.deallocate() }
        slots.deallocate()
        histories.deinitialize(count: historyCount)
        histories.deallocate()
    }

    private static func histories(
        _ identities: [Identity], _ rates: [Int], hopFrames: Int, sampleRate: Int
    ) -> UnsafeMutablePointer<FrameHistory> {
        func count(_ rate: Int, _ hopFrames: Int) -> Int {
            hopFrames + (identities.filter { $0.sampleRate == rate }.map(\.view.size).max() ?? 0)
        }
        let histories = UnsafeMutablePointer<FrameHistory>.allocate(capacity: 1 + rates.count)
        var reach = 0
        for (index, rate) in rates.enumerated() {
            let resampler = Resampler(from: sampleRate, to: rate)
            reach = max(reach, resampler.reach)
            let ratio = Double(sampleRate) / Double(rate)
            let count = count(rate, Int((Double(hopFrames + resampler.reach) / ratio).rounded(.up)) + 1)
            (histories + 1 + index).initialize(to: FrameHistory(count: count, resampler: resampler, ratio: ratio))
        }
        histories.initialize(to: FrameHistory(count: count(sampleRate, hopFrames) + 2 * reach, reach: reach))
        return histories
    }

    private static func track(
        _ identity: Identity, _ fft: UnsafeMutablePointer<RealFFT>, _ window: UnsafeMutablePointer<Float>?,
        _ history: UnsafeMutablePointer<FrameHistory>, _ parts: SpectrumParts, hopFrames: Int
    ) -> Track {
        let hopFrames = (Double(hopFrames) / history.pointee.ratio).rounded(.up)
        let capacity = identity.hopFrames == 0 ? 1 : Int(hopFrames / identity.hopFrames) + 1
        let binCount = identity.view.size / 2 + 1
        func buffer(_ part: SpectrumParts, _ width: Int) -> UnsafeMutablePointer<Float>? {
            guard parts.contains(part) else { return nil }
            let pointer = UnsafeMutablePointer<Float>.allocate(capacity: capacity * width)
            pointer.initialize(repeating: 0, count: capacity * width)
            return pointer
        }
        return Track(
            fft: fft, window: window.map { UnsafePointer($0) }, history: UnsafePointer(history), hopFrames: identity.hopFrames,
            power: buffer(.power, binCount), magnitude: buffer(.magnitude, binCount), complex: buffer(.complex, 2 * binCount))
    }

    /// The slots of a range of requests, in the order of the requests. Valid as long as the bank exists.
    public func slots(_ range: Range<Int>) -> UnsafeBufferPointer<SpectrumSlot> {
        precondition(range.lowerBound >= 0 && range.upperBound <= trackOfRequest.count, "no such requests")
        return UnsafeBufferPointer(start: slots + range.lowerBound, count: range.count)
    }

    /// Appends a hop to the history and computes the spectra that are due.
    ///
    /// - Parameters:
    ///   - mono: The hop, `hopFrames` frames, zero-padded.
    ///   - frame: The index of its first frame in the stream.
    ///   - frameCount: The number of its frames that are not padding; nil for all. Spectra at an interval in seconds end with these
    ///     frames: after a gap, the stream may continue at the times of the padding.
    public func advance(_ mono: Span<Float>, at frame: Int64, frameCount: Int? = nil) {
        precondition(mono.count == hopFrames, "a hop has always the same length")
        if trackCount == 0 { return }
        if firstFrame == nil { firstFrame = frame }
        histories.pointee.append(mono)
        for index in 1..<historyCount {
            (histories + index).pointee.append(from: histories.pointee, frame..<frame + Int64(hopFrames))
        }
        for index in 0..<trackCount {
            let slot = run(tracks + index, from: frame, frameCount: frameCount ?? hopFrames)
            for request in trackOfRequest.indices where trackOfRequest[request] == index {
                slots[request] = slot
            }
        }
    }

    /// Clears the history: the next windows begin with zeros.
    public func clear() {
        firstFrame = nil
        for index in 0..<historyCount { (histories + index).pointee.clear() }
    }

    private func run(_ track: UnsafeMutablePointer<Track>, from frame: Int64, frameCount: Int) -> SpectrumSlot {
        let size = track.pointee.fft.pointee.size
        let binCount = size / 2 + 1
        let ratio = track.pointee.history.pointee.ratio
        var slot = SpectrumSlot()
        slot.binCount = binCount
        slot.hopFrames = track.pointee.hopFrames * ratio
        slot.power = track.pointee.power.map { UnsafePointer($0) }
        slot.magnitude = track.pointee.magnitude.map { UnsafePointer($0) }
        slot.complex = track.pointee.complex.map { UnsafePointer($0) }
        // In frames at the track's sample rate.
        let edge = track.pointee.history.pointee.frames(before: frame + Int64(hopFrames))
        let step = track.pointee.hopFrames
        guard step > 0 else {
            slot.firstCenter = (Double(edge) - Double(size) / 2) * ratio
            transform(track, ending: edge, edge, into: &slot)
            return slot
        }
        // The last resampled frames change when the frames behind them are known: windows with them come with the next hop, so that
        // their values do not depend on the hop's length.
        let reach = track.pointee.history.pointee.reach
        let start = track.pointee.history.pointee.frames(before: max(firstFrame ?? frame, frame - reach))
        let last = track.pointee.history.pointee.frames(before: frame + Int64(frameCount) - reach)
        // Windows end at multiples of the request's hop since the stream's start, to the nearest frame.
        func end(_ count: Int64) -> Int64 { Int64((Double(count) * step).rounded()) }
        var next = max(1, Int64(Double(start) / step))
        while end(next) <= start { next += 1 }
        slot.firstCenter = (Double(next) * step - Double(size) / 2) * ratio
        while end(next) <= last {
            transform(track, ending: end(next), edge, into: &slot)
            next += 1
        }
        return slot
    }

    private func transform(_ track: UnsafeMutablePointer<Track>, ending end: Int64, _ edge: Int64, into slot: inout SpectrumSlot) {
        let newest = track.pointee.history.pointee.end - Int(edge - end)
        Self.transform(track, newest - track.pointee.fft.pointee.size, into: slot.count)
        transformCount += 1
        slot.count += 1
    }

    private static func transform(
        _ track: UnsafeMutablePointer<Track>, _ samples: UnsafePointer<Float>, into index: Int
    ) {
        let fft = track.pointee.fft
        let size = fft.pointee.size
        let binCount = size / 2 + 1
        if let window = track.pointee.window {
            multiply(samples, window, into: fft.pointee.input, count: size)
        } else {
            fft.pointee.input.update(from: samples, count: size)
        }
        fft.pointee.transform()
        let bins = UnsafePointer(fft.pointee.output)
        if let complex = track.pointee.complex {
            (complex + index * 2 * binCount).update(from: bins, count: 2 * binCount)
        }
        switch (track.pointee.power, track.pointee.magnitude) {
        case (let power?, let magnitude?):
            measure(bins, power + index * binCount, magnitude + index * binCount, count: binCount)
        case (let power?, nil):
            measure(bins, power + index * binCount, nil, count: binCount)
        case (nil, let magnitude?):
            measure(bins, nil, magnitude + index * binCount, count: binCount)
        case (nil, nil):
            break
        }
    }

    private static func multiply(
        _ samples: UnsafePointer<Float>, _ window: UnsafePointer<Float>, into result: UnsafeMutablePointer<Float>, count: Int
    ) {
        var index = 0
        while index + 8 <= count {
            result.store(samples.lanes(index) * window.lanes(index), index)
            index += 8
        }
        while index < count {
            result[index] = samples[index] * window[index]
            index += 1
        }
    }

    /// |X|² and |X| of each bin.
    @inline(__always)
    private static func measure(
        _ bins: UnsafePointer<Float>, _ power: UnsafeMutablePointer<Float>?, _ magnitude: UnsafeMutablePointer<Float>?,
        count: Int
    ) {
        var index = 0
        while index + 8 <= count {
            let low = bins.lanes(2 * index)
            let high = bins.lanes(2 * index + 8)
            let real = Lanes(lowHalf: low.evenHalf, highHalf: high.evenHalf)
            let imaginary = Lanes(lowHalf: low.oddHalf, highHalf: high.oddHalf)
            let square = real * real + imaginary * imaginary
            power?.store(square, index)
            magnitude?.store(square.squareRoot(), index)
            index += 8
        }
        while index < count {
            let square = bins[2 * index] * bins[2 * index] + bins[2 * index + 1] * bins[2 * index + 1]
            power?[index] = square
            magnitude?[index] = square.squareRoot()
            index += 1
        }
    }
}
