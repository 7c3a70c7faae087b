/// The engine's reaction to an error of a sink or a capture.
///
/// A capture waits for its source and reconnects by itself: for its errors, `retry` and `reopen` are the same as `giveUp`.
public enum Remedy: Sendable, Hashable {
    /// The same call may succeed later. The engine repeats it with the same argument after a pause. A sink that throws it continues where the
    /// failed call stopped, and writes nothing twice.
    case retry
    /// The component must be closed and opened again. A sink then gets the header of the stream and the call that failed.
    case reopen
    /// The result of this input cannot be written, but those of others can: in a run from files with one output per input, the input
    /// counts as failed, and the sink is opened again for the next one. Everywhere else the same as `giveUp`.
    case nextInput
    /// No remedy is known.
    case giveUp
    /// No error: the reader has closed the output.
    case finish
}

/// A source cannot be opened or read.
public struct CaptureError: Error, Sendable, CustomStringConvertible {
    /// The engine's reaction.
    public var remedy: Remedy
    /// One line: what is wrong with which input or setting, and what to do.
    public var message: String

    /// An error, by default one without a remedy.
    public init(_ message: String, remedy: Remedy = .giveUp) {
        self.remedy = remedy
        self.message = message
    }

    public var description: String { message }
}

/// An analyzer refuses a format.
public struct AnalyzerError: Error, Sendable, CustomStringConvertible {
    /// One line: what is wrong with which input or setting, and what to do.
    public var message: String

    /// A refusal in one line: what is wrong with which format, and what to do.
    public init(_ message: String) {
        self.message = message
    }

    public var description: String { message }
}

/// A sink cannot write.
public struct SinkError: Error, Sendable, CustomStringConvertible {
    /// The engine's reaction.
    public var remedy: Remedy
    /// One line: what is wrong with which input or setting, and what to do.
    public var message: String

    /// An error, by default one without a remedy.
    public init(_ message: String, remedy: Remedy = .giveUp) {
        self.remedy = remedy
        self.message = message
    }

    public var description: String { message }
}

/// One thing that is wrong with a configuration, and where.
public struct ConfigurationProblem: Sendable, Hashable, CustomStringConvertible {
    /// `sinks[1].period_s`, or empty when it concerns the whole.
    public var path: String
    /// What is wrong, and what to do.
    public var message: String

    /// A problem at a path; an empty path: with the whole.
    public init(_ path: String, _ message: String) {
        self.path = path
        self.message = message
    }

    public var description: String { path.isEmpty ? message : "\(path): \(message)" }
}

/// A configuration cannot be built: all that is wrong with it, at once.
public struct ConfigurationError: Error, Sendable, CustomStringConvertible {
    /// At least one, in the order of the configuration.
    public var problems: [ConfigurationProblem]

    /// All that is wrong, at once.
    public init(_ problems: [ConfigurationProblem]) {
        self.problems = problems
    }

    /// The only problem, and where it is.
    public init(_ message: String, at path: String = "") {
        problems = [ConfigurationProblem(path, message)]
    }

    public var description: String { problems.map(\.description).joined(separator: "\n") }
}
