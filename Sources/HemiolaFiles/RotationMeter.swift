/// Decides when a rotated file is full.
struct RotationMeter {
    /// Stream time per file; nil: no limit.
    private let seconds: Double?
    /// The stream time at which the current file was due to start; negative if it started in an earlier stream.
    private var origin = 0.0
    private var position = 0.0

    /// Creates a meter at the start of the first file.
    init(seconds: Double?) {
        self.seconds = seconds
    }

    /// Call when a stream begins, whose time starts at 0 again. The current file continues.
    mutating func beginStream() {
        origin -= position
        position = 0
    }

    /// Call when a file begins for another reason than `isFull`.
    mutating func beginFile() {
        origin = position
    }

    /// Whether a batch belongs into a new file. Call once per batch, in order.
    ///
    /// - Parameters:
    ///   - start: Time of the batch's first frame in its stream, in seconds.
    ///   - end: Time of the frame after its last, in seconds.
    mutating func isFull(at start: Double, end: Double) -> Bool {
        position = start
        defer { position = end }
        // Tolerance of half a microsecond: the time of a frame is rounded.
        let elapsed = start - origin + 5e-7
        guard let seconds, elapsed >= seconds else { return false }
        // Whole periods, so that the lengths of the batches do not add up to a drift.
        origin += (elapsed / seconds).rounded(.down) * seconds
        return true
    }
}
