internal import CFFTW
package import HemiolaSystem
internal import Synchronization

extension SharedLibrary {
    package static let fftw = SharedLibrary(
        "FFTW", soname: "libfftw3f.so.3", package: "libfftw3-single3", licence: "GPL-2.0-or-later", relation: .depends, use: "spectra",
        isLinked: true, versionSymbol: .text("fftwf_version"))
}

/// The discrete Fourier transform of a real signal. Only this file calls FFTW.
///
/// Plans are estimated, never measured, and buffers come from FFTW's allocator: a measured plan or an unaligned buffer
/// changes the last bits from run to run, and the same input must give the same bytes.
///
/// Analyzers request spectra of the mono mix from the spectrum bank. An analyzer that needs the spectrum of another signal owns a
/// transform:
///
///     var samples = fft.samples       // write all of them before each transform
///     fft.transform()
///     let bins = fft.bins             // Re and Im of each bin in turn
///
/// - Complexity: O(n log n) per transform, no allocation.
public struct RealFFT: ~Copyable {
    /// The number of samples per transform.
    public let size: Int
    /// `size` samples, written before `transform`. Unsafe because FFTW's plan is bound to this memory.
    let input: UnsafeMutablePointer<Float>
    /// Re X[0], Im X[0], Re X[1] … Im X[size / 2].
    let output: UnsafeMutablePointer<Float>
    private let plan: fftwf_plan

    /// The state of FFTW's planner, which is one per process and not thread-safe: it is called only under this lock.
    private static let planner = Mutex(PlannerState())

    private struct PlannerState {
        /// Whether FFTW has read `fftwWisdom`, or rejected it.
        var hasReadWisdom = false
    }

    /// FFTW_ESTIMATE, a shifted macro that Swift does not import.
    private static let estimate: UInt32 = 1 << 6

    /// Plans a transform. Sizes that `fftwWisdom` holds take microseconds, others a few milliseconds.
    ///
    /// - Parameter size: Even, 2….
    public init(size: Int) {
        precondition(size >= 2 && size.isMultiple(of: 2), "the transform has an even size")
        guard let input = fftwf_alloc_real(size), let bins = fftwf_alloc_complex(size / 2 + 1) else {
            exitForLackOfMemory()
        }
        self.size = size
        self.input = input
        input.update(repeating: 0, count: size)
        output = UnsafeMutableRawPointer(bins).assumingMemoryBound(to: Float.self)
        output.update(repeating: 0, count: size + 2)
        let plan = Self.planner.withLock { state in
            if !state.hasReadWisdom {
                state.hasReadWisdom = true
                _ = fftwf_import_wisdom_from_string(fftwWisdom)
            }
            return unsafe UInt(bitPattern: fftwf_plan_dft_r2c_1d(Int32(size), input, bins, Self.estimate))
        }
        guard let plan = fftwf_plan(bitPattern: plan) else {
            preconditionFailure("FFTW has no plan for a transform of \(size) frames")
        }
        self.plan = plan
    }

    /// Makes FFTW forget its wisdom, so that the next plans are searched for; for tests.
    static func forgetWisdom() {
        planner.withLock { _ in fftwf_forget_wisdom() }
    }

    /// The samples to be transformed, `size` of them, 0 at first. They keep their values until they are written again.
    public var samples: MutableSpan<Float> {
        @_lifetime(&self)
        mutating get {
            let span = UnsafeMutableBufferPointer(start: input, count: size).mutableSpan
            return unsafe _overrideLifetime(span, mutating: &self)
        }
    }

    /// The result of the last `transform`, not normalised: Re X[0], Im X[0], Re X[1] … Im X[size / 2].
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
        // The plan is of no use to any other thread: only its address crosses into the closure.
        let address = UInt(bitPattern: plan)
        Self.planner.withLock { _ in fftwf_destroy_plan(fftwf_plan(bitPattern: address)) }
        fftwf_free(input)
        fftwf_free(output)
    }
}
