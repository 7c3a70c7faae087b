public import Hemiola

/// A notice of a running pipeline to its caller. Library code does not print.
public enum PipelineNotice: Sendable {
    /// An input failed or was incomplete, or its result cannot be written: it counts as failed.
    case inputFailed(input: String, Problem)
    /// A capture reports one line to the user, and goes on: that it waits for its source.
    case captureWarning(input: String, String)
    /// Audio was lost. Seconds of stream time, and the lost frames.
    case gap(input: String, at: Double, duration: Double, frames: Int64, reason: Gap.Reason)
    /// Several parts of a file are missing or damaged: how many, where the first one lies and how long they are together, in
    /// seconds of stream time and in frames. Reported once, at the stream's end.
    case damage(input: String, places: Int, first: Double, duration: Double, frames: Int64)
    /// A live capture opened, moved or lost its source.
    case device(input: String, DeviceEvent)
    /// Silence for so many seconds, which is no pause: before the first sound, or for ten minutes. Live only. The input by its description
    /// for users.
    case silence(input: String, seconds: Double)
    /// The end of a silence that was reported, after so many seconds.
    case sound(input: String, seconds: Double)
    /// A stream is over, after so many seconds.
    case finished(input: String, StreamSummary, seconds: Double)
    /// A sink failed; the others continue.
    case sinkFailed(sink: String, Problem)
    /// A warning of a sink, in one line, also that it cannot write and retries, or writes again; it continues.
    case sinkWarning(sink: String, String)
    /// Information from a sink: one line, and a figure of several lines for terminals, which can be empty.
    case sinkInformation(sink: String, String, figure: [String])
    /// What a user needs to use a sink, such as the URL of a page: one line, and a figure as that of `sinkInformation`.
    case sinkAddress(sink: String, String, figure: [String])
    /// A line that a program of a sink has printed.
    case sinkOutput(sink: String, String)
    /// The run has no thread, so that nothing was analysed, or it ended because no sink was left.
    case runFailed(Problem)
    /// Something else that the user should know, once per run, input or stream, in one line that names what it is about: what is left out
    /// (`on_error=skip`), how the sound was changed for the analysis, what has no effect.
    case warning(String)
}

/// The progress of a run. Cheap to read, from any thread.
public struct PipelineProgress: Sendable, Hashable {
    /// Analysed seconds of the current stream.
    public var seconds: Double
    /// Its length, when the source states it.
    public var duration: Double?
    /// Which of the inputs, 0….
    public var streamIndex: Int
    /// How many inputs there are; 0: unknown.
    public var streamCount: Int
    /// The current stream's name for users.
    public var streamName: String
}

/// The result of a run.
public struct RunOutcome: Sendable, Hashable {
    /// Streams that were begun.
    public var streams = 0
    /// Inputs that were analysed to their end, or failed.
    public var inputs = 0
    /// Inputs that failed or were incomplete.
    public var failedInputs = 0
    /// Sinks that failed.
    public var failedSinks = 0
    /// A sink refused one of its settings: when it was opened, and nothing was analysed, or for a stream that lacks what the setting names.
    public var isMisconfigured = false
    /// Inputs that failed or were incomplete, whose captures have `on_error=skip`.
    public var skippedInputs = 0
    /// Sinks that failed and have `on_error=skip`.
    public var skippedSinks = 0
    /// `stop()` was called.
    public var wasStopped = false
    /// All readers of the sinks have closed the output: the rest of the input was not analysed.
    public var readerIsGone = false

    /// The outcome of a run in which nothing has happened yet.
    public init() {}
}
