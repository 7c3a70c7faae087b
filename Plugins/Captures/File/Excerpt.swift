internal import Hemiola

/// The part of a file that is delivered: its start and duration.
///
/// Times count from the start of the file, lost audio included, and are exact to the frame in every format: where a seek would not yield the
/// same bits, the frames before the start are decoded and dropped.
struct Excerpt: Sendable, Hashable {
    /// In seconds since the file's first frame, 0….
    var start = 0.0
    /// In seconds; nil: to the end of the file.
    var duration: Double?

    /// Whether the excerpt is the whole file.
    var isWhole: Bool { start == 0 && duration == nil }

    /// The delivered duration of a file of `whole` seconds, in seconds.
    func length(of whole: Double) -> Double {
        max(0, min(whole - start, duration ?? .infinity))
    }
}

/// The position of a reader in an excerpt.
struct ExcerptPosition {
    /// Frames to skip before the first delivered one.
    var framesBefore: Int64
    /// Frames left to deliver; nil: to the end.
    private(set) var framesLeft: Int64?

    init(_ excerpt: Excerpt, _ format: StreamFormat) {
        framesBefore = format.frame(at: min(excerpt.start, 1e9))
        framesLeft = excerpt.duration.map { format.frame(at: min($0, 1e9)) }
    }

    /// The maximum number of frames to read next into a buffer of `room` frames.
    func limit(_ room: Int) -> Int {
        Int(min(Int64(room), framesBefore > 0 ? framesBefore : framesLeft ?? .max))
    }

    /// Clips a delivery to the excerpt; nil where nothing of it is delivered.
    ///
    /// - Parameter old: The format in which the delivery was read.
    mutating func clip(_ delivery: ReadResult, from old: StreamFormat) -> ReadResult? {
        switch delivery {
        case .frames(let count):
            if framesBefore > 0 {
                framesBefore -= Int64(count)
                return nil
            }
            framesLeft? -= Int64(count)
            return delivery
        case .gap(var gap):
            let isInside = framesBefore == 0
            let passed = min(gap.frames, framesBefore)
            framesBefore -= passed
            gap.frames = min(gap.frames - passed, framesLeft ?? .max)
            framesLeft? -= gap.frames
            return isInside || gap.frames > 0 ? .gap(gap) : nil
        case .format(let new):
            framesBefore = new.frame(at: old.seconds(at: framesBefore))
            framesLeft = framesLeft.map { new.frame(at: old.seconds(at: $0)) }
            return delivery
        case .source, .device, .idle, .end:
            return delivery
        }
    }
}
