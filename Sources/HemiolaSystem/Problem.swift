/// What is wrong, for people: one line, with what to do about it.
///
/// The only error of Hemiola's modules and plugins beside that of a system call. It is passed on as it is: who knows the setting adds the
/// ``place``, who knows what helps chooses the ``remedy``.
public struct Problem: Error, Sendable, Hashable, CustomStringConvertible {
    /// One line: what is wrong with which input or setting, and what to do.
    public var message: String
    /// Where it is in a configuration; nil: in none, or in the whole.
    public var place: Place?
    /// The engine's reaction.
    public var remedy: Remedy
    /// What else is wrong, where all is reported at once: the further problems of a configuration.
    public var others: [Problem]

    /// A problem, by default one without a remedy.
    public init(_ message: String, at place: Place? = nil, remedy: Remedy = .giveUp) {
        self.message = message
        self.place = place
        self.remedy = remedy
        others = []
    }

    /// A problem with a setting of a plugin.
    public init(_ message: String, at key: String) {
        self.init(message, at: .key(key))
    }

    /// All that is wrong, at once: one problem at least.
    public init(_ problems: [Problem]) {
        let all = problems.flatMap(\.all)
        self = all[0]
        others = Array(all.dropFirst())
    }

    /// This problem and the others, in the order of the configuration.
    public var all: [Problem] {
        var first = self
        first.others = []
        return [first] + others
    }

    /// The place and the message; of several problems, one line each.
    public var description: String {
        all.map { problem in problem.place.map { "\($0): \(problem.message)" } ?? problem.message }.joined(separator: "\n")
    }
}

/// The engine's reaction to a problem of a sink or a capture.
///
/// A capture waits for its source and reconnects by itself: for its problems, `retry` and `reopen` are the same as `giveUp`.
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
