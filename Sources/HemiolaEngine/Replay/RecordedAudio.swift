internal import Hemiola

/// The samples of a recorded stream, read from the audio that it was made of. Used on the analysis thread.
///
/// The audio and the records are aligned by their frame: a gap in the audio, and its end, are silence.
final class RecordedAudio {
    let name: String
    private let capture: any Capture
    private let header: StreamHeader
    /// The number of the next frame of the capture.
    private(set) var position: Int64
    private(set) var isAtEnd = false
    /// Frames of the current gap that were not passed on.
    private var gapFrames: Int64 = 0
    private var isOpen = false
    private var scratch: [Float]

    /// Opens the audio of a stream.
    ///
    /// - Parameters:
    ///   - isCancelled: Whether the run is to end.
    ///   - warn: Receives a warning in one line.
    /// - Throws: The audio cannot be opened, or its format is not that of the recording.
    init(
        _ name: String, _ capture: any Capture, of header: StreamHeader, isCancelled: @escaping @Sendable () -> Bool,
        warn: @escaping @Sendable (String) -> Void
    ) throws(Problem) {
        self.name = name
        self.capture = capture
        self.header = header
        scratch = [Float](repeating: 0, count: header.batching.batchFrames * header.format.channelCount)
        // The records may begin inside of the file.
        position = -header.format.frame(at: min(max(0, header.source.start ?? 0), 1e9))
        let source = try capture.open(
            FormatRequest(
                sampleRate: header.format.sampleRate, batchFrames: header.batching.batchFrames, isCancelled: isCancelled, warn: warn))
        isOpen = true
        try check(source.format)
    }

    deinit {
        if isOpen { capture.close() }
    }

    private func check(_ format: StreamFormat) throws(Problem) {
        let expected = header.format
        guard format.sampleRate == expected.sampleRate, format.channelCount == expected.channelCount else {
            throw Problem(
                "\(name): \(format.sampleRate) Hz and \(format.channelCount) channel\(format.channelCount == 1 ? "" : "s"), but the recording "
                    + "has \(expected.sampleRate) Hz and \(expected.channelCount); give the file that was recorded")
        }
    }

    /// Reads the frames of a batch. Frames that the audio does not have stay as they are.
    ///
    /// - Parameters:
    ///   - frame: The first frame, not before the last one that was read.
    ///   - samples: Receives a whole number of interleaved frames.
    func read(at frame: Int64, into samples: inout MutableSpan<Float>, shouldStop: () -> Bool) throws(Problem) {
        let channels = header.format.channelCount
        try skip(to: frame, shouldStop)
        let count = samples.count / channels
        var filled = Int(min(Int64(count), max(0, position - frame)))
        while filled < count, !isAtEnd, !shouldStop() {
            if gapFrames > 0 {
                let part = Int(min(gapFrames, Int64(count - filled)))
                filled += part
                pass(Int64(part))
                continue
            }
            var rest = samples._mutatingExtracting(filled * channels..<count * channels)
            let delivered = try next(into: &rest)
            // As in an analysis.
            _ = rest.silenceNonFinite()
            filled += delivered
            position += Int64(delivered)
        }
    }

    /// Whether the audio has frames after the last one that was read.
    func hasMore(shouldStop: () -> Bool) throws(Problem) -> Bool {
        while !isAtEnd, !shouldStop() {
            if gapFrames > 0 { return true }
            if try discard(header.batching.batchFrames) > 0 { return true }
        }
        return false
    }

    private func skip(to frame: Int64, _ shouldStop: () -> Bool) throws(Problem) {
        while position < frame, !isAtEnd, !shouldStop() {
            if gapFrames > 0 {
                pass(min(gapFrames, frame - position))
                continue
            }
            let count = min(Int64(header.batching.batchFrames), frame - position)
            position += Int64(try discard(Int(count)))
        }
    }

    /// Passes frames of the current gap.
    private func pass(_ frames: Int64) {
        position += frames
        gapFrames -= frames
    }

    /// Reads frames without a use for them.
    private func discard(_ count: Int) throws(Problem) -> Int {
        // Moved out, because a span of a property cannot be passed on.
        var buffer = scratch
        scratch = []
        defer { scratch = buffer }
        var span = buffer.mutableSpan
        var front = span._mutatingExtracting(0..<count * header.format.channelCount)
        return try next(into: &front)
    }

    /// - Returns: The number of frames that were read; 0 at the end, before a gap, and when none is available yet.
    private func next(into samples: inout MutableSpan<Float>) throws(Problem) -> Int {
        switch try capture.read(into: &samples) {
        case .frames(let count): return count
        case .gap(let gap): gapFrames = gap.frames
        case .format(let format): try check(format)
        case .source(let source): try check(source.format)
        case .device, .idle: break
        case .end: isAtEnd = true
        }
        return 0
    }
}
