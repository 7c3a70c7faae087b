internal import Hemiola

/// Delays the reads of a capture to real time. The read results are the same; none is lost.
final class PacedCapture: Capture {
    private let base: any Capture
    private var format = StreamFormat(sampleRate: 1, channelCount: 1)
    private var pace = RealTimePace()
    /// Duration of the streams before the current one, in seconds.
    private var secondsBefore = 0.0
    /// Frames of the current stream that were delivered, or lost before delivered ones.
    private var frames: Int64 = 0
    /// Frames of the gap that follows them.
    private var lostFrames: Int64 = 0
    private var name = ""
    private var request = FormatRequest()

    init(_ base: any Capture) {
        self.base = base
    }

    var isLive: Bool { base.isLive }

    func open(_ request: FormatRequest) throws(Problem) -> StreamSource {
        let source = try base.open(request)
        format = source.format
        name = source.name
        self.request = request
        return source
    }

    func read(into samples: inout MutableSpan<Float>) throws(Problem) -> ReadResult {
        guard pace.wait(for: seconds, request.clock) else { return .idle }
        // Whether audio follows a gap is known when its first frame was read: at the end of a file that was cut off there is nothing to
        // wait for.
        var front = samples._mutatingExtracting(0..<(lostFrames > 0 ? format.channelCount : samples.count))
        let delivery = try base.read(into: &front)
        switch delivery {
        case .frames(let count):
            if let pause = pace.note(seconds, now: request.clock.now) { request.warn("\(name): \(pause)") }
            frames += lostFrames + Int64(count)
            lostFrames = 0
        case .gap(let gap) where gap.frames == 0 && !gap.reason.isOfFile:
            // The source has paused: the rest follows that much later, which its own message says.
            pace = RealTimePace()
        case .gap(let gap): lostFrames += gap.frames
        case .format(let new): begin(new)
        case .source(let new): begin(new.format)
        case .device, .idle, .end: break
        }
        return delivery
    }

    func close() {
        base.close()
    }

    /// The time of the next frame, without a gap before it.
    private var seconds: Double { secondsBefore + format.seconds(at: frames) }

    private func begin(_ new: StreamFormat) {
        secondsBefore += format.seconds(at: frames + lostFrames)
        frames = 0
        lostFrames = 0
        format = new
    }
}
