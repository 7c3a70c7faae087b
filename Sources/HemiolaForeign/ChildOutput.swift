#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// What a child process of this program has written, and how it ended.
///
/// For work that may crash or hang, such as loading a library that is not known.
public struct ChildOutput: Sendable {
    /// How the process ended.
    public enum End: Sendable, Hashable {
        /// It exited with a status.
        case exited(Int32)
        /// A signal ended it.
        case signalled(Int32)
        /// It was killed: the time or the number of bytes exceeded the limit.
        case exceededLimit
        /// It could not be started: the number of the system's error.
        case notStarted(Int32)
    }

    /// What it has written to its standard output, up to the limit.
    public private(set) var bytes: [UInt8] = []
    /// How it ended.
    public private(set) var end = End.exceededLimit

    /// Runs this program with arguments, and waits until it ends. Its standard input is empty; its standard error is discarded.
    ///
    /// - Parameters:
    ///   - arguments: Without the program's name.
    ///   - seconds: The time after which it is killed.
    ///   - limit: The number of bytes of output after which it is killed.
    public init(running arguments: [String], seconds: Double, limit: Int) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            end = .notStarted(errno)
            return
        }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
        var words: [UnsafeMutablePointer<CChar>?] = (["hemiola"] + arguments).map { strdup($0) } + [nil]
        var process = pid_t()
        let code = posix_spawn(&process, "/proc/self/exe", &actions, nil, &words, environ)
        for word in words { free(word) }
        posix_spawn_file_actions_destroy(&actions)
        close(ends[1])
        defer { close(ends[0]) }
        guard code == 0 else {
            end = .notStarted(code)
            return
        }
        let isComplete = read(ends[0], until: Self.now + seconds, limit: limit)
        if !isComplete { kill(process, SIGKILL) }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 && errno == EINTR {}
        guard isComplete else { return }
        let signal = status & 0x7F
        end = signal == 0 ? .exited((status >> 8) & 0xFF) : .signalled(signal)
    }

    /// Reads until the process closes its output.
    ///
    /// - Returns: false when a limit was exceeded.
    private mutating func read(_ descriptor: Int32, until deadline: Double, limit: Int) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let rest = (deadline - Self.now) * 1000
            var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard rest > 0, bytes.count <= limit else { return false }
            let ready = poll(&request, 1, Int32(rest.rounded(.up)))
            if ready < 0 && errno == EINTR { continue }
            guard ready > 0 else { return false }
            #if canImport(Glibc)
                let count = Glibc.read(descriptor, &buffer, buffer.count)
            #else
                let count = Musl.read(descriptor, &buffer, buffer.count)
            #endif
            if count < 0 && errno == EINTR { continue }
            if count <= 0 { return true }
            bytes += buffer[..<count]
        }
    }

    private static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
