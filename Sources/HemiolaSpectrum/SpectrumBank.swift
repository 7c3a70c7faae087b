public import HemiolaSignal

/// Computes every spectrum that the analyzers of a pipeline asked for: equal requests once, whoever made them.
///
/// The bank keeps the last frames of the mono mix, as many as the longest window needs. With each hop it transforms what
/// has become due and leaves the results in its slots, which `Hop` lends to the analyzers.
///
/// - Complexity: per hop O(size · log size) for each distinct request that is due; no allocation after `init`.
public final class SpectrumBank {
    /// Spectra of one kind and where they go. What transforms them belongs to the bank.
    private struct Track: ~Copyable {
        let fft: UnsafeMutablePointer<RealFFT>
        /// nil: the rectangular one.
        let window: UnsafePointer<Float>?
        /// Frames between spectra, which need not be whole ones; 0 for one per hop.
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

    /// Which track a request is served by.
    private struct Identity: Hashable {
        var view: View
        var hopFrames: Double
    }

    /// Frames under a window.
    private struct View: Hashable {
        var size: Int
        var window: WindowShape
    }

    // Unsafe pointers throughout: the buffers of the hot path, allocated once, indexed without exclusivity checks.
    private let hopFrames: Int
    private let tracks: UnsafeMutablePointer<Track>
    private let trackCount: Int
    /// One per size and one per size and shape, so that tracks of a kind find them in the cache.
    private let ffts: [Int: UnsafeMutablePointer<RealFFT>]
    private let windows: [View: UnsafeMutablePointer<Float>]
    private let slots: UnsafeMutablePointer<SpectrumSlot>
    private let history: UnsafeMutablePointer<Float>
    private let historyCount: Int
    /// For each request in order, the track that serves it.
    private let trackOfRequest: [Int]

    /// How many transforms have run: equal requests cost one.
    package private(set) var transformCount = 0

    /// A bank for these requests, its history all zeros.
    ///
    /// - Parameters:
    ///   - requests: Of all analyzers, in order; `slots(_:)` gives them back by index.
    ///   - hopFrames: Frames per hop.
    ///   - sampleRate: Frames per second.
    public init(_ requests: [SpectrumRequest], hopFrames: Int, sampleRate: Int) {
        self.hopFrames = hopFrames
        var identities: [Identity] = []
        var parts: [SpectrumParts] = []
        var trackOfRequest: [Int] = []
        for request in requests {
            var identity = Identity(view: View(size: request.size, window: request.window), hopFrames: 0)
            if case .seconds(let seconds) = request.hop {
                let frames = seconds * Double(sampleRate)
                // Meant to be whole, but for what seconds round off.
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
        var (ffts, windows) = ([Int: UnsafeMutablePointer<RealFFT>](), [View: UnsafeMutablePointer<Float>]())
        for view in Set(identities.map(\.view)) {
            if ffts[view.size] == nil {
                let fft = UnsafeMutablePointer<RealFFT>.allocate(capacity: 1)
                fft.initialize(to: RealFFT(size: view.size))
                ffts[view.size] = fft
            }
            if view.window != .rectangular {
                let window = UnsafeMutableBufferPointer<Float>.allocate(capacity: view.size)
                _ = window.initialize(from: view.window.values(size: view.size))
                windows[view] = window.baseAddress
            }
        }
        (self.ffts, self.windows) = (ffts, windows)
        for (index, identity) in identities.enumerated() {
            guard let fft = ffts[identity.view.size] else { preconditionFailure("every size has its transform") }
            let track = Self.track(identity, fft, windows[identity.view], parts[index], hopFrames: hopFrames)
            (tracks + index).initialize(to: track)
        }
        slots = .allocate(capacity: max(1, requests.count))
        slots.initialize(repeating: SpectrumSlot(), count: max(1, requests.count))
        historyCount = (identities.map(\.view.size).max() ?? 0) + hopFrames
        history = .allocate(capacity: historyCount)
        history.initialize(repeating: 0, count: historyCount)
    }

    deinit {
        tracks.deinitialize(count: trackCount)
        tracks.deallocate()
        for fft in ffts.values {
            fft.deinitialize(count: 1)
            fft.deallocate()
        }
        for window in windows.values { window.deallocate() }
        slots.deallocate()
        history.deallocate()
    }

    private static func track(
        _ identity: Identity, _ fft: UnsafeMutablePointer<RealFFT>, _ window: UnsafeMutablePointer<Float>?,
        _ parts: SpectrumParts, hopFrames: Int
    ) -> Track {
        let capacity = identity.hopFrames == 0 ? 1 : Int(Double(hopFrames) / identity.hopFrames) + 1
        let binCount = identity.view.size / 2 + 1
        func buffer(_ part: SpectrumParts, _ width: Int) -> UnsafeMutablePointer<Float>? {
            guard parts.contains(part) else { return nil }
            let pointer = UnsafeMutablePointer<Float>.allocate(capacity: capacity * width)
            pointer.initialize(repeating: 0, count: capacity * width)
            return pointer
        }
        return Track(
            fft: fft, window: window.map { UnsafePointer($0) }, hopFrames: identity.hopFrames, power: buffer(.power, binCount),
            magnitude: buffer(.magnitude, binCount), complex: buffer(.complex, 2 * binCount))
    }

    /// The slots of a run of requests, in the order they were made. Valid as long as the bank.
    package func slots(_ range: Range<Int>) -> UnsafeBufferPointer<SpectrumSlot> {
        precondition(range.lowerBound >= 0 && range.upperBound <= trackOfRequest.count, "no such requests")
        return UnsafeBufferPointer(start: slots + range.lowerBound, count: range.count)
    }

    /// Takes in a hop and computes what has become due.
    ///
    /// - Parameters:
    ///   - mono: The hop, `hopFrames` frames, zero-padded.
    ///   - frame: Its first frame in the stream.
    ///   - frameCount: Its real frames, when it is a partial one. Spectra that come every so many seconds end with them: what
    ///     follows the padding, after a gap, may ask for the same moments again.
    public func advance(_ mono: Span<Float>, at frame: Int64, frameCount: Int? = nil) {
        precondition(mono.count == hopFrames, "a hop has always the same length")
        if trackCount == 0 { return }
        let kept = historyCount - hopFrames
        history.update(from: history + hopFrames, count: kept)
        mono.withUnsafeBufferPointer { (history + kept).update(from: $0.baseAddress!, count: hopFrames) }
        for index in 0..<trackCount {
            let slot = run(tracks + index, from: frame, frameCount: frameCount ?? hopFrames)
            for request in trackOfRequest.indices where trackOfRequest[request] == index {
                slots[request] = slot
            }
        }
    }

    /// Forgets the audio so far: what comes next stands behind silence.
    public func clear() {
        history.update(repeating: 0, count: historyCount)
    }

    private func run(_ track: UnsafeMutablePointer<Track>, from frame: Int64, frameCount: Int) -> SpectrumSlot {
        let size = track.pointee.fft.pointee.size
        let binCount = size / 2 + 1
        var slot = SpectrumSlot()
        slot.binCount = binCount
        slot.hopFrames = track.pointee.hopFrames
        slot.power = track.pointee.power.map { UnsafePointer($0) }
        slot.magnitude = track.pointee.magnitude.map { UnsafePointer($0) }
        slot.complex = track.pointee.complex.map { UnsafePointer($0) }
        let edge = frame + Int64(hopFrames)
        let step = slot.hopFrames
        guard step > 0 else {
            slot.firstCenter = Double(edge) - Double(size) / 2
            transform(track, ending: edge, edge, into: &slot)
            return slot
        }
        // Windows end at multiples of the request's hop since the stream's start, to the nearest frame.
        func end(_ count: Int64) -> Int64 { Int64((Double(count) * step).rounded()) }
        var next = max(1, Int64(Double(frame) / step))
        while end(next) <= frame { next += 1 }
        slot.firstCenter = Double(next) * step - Double(size) / 2
        while end(next) <= frame + Int64(frameCount) {
            transform(track, ending: end(next), edge, into: &slot)
            next += 1
        }
        return slot
    }

    private func transform(_ track: UnsafeMutablePointer<Track>, ending end: Int64, _ edge: Int64, into slot: inout SpectrumSlot) {
        let newest = history + historyCount - Int(edge - end)
        Self.transform(track, newest - track.pointee.fft.pointee.size, into: slot.count)
        transformCount += 1
        slot.count += 1
    }

    private static func transform(
        _ track: UnsafeMutablePointer<Track>, _ samples: UnsafeMutablePointer<Float>, into index: Int
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

    @inline(__always)
    private static func lanes(_ pointer: UnsafePointer<Float>) -> Lanes {
        UnsafeRawPointer(pointer).loadUnaligned(as: Lanes.self)
    }

    private static func multiply(
        _ samples: UnsafePointer<Float>, _ window: UnsafePointer<Float>, into result: UnsafeMutablePointer<Float>, count: Int
    ) {
        var index = 0
        while index + 8 <= count {
            UnsafeMutableRawPointer(result + index).storeBytes(
                of: lanes(samples + index) * lanes(window + index), as: Lanes.self)
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
            let low = lanes(bins + 2 * index)
            let high = lanes(bins + 2 * index + 8)
            let real = Lanes(lowHalf: low.evenHalf, highHalf: high.evenHalf)
            let imaginary = Lanes(lowHalf: low.oddHalf, highHalf: high.oddHalf)
            let square = real * real + imaginary * imaginary
            if let power { UnsafeMutableRawPointer(power + index).storeBytes(of: square, as: Lanes.self) }
            if let magnitude {
                UnsafeMutableRawPointer(magnitude + index).storeBytes(of: square.squareRoot(), as: Lanes.self)
            }
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
