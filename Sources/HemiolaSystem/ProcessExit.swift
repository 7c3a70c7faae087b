internal import Glibc

/// How a process ended.
public enum ProcessExit: Sendable, Hashable, CustomStringConvertible {
    /// It returned this code, 0 for success.
    case code(Int32)
    /// This signal ended it.
    case signal(Int32)

    /// - Parameter status: As `waitpid` returns it.
    init(status: Int32) {
        self = status & 0x7f == 0 ? .code(status >> 8 & 0xff) : .signal(status & 0x7f)
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
