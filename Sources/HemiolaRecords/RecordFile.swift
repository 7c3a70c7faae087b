package import Hemiola
package import HemiolaOutput
package import HemiolaSignal
internal import HemiolaWire

/// The records of one stream after another as JSON Lines, in one output.
///
/// Without `close` a new file disappears.
package struct RecordFile: ~Copyable {
    private let selection: Selection
    private var output: BufferedOutput
    private var encoder: RecordEncoder?
    private var hasBegun = false
    /// Whether the stream's batches are too long for a pipe to take in one piece.
    private var isLong = false

    /// - Parameters:
    ///   - selection: The records that are written.
    ///   - isLive: Whether batches come as time passes.
    /// - Throws: What is wrong with the target, before anything is written.
    package init(
        _ target: OutputTarget, appends: Bool = false, flush: FlushPolicy = .auto, compression: Compression?, selection: Selection,
        isLive: Bool
    ) throws(SinkError) {
        self.selection = selection
        output = try BufferedOutput(
            target, appends: appends, compression: compression, flushesAtOnce: flush.isAtOnce(isLive: isLive))
    }

    /// A stream begins, after the end of the one before.
    package mutating func begin(_ stream: StreamHeader) throws(SinkError) {
        if !hasBegun, output.startsInsideLine { output.buffer.append("\n") }
        hasBegun = true
        isLong = false
        let encoder = RecordEncoder(stream, selection: selection, version: HemiolaVersion.current)
        encoder.encodeHeader(into: &output.buffer)
        self.encoder = encoder
        try output.flushIfDue()
    }

    /// Batches of the stream, with their events.
    package mutating func write(_ batches: BatchBlock) throws(SinkError) {
        guard let encoder else { return }
        for index in 0..<batches.count {
            encoder.encode(batches[index], into: &output.buffer)
            try output.flushIfDue()
        }
    }

    /// Events of the stream that come without a batch. The `emitted_t` of each is its own time.
    package mutating func write(_ events: [Event]) throws(SinkError) {
        guard let encoder else { return }
        for event in events { encoder.encode(event, batchEnd: event.time, into: &output.buffer) }
        try output.flushIfDue()
    }

    /// Writes batches if that takes no waiting, as into a pipe that has room, and else nothing.
    ///
    /// - Returns: Whether they are written.
    package mutating func writeAtOnce(_ batches: BatchBlock) -> Bool {
        guard let encoder, output.canLeaveAtOnce, !isLong else { return false }
        for index in 0..<batches.count { encoder.encode(batches[index], into: &output.buffer) }
        // Others will be as long: they need not be encoded twice.
        isLong = output.buffer.count > OutputFile.longestPiece
        return output.flushAtOnce()
    }

    /// The stream is over.
    package mutating func end(_ summary: StreamSummary) throws(SinkError) {
        encoder?.encodeEnd(summary, into: &output.buffer)
        encoder = nil
        try output.flushIfDue()
    }

    /// What is still buffered is written, then the file gets its name; it disappears when that fails or nothing ever began.
    package mutating func close() throws(SinkError) {
        if hasBegun { try output.finish() }
    }
}
