internal import Hemiola
internal import HemiolaRecords

/// Receives the streams of an input, in order. Used by the thread that analyses the input.
protocol StreamReceiver: AnyObject {
    /// Whether any sink still has a reader.
    var hasReaders: Bool { get }
    /// Batches that each sink lost since the stream began; only sinks with losses.
    var losses: [(sink: String, batches: Int64)] { get }

    /// Sets the source of the next streams.
    func open(_ source: StreamSource, input: Int)
    func begin(_ header: StreamHeader)
    func receive(_ block: BatchBlock)
    /// Receives events of the current stream that are written without a batch, such as a lost device. Between `begin` and `end`, in order with
    /// the blocks. Does nothing for an empty array.
    func receive(_ events: [Event])
    func end(_ summary: StreamSummary)
    /// Receives the end of an input, after its streams.
    func end(_ input: InputEnd, of source: SourceInput?)
    func report(_ notice: PipelineNotice)
    /// `report`, for code that runs on another thread or outlives a call.
    var reporter: @Sendable (PipelineNotice) -> Void { get }
    /// Reports that an input failed or was incomplete.
    func fail(_ notice: PipelineNotice)

    /// Once per batch, between two batches: applies the clients' controls to the stream.
    func applyControls(to stream: any ControllableStream)
    /// Sends the replies that wait for a batch, because no batches are written while the device is lost.
    func sendReplies()
}

/// A stream to which controls are applied between two batches: one that is analysed, or a recorded one.
protocol ControllableStream: AnyObject {
    /// Seconds of stream time up to now.
    var seconds: Double { get }

    /// Applies a control at the next batch, which includes its record when it has taken effect.
    func apply(_ control: Control, from origin: String, preparations: [ControlInbox.Preparation]) -> ControlReply
    /// Adds the report of lost batches to the next batch.
    func report(_ drop: DropReport)
}
