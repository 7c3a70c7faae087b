internal import Glibc

/// How a process ended.
public enum ProcessExit: Sendable, Hashable, CustomStringConvertible {
    /// It returned this code, 0 for success.
    case code(Int32)
    /// This signal ended it.
    case signal(Int32)

    /// - Parameter status: As `waitpid` returns it.
    private init(status: Int32) {
        self = status & 0x7f == 0 ? .code(status >> 8 & 0xff) : .signal(status & 0x7f)
    }

    /// Reaps a process that this process has started, when it has ended.
    ///
    /// - Parameters:
    ///   - process: Its number, which ``Spawn/start()`` has returned. It may be given to another process afterwards.
    ///   - waits: Whether to wait for its end.
    /// - Returns: How it ended; nil: it runs.
    public static func of(_ process: Int32, waits: Bool = true) -> ProcessExit? {
        var status: Int32 = 0
        while true {
            let result = waitpid(process, &status, waits ? 0 : WNOHANG)
            if result == 0 { return nil }
            // Where the parent of this process ignores SIGCHLD, there is no status, which counts as success.
            if result > 0 || errno != EINTR { return ProcessExit(status: status) }
        }
    }

    /// Ends a process that this process has started, by SIGKILL, and reaps it.
    public static func kill(_ process: Int32) {
        _ = Glibc.kill(process, SIGKILL)
        _ = of(process)
    }

    /// Whether the process reported success.
    public var isSuccess: Bool { self == .code(0) }

    /// What the process did, in words that follow its name.
    public var description: String {
        switch self {
        // The codes of POSIX shells.
        case .code(127): "the command was not found"
        case .code(126): "the command cannot be executed"
        case .code(let code): "ended with exit code \(code)"
        case .signal(let number):
            "was ended by signal \(number)\(strsignal(number).map { " (\(String(cString: $0)))" } ?? "")"
        }
    }
}
