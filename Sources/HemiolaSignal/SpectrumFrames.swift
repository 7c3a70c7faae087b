/// Where the engine keeps the spectra of one request.
///
/// The pointers are the bank's buffers, valid while a hop is being processed; `Hop` has them as spans and never lets one
/// escape. Unsafe because a span cannot be stored in a table that outlives the hop.
@unsafe public struct SpectrumSlot {
    /// Spectra that came with the hop.
    public var count = 0
    /// Bins from DC to Nyquist.
    public var binCount = 0
    /// The middle of the first window, in frames since the stream's first.
    public var firstCenter: Double = 0
    /// Frames from one spectrum to the next, which need not be whole ones.
    public var hopFrames: Double = 0
    /// |X|², one spectrum after the other; nil unless requested.
    public var power: UnsafePointer<Float>?
    /// |X|, one spectrum after the other; nil unless requested.
    public var magnitude: UnsafePointer<Float>?
    /// Re and Im of X in turn, one spectrum after the other; nil unless requested.
    public var complex: UnsafePointer<Float>?

    /// No spectra.
    public init() {}
}

/// The spectra of one request that came with a hop, oldest first.
public struct SpectrumFrames: ~Escapable {
    private let slot: SpectrumSlot

    @_lifetime(immortal)
    init(_ slot: SpectrumSlot) {
        self.slot = slot
    }

    /// How many: exactly one for `.everyHop`.
    public var count: Int { slot.count }
    /// Bins from DC to Nyquist.
    public var binCount: Int { slot.binCount }

    /// The middle of a window, in frames since the stream's first; negative at the start, where the window reaches back
    /// before the audio (zeros).
    public func center(of index: Int) -> Double {
        slot.firstCenter + Double(index) * slot.hopFrames
    }

    /// |X|², `binCount` values.
    @_lifetime(copy self)
    public func power(_ index: Int) -> Span<Float> {
        span(slot.power, index, slot.binCount)
    }

    /// |X|, `binCount` values.
    @_lifetime(copy self)
    public func magnitude(_ index: Int) -> Span<Float> {
        span(slot.magnitude, index, slot.binCount)
    }

    /// Re X[0], Im X[0], Re X[1] …: `2 * binCount` values.
    @_lifetime(copy self)
    public func complex(_ index: Int) -> Span<Float> {
        span(slot.complex, index, 2 * slot.binCount)
    }

    @_lifetime(copy self)
    private func span(_ base: UnsafePointer<Float>?, _ index: Int, _ length: Int) -> Span<Float> {
        precondition(index >= 0 && index < slot.count, "no such spectrum in this hop")
        guard let base else { preconditionFailure("this part of the spectrum was not requested") }
        let buffer = UnsafeBufferPointer(start: base + index * length, count: length)
        return unsafe _overrideLifetime(buffer.span, copying: self)
    }
}
