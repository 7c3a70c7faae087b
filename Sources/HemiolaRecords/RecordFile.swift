package import Hemiola
package import HemiolaOutput
package import HemiolaSignal
internal import HemiolaWire

/// The records of one stream after another as JSON Lines, in one output, in one per input, or in one after another.
package struct RecordFile: ~Copyable {
    private let template: PathTemplate
    private let opener: OutputOpener
    private let selection: Selection
    /// The file under way and its path; nil where each input has one and none has begun.
    private var output: BufferedOutput?
    private var path = ""
    private var number = 1
    private var input = ""
    private var encoder: RecordEncoder?
    private var rate = 1.0
    private var isLive = false
    private var streams = WrittenStreams()
    private var meter: RotationMeter
    /// Whether the stream's batches are too long for a pipe to take in one piece.
    private var isLong = false

    /// Opens the file, unless each input has one of its own.
    ///
    /// - Parameter selection: The records that are written.
    /// - Throws: What is wrong with the target, before anything is written.
    package init(_ template: PathTemplate, _ opener: OutputOpener, selection: Selection) throws(SinkError) {
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

    /// A stream begins, after the end of the one before.
    package mutating func begin(_ stream: StreamHeader) throws(SinkError) {
        let source = stream.inputPath
        meter.beginStream()
        // In real time there is one input: another device or format continues its file.
        if template.isPerInput, output == nil || source != input && !stream.isLive {
            try close()
            input = source
            try openFile(number: 1)
            meter.beginFile()
        }
        if !streams.hasBegun, output?.startsInsideLine == true { output?.buffer.append("\n") }
        isLong = false
        rate = Double(stream.format.sampleRate)
        isLive = stream.isLive
        encoder = RecordEncoder(stream, selection: selection, version: HemiolaVersion.current)
        try beginPart()
    }

    /// Writes the header of the stream under way.
    private mutating func beginPart() throws(SinkError) {
        streams.begin(isLive: isLive)
        if let encoder, output != nil { encoder.encodeHeader(into: &output!.buffer) }
        try output?.flushIfDue()
    }

    /// Batches of the stream, with their events.
    package mutating func write(_ batches: BatchBlock) throws(SinkError) {
        guard let encoder, output != nil else { return }
        for index in 0..<batches.count {
            if opener.plan.rotation.isOn { try rotateIfFull(before: batches[index]) }
            encoder.encode(batches[index], into: &output!.buffer)
            try output?.flushIfDue()
        }
    }

    /// Events of the stream that come without a batch. The `emitted_t` of each is its own time.
    package mutating func write(_ events: [Event]) throws(SinkError) {
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

    /// Writes batches if that takes no waiting, as into a pipe that has room, and else nothing.
    ///
    /// - Returns: Whether they are written.
    package mutating func writeAtOnce(_ batches: BatchBlock) -> Bool {
        guard let encoder, output?.canLeaveAtOnce == true, !isLong else { return false }
        for index in 0..<batches.count { encoder.encode(batches[index], into: &output!.buffer) }
        // Others will be as long: they need not be encoded twice.
        isLong = output!.buffer.count > OutputFile.longestPiece
        return output!.flushAtOnce()
    }

    /// The stream is over.
    package mutating func end(_ summary: StreamSummary) throws(SinkError) {
        if let encoder, output != nil { encoder.encodeEnd(summary, into: &output!.buffer) }
        encoder = nil
        streams.end(summary.reason)
        try output?.flushIfDue()
    }

    /// What is still buffered is written, then the file gets its path; it disappears when nothing ever began.
    package mutating func close() throws(SinkError) {
        guard streams.hasBegun, output != nil else { return }
        try opener.finish(&output!, at: path, streams, isWholeRun: !template.isPerInput)
        output = nil
    }
}
