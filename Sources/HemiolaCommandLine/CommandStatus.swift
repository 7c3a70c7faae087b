internal import HemiolaEngine

/// What the process tells its caller. Stable; `hemiola --help` lists them.
struct CommandStatus: RawRepresentable, Sendable, Hashable {
    let rawValue: Int32

    /// All is well, also when the reader of standard output went away.
    static let success = CommandStatus(rawValue: 0)
    /// Some input could not be analysed, or not wholly; the others were.
    static let inputFailed = CommandStatus(rawValue: 1)
    /// A wish was refused, or nobody is there to hear it.
    static let refused = CommandStatus(rawValue: 1)
    /// The command line or the configuration is wrong; nothing was done.
    static let usage = CommandStatus(rawValue: 2)
    /// Output could not be written.
    static let outputFailed = CommandStatus(rawValue: 3)

    /// Ended by a signal, as a shell reports it: 128 and the signal's number.
    static func signal(_ number: Int32) -> CommandStatus {
        CommandStatus(rawValue: 128 + number)
    }
}

extension CommandStatus {
    /// How a run went; the worst that befell it counts.
    ///
    /// - Parameter signal: The signal that ended the run, if one did.
    init(_ outcome: RunOutcome, signal: Int32? = nil) {
        if let signal {
            self = .signal(signal)
        } else if outcome.failedSinks > 0 {
            self = .outputFailed
        } else if outcome.failedInputs > 0 {
            self = .inputFailed
        } else {
            self = .success
        }
    }
}

/// Why a command does not do what it was asked: lines for people, and an exit code.
struct Failure: Error, Sendable, Hashable {
    /// One line per problem: what is wrong with which thing, and the way out.
    var lines: [String]
    var status: CommandStatus

    init(_ lines: [String], status: CommandStatus = .usage) {
        self.lines = lines
        self.status = status
    }

    init(_ line: String, status: CommandStatus = .usage) {
        self.init([line], status: status)
    }
}
