internal import CFFTW

/// The discrete Fourier transform of a real signal: the one place that touches FFTW.
///
/// Plans are estimated, never measured, and buffers come from FFTW's own allocator: a measured plan or an unaligned buffer
/// changes the last bits from run to run, and the same input must give the same bytes.
///
/// Analyzers ask the bank for spectra of the mono mix; one that needs another signal's owns a transform:
///
///     var samples = fft.samples       // fill them, as often as it takes
///     fft.transform()
///     let bins = fft.bins             // Re and Im in turn
///
/// - Complexity: O(n log n) per transform, no allocation.
public struct RealFFT: ~Copyable {
    /// Samples that it transforms.
    public let size: Int
    /// `size` samples, to be filled before `transform`. Unsafe because FFTW's plan is bound to this very memory.
    let input: UnsafeMutablePointer<Float>
    /// Re X[0], Im X[0], Re X[1] … Im X[size / 2].
    let output: UnsafeMutablePointer<Float>
    private let plan: fftwf_plan

    /// FFTW's planner is one per process and not safe from several threads until it is told to be, once.
    private static let planner: Void = fftwf_make_planner_thread_safe()
    /// FFTW_ESTIMATE, a shifted macro that Swift does not import.
    private static let estimate: UInt32 = 1 << 6

    /// Plans a transform.
    ///
    /// - Parameter size: Even, 2….
    public init(size: Int) {
        precondition(size >= 2 && size.isMultiple(of: 2), "the transform has an even size")
        Self.planner
        guard let input = fftwf_alloc_real(size), let bins = fftwf_alloc_complex(size / 2 + 1) else {
            preconditionFailure("no memory for a transform of \(size) frames")
        }
        self.size = size
        self.input = input
        input.update(repeating: 0, count: size)
        output = UnsafeMutableRawPointer(bins).assumingMemoryBound(to: Float.self)
        output.update(repeating: 0, count: size + 2)
        guard let plan = fftwf_plan_dft_r2c_1d(Int32(size), input, bins, Self.estimate) else {
            preconditionFailure("FFTW has no plan for a transform of \(size) frames")
        }
        self.plan = plan
    }

    /// The samples to be transformed, `size` of them, 0 at first. They stay what they are until they are written again.
    public var samples: MutableSpan<Float> {
        @_lifetime(&self)
        mutating get {
            let span = UnsafeMutableBufferPointer(start: input, count: size).mutableSpan
            return unsafe _overrideLifetime(span, mutating: &self)
        }
    }

    /// What the last `transform` found, not normalised: Re X[0], Im X[0], Re X[1] … Im X[size / 2].
    public var bins: Span<Float> {
        @_lifetime(borrow self)
        get {
            let span = UnsafeBufferPointer(start: output, count: size + 2).span
            return unsafe _overrideLifetime(span, borrowing: self)
        }
    }

    /// Transforms the samples into the bins.
    public mutating func transform() {
        fftwf_execute(plan)
    }

    deinit {
        fftwf_destroy_plan(plan)
        fftwf_free(input)
        fftwf_free(output)
    }
}
