public import Hemiola
public import HemiolaRecords
internal import HemiolaSignal
public import HemiolaSystem

/// The sink that writes the records of consecutive streams as JSON Lines: into one file, one file per input, or rotated files.
///
/// When the disk is full, a method that writes to a live file throws an error with `Remedy.retry`. The same call with the same argument
/// continues where the failed one stopped; each record is written once. At most one block of records waits in memory.
public final class RecordFile: Sink {
    private let template: PathTemplate
    private let plan: OutputPlan
    private var opener: OutputOpener?
    private var selection = Selection.all
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
    /// Records of the current call that are encoded. Not 0 only inside a call and after one that failed with `Remedy.retry`.
    private var encodedCount = 0
    /// Whether the next batch belongs into a file that is not open yet.
    private var isRotating = false

    /// A sink for a path.
    ///
    /// - Parameters:
    ///   - template: The path. If the plan rotates, it must contain `{n}` (`FileRotation.template`).
    ///   - plan: How its files are opened.
    public init(_ template: PathTemplate, _ plan: OutputPlan = OutputPlan()) {
        self.template = template
        self.plan = plan
        meter = RotationMeter(plan.rotation)
    }

    /// Opens the file, unless each input has its own file: that one is opened by `begin`.
    public func open(_ context: SinkContext) throws(Problem) {
        opener = OutputOpener(plan, context)
        selection = context.selection
        meter = RotationMeter(plan.rotation)
        (encoder, encodedCount, isRotating) = (nil, 0, false)
        if !template.isPerInput { try openFile(number: 1) }
    }

    private func openFile(number first: Int) throws(Problem) {
        guard let opener else { return }
        let free = template.isNumbered ? opener.freeNumber(from: first) { [opener.path(template, for: input, number: $0)] } : first
        path = opener.path(template, for: input, number: free)
        output = try opener.open(path, retriesWrites: true)
        number = free
        streams = WrittenStreams()
    }

    /// Writes the header of a stream. Opens the stream's file first if each input has its own.
    public func begin(_ stream: StreamHeader) throws(Problem) {
        if encodedCount == 0 { try encodeHeader(of: stream) }
        try flushAtEndOfCall()
    }

    private func encodeHeader(of stream: StreamHeader) throws(Problem) {
        let source = stream.outputPath
        meter.beginStream()
        // A live run has one input: the streams of further devices or formats go to the same file.
        if template.isPerInput, output == nil || source != input && !stream.isLive {
            try finishFile()
            input = source
            try openFile(number: 1)
            meter.beginFile()
        }
        if !streams.hasBegun, output?.startsInsideLine == true { output?.buffer.append("\n") }
        rate = Double(stream.format.sampleRate)
        isLive = stream.isLive
        encoder = RecordEncoder(stream, selection: selection, version: HemiolaVersion.current)
        encodeHeader()
        encodedCount = 1
    }

    /// Encodes the header of the current stream at the beginning of a file or of a stream.
    private func encodeHeader() {
        streams.begin(isLive: isLive)
        if let encoder, output != nil { encoder.encodeHeader(into: &output!.buffer) }
    }

    private func flushIfDue() throws(Problem) {
        do throws(Problem) {
            try output?.flushIfDue()
        } catch {
            if error.remedy != .retry { encodedCount = 0 }
            throw error
        }
    }

    private func flushAtEndOfCall() throws(Problem) {
        try flushIfDue()
        encodedCount = 0
    }

    /// Writes batches of the stream and their events. Opens the next file where the rotation demands it.
    public func write(_ batches: BatchBlock) throws(Problem) {
        guard let encoder, output != nil || isRotating else { return }
        while encodedCount < batches.count {
            // The rest of a call that failed.
            try flushIfDue()
            if plan.rotation.isOn { try rotateIfFull(before: batches[encodedCount]) }
            encoder.encode(batches[encodedCount], into: &output!.buffer)
            encodedCount += 1
            try flushIfDue()
        }
        try flushAtEndOfCall()
    }

    /// Writes events of the stream that are in no batch. The field `emitted_t` of each is its own time.
    public func write(_ events: [Event]) throws(Problem) {
        guard let encoder, output != nil else { return }
        if encodedCount == 0 {
            for event in events { encoder.encode(event, batchEnd: event.time, into: &output!.buffer) }
            encodedCount = events.count
        }
        try flushAtEndOfCall()
    }

    private func rotateIfFull(before batch: borrowing Batch) throws(Problem) {
        let (start, end) = (Double(batch.frame) / rate, Double(batch.endFrame) / rate)
        if !isRotating { isRotating = meter.isFull(at: start, end: end, size: output?.size ?? 0) }
        guard isRotating else { return }
        try output?.finish()
        output = nil
        try openFile(number: number + 1)
        isRotating = false
        encodeHeader()
        try flushIfDue()
    }

    /// Writes the end of the stream.
    public func end(_ summary: StreamSummary) throws(Problem) {
        if let encoder, output != nil { encoder.encodeEnd(summary, into: &output!.buffer) }
        encoder = nil
        streams.end(summary.reason)
        try flushIfDue()
    }

    /// Ends an input: finishes a file of its own. A file of several inputs gets the record `failure` of an input without streams and is
    /// flushed, if another program waits for it (`OutputOpener.answersInputs`).
    public func end(_ input: InputEnd) throws(Problem) {
        if template.isPerInput { return try finishFile() }
        guard opener?.answersInputs == true, output != nil else { return }
        // A program that waits for `end` records waits for `failure` records too.
        if encodedCount == 0, input.streamCount == 0, input.error != nil, selection.contains("failure") || selection.contains("end") {
            output!.buffer.append(failure: input)
            encodedCount = 1
        }
        do throws(Problem) {
            try output?.flush()
        } catch {
            if error.remedy != .retry { encodedCount = 0 }
            throw error
        }
        encodedCount = 0
    }

    /// Writes what is buffered and finishes the file. A file for which no stream began is removed.
    public func close() throws(Problem) {
        defer { output = nil }
        try finishFile()
    }

    private func finishFile() throws(Problem) {
        guard streams.hasBegun, output != nil, let opener else { return }
        try opener.finish(&output!, at: path, streams, isWholeRun: !template.isPerInput)
        output = nil
    }
}
