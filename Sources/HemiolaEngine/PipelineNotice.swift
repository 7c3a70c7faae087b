public import Hemiola
public import HemiolaSignal

/// What a running pipeline tells whoever runs it. Library code does not print.
public enum PipelineNotice: Sendable {
    /// An input was not, or not wholly, analysed.
    case captureFailed(input: String, CaptureError)
    /// A capture reports one line to the user, and goes on: that it waits for its source.
    case captureRemark(input: String, String)
    /// An analyzer refuses the input's format: it was not analysed.
    case analyzerRefused(input: String, AnalyzerError)
    /// Audio was lost. Seconds of stream time.
    case gap(input: String, at: Double, duration: Double, reason: Gap.Reason)
    /// Several parts of a file are missing or damaged: how many, where the first one lies and how long they are together, in
    /// seconds of stream time. Reported once, at the stream's end.
    case damage(input: String, places: Int, first: Double, duration: Double)
    /// A live capture opened, moved or lost its source.
    case device(input: String, DeviceNotice)
    /// Nothing but silence for so many seconds; told once, until something is heard again. Live only. The input by the name
    /// that people know.
    case silence(input: String, seconds: Double)
    /// NaN or infinite samples became 0: told once per stream, at its end.
    case nonFinite(input: String, samples: Int64)
    /// A sink gave up; the others go on.
    case sinkFailed(sink: String, SinkError)
    /// A sink has trouble and tries again.
    case sinkTrouble(sink: String, SinkError)
    /// A sink has something to say, in one line, and goes on.
    case sinkRemark(sink: String, String)
    /// It works again.
    case sinkReopened(sink: String)
    /// A sink needs real time: the file is paced.
    case pacing(sink: String)
    /// The inputs are analysed one at a time, although more were wished for.
    case oneAtATime(wished: Int, OneAtATimeReason)
    /// A replayed control had no effect; told once per reason and stream.
    case controlRefused(input: String, StampedControl, reason: String)
    /// A stream is over.
    case finished(input: String, StreamSummary)
}

/// Why inputs cannot be analysed ahead of their turn.
public enum OneAtATimeReason: Sendable, Hashable {
    /// An input is live.
    case live
    /// They take the time that they take: as the user wished, or a sink.
    case pacing
    /// A sink decides while it hears them, in their order.
    case directing(sink: String)
}

/// How far a run is. Cheap to ask, from any thread.
public struct PipelineProgress: Sendable, Hashable {
    /// Seconds analysed of the stream under way.
    public var seconds: Double
    /// Its length, when the source states it.
    public var duration: Double?
    /// Which of the inputs, 0….
    public var streamIndex: Int
    /// How many inputs there are.
    public var streamCount: Int
    /// What the user would call the stream under way.
    public var streamName: String
}

/// How a run went.
public struct RunOutcome: Sendable, Hashable {
    /// Streams that were begun.
    public var streams = 0
    /// Inputs that were not, or not wholly, analysed.
    public var failedInputs = 0
    /// Sinks that gave up.
    public var failedSinks = 0
    /// Somebody called `stop()`.
    public var wasStopped = false
    /// Every sink's reader has gone: the rest of the input was not analysed.
    public var readerIsGone = false

    /// The outcome of a run in which nothing has happened yet.
    public init() {}
}
