internal import Hemiola

/// The samples of a recorded stream, read from the audio that it was made of. Used on the analysis thread.
///
/// The audio and the records are aligned by their frame: a gap in the audio, and its end, are silence.
final class RecordedAudio {
    let name: String
    private let capture: any Capture
    private let header: StreamHeader
    private let isCancelled: @Sendable () -> Bool
    /// The number of the next frame of the capture.
    private(set) var position: Int64
    private(set) var isAtEnd = false
    /// Frames of the current gap that were not passed on.
    private var gapFrames: Int64 = 0

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
        self.isCancelled = isCancelled
        let source = try capture.open(
            FormatRequest(
                sampleRate: header.format.sampleRate, batchFrames: header.batching.batchFrames, isCancelled: isCancelled, warn: warn))
        // The records may begin inside of the file. From here on, an error closes the capture.
        position = -header.format.frame(at: min(max(0, header.source.start ?? 0), 1e9))
        try check(source.format)
    }

    deinit {
        capture.close()
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
    func read(at frame: Int64, into samples: inout MutableSpan<Float>) throws(Problem) {
        let channels = header.format.channelCount
        let end = frame + Int64(samples.count / channels)
        // For the frames before the batch.
        var unused = [Float](repeating: 0, count: position < frame ? header.batching.batchFrames * channels : 0)
        while position < end, !isAtEnd, !isCancelled() {
            if gapFrames > 0 {
                let passed = min(gapFrames, end - position)
                position += passed
                gapFrames -= passed
            } else if position < frame {
                var span = unused.mutableSpan
                var front = span._mutatingExtracting(0..<Int(min(Int64(header.batching.batchFrames), frame - position)) * channels)
                position += Int64(try next(into: &front))
            } else {
                var rest = samples._mutatingExtracting(Int(position - frame) * channels..<samples.count)
                position += Int64(try next(into: &rest))
                // As in an analysis.
                _ = rest.silenceNonFinite()
            }
        }
    }

    /// Whether the audio has frames after the last one that was read.
    func hasMore() throws(Problem) -> Bool {
        let last = position
        var frame = [Float](repeating: 0, count: header.format.channelCount)
        var span = frame.mutableSpan
        try read(at: last, into: &span)
        return position > last
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
