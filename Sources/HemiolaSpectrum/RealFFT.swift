internal import CFFTW

/// The discrete Fourier transform of a real signal: the one place that touches FFTW.
///
/// Plans are estimated, never measured, and buffers come from FFTW's own allocator: a measured plan or an unaligned buffer
/// changes the last bits from run to run, and the same input must give the same bytes.
///
/// - Complexity: O(n log n) per transform, no allocation.
struct RealFFT: ~Copyable {
    let size: Int
    /// `size` samples, to be filled before `transform`. Unsafe because FFTW's plan is bound to this very memory.
    let input: UnsafeMutablePointer<Float>
    /// Re X[0], Im X[0], Re X[1] … Im X[size / 2].
    let output: UnsafeMutablePointer<Float>
    private let plan: fftwf_plan

    /// FFTW's planner is one per process and not safe from several threads until it is told to be, once.
    private static let planner: Void = fftwf_make_planner_thread_safe()
    /// FFTW_ESTIMATE, a shifted macro that Swift does not import.
    private static let estimate: UInt32 = 1 << 6

    /// - Parameter size: Even, 2….
    init(size: Int) {
        precondition(size >= 2 && size.isMultiple(of: 2), "the transform has an even size")
        Self.planner
        guard let input = fftwf_alloc_real(size), let bins = fftwf_alloc_complex(size / 2 + 1) else {
            preconditionFailure("no memory for a transform of \(size) frames")
        }
        self.size = size
        self.input = input
        input.update(repeating: 0, count: size)
        output = UnsafeMutableRawPointer(bins).assumingMemoryBound(to: Float.self)
        guard let plan = fftwf_plan_dft_r2c_1d(Int32(size), input, bins, Self.estimate) else {
            preconditionFailure("FFTW has no plan for a transform of \(size) frames")
        }
        self.plan = plan
    }

    /// Transforms `input` into `output`; both keep their places.
    func transform() {
        fftwf_execute(plan)
    }

    deinit {
        fftwf_destroy_plan(plan)
        fftwf_free(input)
        fftwf_free(output)
    }
}
