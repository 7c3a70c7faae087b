public import Foundation
import Glibc
import HemiolaSystem

/// A child process on a pseudo-terminal, which is its controlling terminal. It is killed when this object is deinitialized.
///
/// Use from one thread. All calls have a time limit.
public final class TerminalProcess {
    public struct Failure: Error, CustomStringConvertible {
        public var description: String
    }

    public let identifier: pid_t
    /// The program's output so far.
    public private(set) var text = ""
    private let master: Int32
    private var bytes: [UInt8] = []
    private var status: Int32?

    /// - Parameters:
    ///   - errors: A file for standard error; nil: the terminal.
    public init(
        _ program: String, _ arguments: [String] = [], environment: [String: String] = [:], columns: Int = 100,
        errors: String? = nil
    ) throws {
        // The slave stays open until the program has opened it, because a terminal that no process has open reports a hang-up.
        var slave: Int32 = -1
        var (pair, name) = (Int32(-1), [CChar](repeating: 0, count: 128))
        guard openpty(&pair, &slave, &name, nil, nil) == 0 else { throw Failure(description: "no pseudo-terminal") }
        master = pair
        defer { close(slave) }
        for descriptor in [master, slave] { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        let path = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        Self.resize(master, columns)

        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for descriptor in Int32(0)...2 { posix_spawn_file_actions_addopen(&actions, descriptor, path, O_RDWR, 0) }
        if let errors { posix_spawn_file_actions_addopen(&actions, 2, errors, O_WRONLY | O_CREAT | O_APPEND, 0o644) }
        let open = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd"))?.compactMap { Int32($0) } ?? []
        for number in open where number > 2 { posix_spawn_file_actions_addclose(&actions, number) }

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        for number in [SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGTSTP, SIGQUIT] { sigaddset(&signals, number) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        // A new session: the first terminal that the process opens becomes its controlling terminal.
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF) | Self.newSession)

        let all = ProcessInfo.processInfo.environment.merging(["TERM": "xterm", "LC_ALL": "C.UTF-8"]) { $1 }
            .merging(environment) { $1 }
        var words = ([program] + arguments).map { strdup($0) } + [nil]
        var variables = all.map { strdup("\($0)=\($1)") } + [nil]
        defer { for pointer in words + variables { free(pointer) } }
        var identifier: pid_t = 0
        let code = posix_spawn(&identifier, program, &actions, &attributes, &words, &variables)
        guard code == 0 else { throw Failure(description: "cannot start \(program): \(String(cString: strerror(code)))") }
        self.identifier = identifier
    }

    deinit {
        if status == nil {
            kill(identifier, SIGKILL)
            var status: Int32 = 0
            waitpid(identifier, &status, 0)
        }
        close(master)
    }

    /// POSIX_SPAWN_SETSID, which the headers declare only with _GNU_SOURCE.
    private static let newSession: Int16 = 0x80

    /// Writes text to the terminal, as typed by a user.
    public func type(_ text: String) {
        let bytes = Array(text.utf8)
        _ = write(master, bytes, bytes.count)
    }

    public func resize(columns: Int) {
        Self.resize(master, columns)
    }

    private static func resize(_ master: Int32, _ columns: Int) {
        var size = winsize(ws_row: 24, ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(master, UInt(TIOCSWINSZ), &size)
    }

    /// Whether the terminal is in canonical mode with echo, as a shell requires.
    public var isInLineMode: Bool {
        var mode = termios()
        return tcgetattr(master, &mode) == 0 && mode.c_lflag & tcflag_t(ICANON) != 0 && mode.c_lflag & tcflag_t(ECHO) != 0
    }

    /// Reads until the output since the last call contains a text.
    ///
    /// - Returns: The output since the last call.
    @discardableResult
    public func read(until awaited: String, timeout seconds: Double = 60) throws -> String {
        try read(for: "\"\(awaited)\"", timeout: seconds) { $0.contains(awaited) }
    }

    /// Reads until the output since the last call fulfils a condition.
    @discardableResult
    public func read(for what: String, timeout seconds: Double = 60, until condition: (String) -> Bool) throws -> String {
        let deadline = Self.now + seconds
        var new = ""
        while true {
            if condition(new) { return new }
            guard Self.now < deadline, status == nil || receive(wait: 0) else {
                throw Failure(description: "no \(what) in \(new.debugDescription)")
            }
            bytes = []
            _ = receive(wait: 20)
            new += String(decoding: bytes, as: UTF8.self)
        }
    }

    /// Waits until the program exits, and reads its output.
    ///
    /// - Parameter reads: false: the output is not read.
    /// - Returns: The exit status, or 128 and the number of the signal that ended it.
    public func finish(timeout seconds: Double = 60, reads: Bool = true) throws -> Int32 {
        let deadline = Self.now + seconds
        let (exit, end) = (Watched<Int32?>(nil), try WakeUp())
        // Blocks a thread of its own: the system has no call that waits for a child and for a descriptor.
        try startThread(for: "a test") { [identifier] in
            var code: Int32 = 0
            waitpid(identifier, &code, 0)
            exit.change { $0 = code }
            end.signal()
        }
        var isOpen = reads
        while exit.value == nil {
            guard Self.now < deadline else {
                throw Failure(description: "timeout: the program did not exit; its output: \(text.suffix(500).debugDescription)")
            }
            // A terminal without a program is readable for ever.
            if end.wait(seconds: deadline - Self.now, for: isOpen ? master : nil).isReadable { isOpen = receive(wait: 0) }
        }
        while reads, receive(wait: 0) {}
        let code = exit.value ?? 0
        let signal = code & 0x7F
        status = signal == 0 ? code >> 8 & 0xFF : 128 + signal
        return status!
    }

    /// - Returns: Whether data was read.
    private func receive(wait milliseconds: Int32) -> Bool {
        var request = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
        guard poll(&request, 1, milliseconds) > 0, request.revents & Int16(POLLIN) != 0 else { return false }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = Foundation.read(master, &buffer, buffer.count)
        guard count > 0 else { return false }
        bytes += buffer[..<count]
        text += String(decoding: buffer[..<count], as: UTF8.self)
        return true
    }

    private static var now: Double { ProcessInfo.processInfo.systemUptime }
}
