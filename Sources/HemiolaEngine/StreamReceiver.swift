internal import Hemiola
internal import HemiolaSignal

/// Receives the streams of an input, in order. Used by the thread that analyses the input.
protocol StreamReceiver: AnyObject {
    /// Whether any sink still has a reader.
    var hasReaders: Bool { get }
    /// Batches that each sink lost since the stream began; those that lost none are left out.
    var losses: [(sink: String, batches: Int64)] { get }

    /// The next streams are of this source.
    func open(_ source: StreamSource, input: Int)
    func begin(_ header: StreamHeader)
    func receive(_ block: BatchBlock)
    /// Events of the stream under way that no batch will carry soon, e.g. a lost device. Between `begin` and `end`, in order with
    /// the blocks. Does nothing for an empty array.
    func receive(_ events: [Event])
    func end(_ summary: StreamSummary)
    func report(_ notice: PipelineNotice)
    /// `report`, for code that runs on another thread or outlives a call.
    var reporter: @Sendable (PipelineNotice) -> Void { get }
    /// An input was not, or not wholly, analysed.
    func fail(_ notice: PipelineNotice)

    /// Once per batch, between two batches: applies the clients' controls to the stream.
    func applyControls(to stream: StreamAnalysis)
    /// Sends the replies that wait for a batch: none comes as long as the device is lost.
    func sendReplies()
}
