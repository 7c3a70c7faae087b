internal import HemiolaEngine

/// The exit code of the process. The values are stable; `hemiola --help` lists them.
struct CommandStatus: RawRepresentable, Sendable, Hashable {
    let rawValue: Int32

    /// Success; also when the reader of standard output closed it early.
    static let success = CommandStatus(rawValue: 0)
    /// At least one input failed or was incomplete; all other inputs were analysed.
    static let inputFailed = CommandStatus(rawValue: 1)
    /// A control was refused, or no running hemiola could be reached.
    static let refused = CommandStatus(rawValue: 1)
    /// The program that shows the window could not be started.
    static let windowFailed = CommandStatus(rawValue: 1)
    /// Invalid arguments or configuration; nothing was done.
    static let usage = CommandStatus(rawValue: 2)
    /// Output could not be written.
    static let outputFailed = CommandStatus(rawValue: 3)

    /// Ended by a signal, as shells report it: 128 + the signal number.
    static func signal(_ number: Int32) -> CommandStatus {
        CommandStatus(rawValue: 128 + number)
    }

    var isSignal: Bool { rawValue > 128 }
}

extension CommandStatus {
    /// The status of a run: a wrong setting, else the most severe of its failures.
    ///
    /// - Parameter signal: The signal that ended the run, if one did.
    init(_ outcome: RunOutcome, signal: Int32? = nil) {
        if let signal {
            self = .signal(signal)
        } else if outcome.isMisconfigured {
            self = .usage
        } else if outcome.failedSinks > 0 {
            self = .outputFailed
        } else if outcome.failedInputs > 0 {
            self = .inputFailed
        } else {
            self = .success
        }
    }
}

/// Why a command failed: error messages and an exit code.
struct Failure: Error, Sendable, Hashable {
    /// One line per problem: the input, what is wrong, and what to do.
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
