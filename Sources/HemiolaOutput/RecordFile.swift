public import Hemiola
public import HemiolaSignal
internal import HemiolaWire

/// Writes the records of consecutive streams as JSON Lines: into one file, one file per input, or rotated files.
///
/// Call the methods of the same names in `Sink`, in the same order. All methods may block, except `writeIfReady`.
public struct RecordFile: ~Copyable {
    private let template: PathTemplate
    private let opener: OutputOpener
    private let selection: Selection
    /// The open file and its path; nil if each input has its own file and none has begun.
    private var output: BufferedOutput?
    private var path = ""
    private var number = 1
    private var input = ""
    private var encoder: RecordEncoder?
    private var rate = 1.0
    private var isLive = false
    private var streams = WrittenStreams()
    private var meter: RotationMeter
    /// Whether a batch of the stream is longer than an atomic write to a pipe.
    private var exceedsAtomicWrite = false

    /// Opens the file, unless each input has its own file: that one is opened by `begin`.
    ///
    /// - Parameters:
    ///   - template: The path. If the plan rotates, it must contain `{n}` (`FileRotation.template`).
    ///   - selection: The records and fields to write.
    /// - Throws: The file cannot be opened. Nothing has been written then.
    public init(_ template: PathTemplate, _ opener: OutputOpener, selection: Selection) throws(SinkError) {
        self.template = template
        self.opener = opener
        self.selection = selection
        meter = RotationMeter(opener.plan.rotation)
        if !template.isPerInput { try openFile(number: 1) }
    }

    private mutating func openFile(number first: Int) throws(SinkError) {
        number = template.isNumbered ? opener.freeNumber(from: first) { [opener.path(template, for: input, number: $0)] } : first
        path = opener.path(template, for: input, number: number)
        streams = WrittenStreams()
        output = try opener.open(path)
    }

    /// Writes the header of a stream. Opens the stream's file first if each input has its own.
    public mutating func begin(_ stream: StreamHeader) throws(SinkError) {
        let source = stream.inputPath
        meter.beginStream()
        // A live run has one input: the streams of further devices or formats go to the same file.
        if template.isPerInput, output == nil || source != input && !stream.isLive {
            try close()
            input = source
            try openFile(number: 1)
            meter.beginFile()
        }
        if !streams.hasBegun, output?.startsInsideLine == true { output?.buffer.append("\n") }
        exceedsAtomicWrite = false
        rate = Double(stream.format.sampleRate)
        isLive = stream.isLive
        encoder = RecordEncoder(stream, selection: selection, version: HemiolaVersion.current)
        try beginPart()
    }

    /// Writes the header of the current stream into a new file.
    private mutating func beginPart() throws(SinkError) {
        streams.begin(isLive: isLive)
        if let encoder, output != nil { encoder.encodeHeader(into: &output!.buffer) }
        try output?.flushIfDue()
    }

    /// Writes batches of the stream and their events. Opens the next file where the rotation demands it.
    public mutating func write(_ batches: BatchBlock) throws(SinkError) {
        guard let encoder, output != nil else { return }
        for index in 0..<batches.count {
            if opener.plan.rotation.isOn { try rotateIfFull(before: batches[index]) }
            encoder.encode(batches[index], into: &output!.buffer)
            try output?.flushIfDue()
        }
    }

    /// Writes events of the stream that are in no batch. The field `emitted_t` of each is its own time.
    public mutating func write(_ events: [Event]) throws(SinkError) {
        guard let encoder, output != nil else { return }
        for event in events { encoder.encode(event, batchEnd: event.time, into: &output!.buffer) }
        try output?.flushIfDue()
    }

    private mutating func rotateIfFull(before batch: borrowing Batch) throws(SinkError) {
        let (start, end) = (Double(batch.frame) / rate, Double(batch.endFrame) / rate)
        guard meter.isFull(at: start, end: end, size: output?.size ?? 0) else { return }
        try output?.finish()
        output = nil
        try openFile(number: number + 1)
        try beginPart()
    }

    /// Writes batches if this does not block, which is known of a pipe with room for all of them (at most `PIPE_BUF` bytes). Does not
    /// allocate.
    ///
    /// - Returns: Whether they are written. If not, nothing is written.
    public mutating func writeIfReady(_ batches: BatchBlock) -> Bool {
        guard let encoder, output?.canFlushWithoutBlocking == true, !exceedsAtomicWrite else { return false }
        for index in 0..<batches.count { encoder.encode(batches[index], into: &output!.buffer) }
        // The batches of a stream are about equally long: encoding the next one here would be wasted.
        exceedsAtomicWrite = output!.buffer.count > OutputFile.atomicWriteLimit
        return output!.flushWithoutBlocking()
    }

    /// Writes the end of the stream.
    public mutating func end(_ summary: StreamSummary) throws(SinkError) {
        if let encoder, output != nil { encoder.encodeEnd(summary, into: &output!.buffer) }
        encoder = nil
        streams.end(summary.reason)
        try output?.flushIfDue()
    }

    /// Writes what is buffered and finishes the file. A file for which no stream began is removed.
    public mutating func close() throws(SinkError) {
        guard streams.hasBegun, output != nil else { return }
        try opener.finish(&output!, at: path, streams, isWholeRun: !template.isPerInput)
        output = nil
    }
}
