internal import Hemiola
internal import HemiolaSignal

/// Which part of a file is delivered: from a time on, and for a while.
///
/// Times are of the file, lost audio included, and exact to the frame in every format: what lies before is decoded and dropped,
/// since decoders of lossy formats do not seek to the same bits.
struct Excerpt: Sendable, Hashable {
    /// In seconds since the file's first frame, 0….
    var start = 0.0
    /// In seconds; nil: to the end of the file.
    var duration: Double?

    /// Whether it is all of the file.
    var isWhole: Bool { start == 0 && duration == nil }

    /// How much of a file of a length is delivered, in seconds.
    func length(of whole: Double) -> Double {
        max(0, min(whole - start, duration ?? .infinity))
    }
}

/// Where a reader stands in an excerpt.
struct ExcerptPosition {
    /// Frames to pass over before the first one is delivered.
    private(set) var framesBefore: Int64
    /// Frames to deliver; nil: to the end.
    private(set) var framesLeft: Int64?

    init(_ excerpt: Excerpt, _ format: StreamFormat) {
        framesBefore = format.frame(at: min(excerpt.start, 1e9))
        framesLeft = excerpt.duration.map { format.frame(at: min($0, 1e9)) }
    }

    /// Frames that may be read next, at most.
    func limit(_ room: Int) -> Int {
        Int(min(Int64(room), framesBefore > 0 ? framesBefore : framesLeft ?? .max))
    }

    /// What is delivered of what was read; nil: nothing.
    mutating func take(_ delivery: Delivery, from old: StreamFormat) -> Delivery? {
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
