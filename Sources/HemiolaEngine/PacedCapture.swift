internal import Hemiola
internal import HemiolaSignal

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// Delays the reads of a capture to real time. The read results are the same; none is lost.
final class PacedCapture: Capture {
    private let base: any Capture
    private var format = StreamFormat(sampleRate: 1, channelCount: 1)
    /// The monotonic clock at the stream's first frame, in seconds.
    private var start = 0.0
    private var frames: Int64 = 0
    private var isStarted = false

    init(_ base: any Capture) {
        self.base = base
    }

    var isLive: Bool { base.isLive }

    func open(_ request: FormatRequest) throws(CaptureError) -> StreamSource {
        let source = try base.open(request)
        format = source.format
        return source
    }

    func read(into samples: inout MutableSpan<Float>) throws(CaptureError) -> ReadResult {
        if !isStarted {
            isStarted = true
            start = Self.now
        }
        let ahead = start + format.seconds(at: frames) - Self.now
        if ahead > 0 {
            usleep(useconds_t(min(ahead, 0.1) * 1e6))
            if ahead > 0.1 { return .idle }
        }
        let delivery = try base.read(into: &samples)
        switch delivery {
        case .frames(let count): frames += Int64(count)
        case .gap(let gap): frames += gap.frames
        case .format(let new):
            start += format.seconds(at: frames)
            frames = 0
            format = new
        case .source(let new):
            start += format.seconds(at: frames)
            frames = 0
            format = new.format
        case .device, .idle, .end: break
        }
        return delivery
    }

    func close() {
        base.close()
    }

    private static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }
}
