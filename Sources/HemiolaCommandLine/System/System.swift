internal import Glibc
internal import Hemiola
internal import Synchronization

/// The system calls of the command line. All unsafe code of this module is in this file and in `System+*.swift`.
enum System {
    static let standardInput: Int32 = 0
    static var standardOutput: Int32 { StandardOutput.descriptor }
    static let standardError: Int32 = 2

    /// The type of file that a descriptor refers to.
    enum Destination {
        case terminal, file, pipe
        /// The null device or another character device, or a closed descriptor.
        case nowhere
    }

    /// Call before anything else.
    static func prepareProcess() {
        // The next opened file would get the number of a standard descriptor that the caller closed, and would receive its output.
        // /dev/null takes the number, opened in the opposite direction, so that a read or write fails and is reported.
        for descriptor in standardInput...standardError where fcntl(descriptor, F_GETFD) == -1 {
            _ = open("/dev/null", descriptor == standardInput ? O_WRONLY : O_RDONLY)
        }
        // A closed pipe or a file at its size limit is an error of write(2) and does not end the process.
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
    }

    /// Makes this process one whose standard output has only what the program writes, and that ends with code 0 only if the program says so,
    /// whatever the plugins and libraries in it do. Call once.
    static func guardProcess() {
        StandardOutput.reserve()
        atexit {
            guard !isEnding.load(ordering: .acquiring) else { return }
            try? System.write(
                "hemiola: a library has ended the program, and the output is incomplete; report it with the output of hemiola --version "
                    + "--verbose\n", to: System.standardError)
            System.exitAtOnce(.inputFailed)
        }
    }

    /// Lets all threads allocate from glibc's main arena, which saves each thread a reservation of 128 MiB and system calls. For runs
    /// that analyse one file at a time: with several jobs, the threads would wait for each other.
    static func useOneArena() {
        // Swift's Glibc module has no mallopt.
        guard let address = dlsym(nil, "mallopt") else { return }
        // Unsafe: that is its declaration in malloc.h. -8 is M_ARENA_MAX.
        _ = unsafeBitCast(address, to: (@convention(c) (Int32, Int32) -> Int32).self)(-8, 1)
    }

    /// The arguments without the program's name. Bytes that are not UTF-8 are preserved in the form of `PathText`.
    static var arguments: [String] {
        (1..<max(1, Int(CommandLine.argc))).compactMap { index in
            // Safe: every argument ends with a zero byte, and arguments exist as long as the process.
            CommandLine.unsafeArgv[index].map { argument in
                PathText.text(of: UnsafeRawBufferPointer(start: argument, count: strlen(argument)))
            }
        }
    }

    static func exit(_ status: CommandStatus) -> Never {
        isEnding.store(true, ordering: .releasing)
        restoreTerminal()
        Glibc.exit(status.rawValue)
    }

    /// Exits without cleanup and without waiting for other threads.
    static func exitAtOnce(_ status: CommandStatus) -> Never {
        RunningProgram.killAll()
        restoreTerminal()
        _exit(status.rawValue)
    }
}

// MARK: - Files and terminals

extension System {
    /// Writes all of a text; blocks while the descriptor accepts nothing.
    static func write(_ text: String, to descriptor: Int32) throws(SystemCallError) {
        try write(Array(text.utf8), to: descriptor)
    }

    /// Writes all bytes; blocks while the descriptor accepts nothing.
    static func write(_ bytes: [UInt8], to descriptor: Int32) throws(SystemCallError) {
        var bytes = bytes[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { buffer in
                Glibc.write(descriptor, buffer.baseAddress, buffer.count)
            }
            if count >= 0 {
                bytes = bytes.dropFirst(count)
            } else if errno == EAGAIN {
                // Another process has set the shared terminal or pipe to non-blocking.
                var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&request, 1, -1)
            } else if errno != EINTR {
                throw SystemCallError.last
            }
        }
    }

    /// The first bytes of a file, or of standard input for `-`; all of them by default.
    static func contents(of path: String, atMost limit: Int = .max) throws(SystemCallError) -> [UInt8] {
        var descriptor = standardInput
        if path != "-" {
            descriptor = open(PathText.systemPath(path), O_RDONLY | O_CLOEXEC)
            if descriptor == -1 { throw SystemCallError.last }
        }
        defer { if descriptor != standardInput { close(descriptor) } }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(descriptor, &buffer, min(buffer.count, limit - bytes.count))
            if count > 0 {
                bytes += buffer[..<count]
            } else if count == 0 {
                return bytes
            } else if errno != EINTR {
                throw SystemCallError.last
            }
        }
    }

    /// The files and folders whose paths start with a text; folders end with a slash. For completion.
    static func paths(startingWith prefix: String) -> [String] {
        let folder = prefix.lastIndex(of: "/").map { String(prefix[...$0]) } ?? ""
        let entries = (try? FileSystem.entries(of: folder.isEmpty ? "." : folder)) ?? []
        let paths = entries.map { folder + $0.name + ($0.kind == .folder ? "/" : "") }
        return paths.filter { $0.hasPrefix(prefix) }.sorted()
    }

    /// The destination of output to a descriptor.
    static func destination(of descriptor: Int32) -> Destination {
        if isatty(descriptor) == 1 { return .terminal }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return .nowhere }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return .file
        case S_IFCHR: return .nowhere
        default: return .pipe
        }
    }

    /// The number of online processors.
    static var processorCount: Int {
        max(sysconf(Int32(_SC_NPROCESSORS_ONLN)), 1)
    }

    /// The columns of a terminal; nil when unknown.
    static func columns(of descriptor: Int32) -> Int? { size(of: descriptor)?.columns }

    /// The size of a terminal, in cells; nil when unknown.
    static func size(of descriptor: Int32) -> (columns: Int, rows: Int)? {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return (Int(size.ws_col), Int(size.ws_row))
    }
}

// MARK: - Signals

extension System {
    /// Handles SIGINT, SIGTERM, SIGHUP, and SIGUSR1 and SIGUSR2, which batch systems send before the end of a job. A SIGHUP that the
    /// caller ignores (`nohup`) stays ignored. An ignored SIGINT is handled: background jobs of a script start with it, and `kill -INT`
    /// must end them in order.
    ///
    /// The signal handler runs on any thread and wakes the one that waits in `next(timeout:)`. `sigwait` with all signals blocked is
    /// not reliable, because threads of libraries may unblock signals. A second signal ends the process at once.
    struct SignalListener: Sendable {
        /// The result of waiting.
        enum Message {
            case signal(Int32)
            /// `finish` was called.
            case finish
            case nothing
        }

        /// Create at most one per process.
        init() {
            firstSignal.store(0, ordering: .relaxed)
            isSignalNew.store(false, ordering: .relaxed)
            isFinishNew.store(false, ordering: .relaxed)
            // The signal handler must not be the first to use it: it would create it.
            _ = signalWakeUp
            for number in [SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2] {
                var action = sigaction()
                sigaction(number, nil, &action)
                if number == SIGHUP && action.isIgnored { continue }
                action = .listening
                sigaction(number, &action, nil)
            }
        }

        /// Waits for a signal or `finish`.
        func next(timeout seconds: Double) -> Message {
            if let message = newMessage { return message }
            signalWakeUp.wait(seconds: seconds)
            return newMessage ?? .nothing
        }

        private var newMessage: Message? {
            if isSignalNew.exchange(false, ordering: .acquiringAndReleasing) { return .signal(firstSignal.load(ordering: .acquiring)) }
            return isFinishNew.exchange(false, ordering: .acquiringAndReleasing) ? .finish : nil
        }

        /// Ends `next(timeout:)` on the waiting thread.
        func finish() {
            isFinishNew.store(true, ordering: .releasing)
            signalWakeUp.signal()
        }

        /// The first signal; nil when none was received.
        var signal: Int32? {
            let number = firstSignal.load(ordering: .acquiring)
            return number == 0 ? nil : number
        }
    }
}

/// Whether the program itself ends the process.
private let isEnding = Atomic<Bool>(false)

/// The first signal, 0 for none. Global, because a signal handler has no context; atomic, because a signal handler must not use locks.
private let firstSignal = Atomic<Int32>(0)

/// Whether `next(timeout:)` has not returned the signal or the end yet.
private let isSignalNew = Atomic<Bool>(false)
private let isFinishNew = Atomic<Bool>(false)

/// Wakes the thread in `next(timeout:)`.
private let signalWakeUp: WakeUp = {
    do throws(SystemCallError) { return try WakeUp() } catch { exitForLack(of: "further file", error, limits: "ulimit -n") }
}()

/// The time of the first signal, in milliseconds of the monotonic clock.
private let firstSignalTime = Atomic<Int>(0)

/// Milliseconds within which a second signal is ignored: timeout(1) sends each signal twice, to the process and to its group.
private let duplicateSignalTime = 200

/// The signal handler. Only async-signal-safe calls: atomics, the clock, `WakeUp.signal`, tcsetattr(3) and _exit(2).
private func handleSignal(_ number: Int32) {
    let now = Int(MonotonicTime.nanoseconds / 1_000_000)
    if firstSignal.compareExchange(expected: 0, desired: number, ordering: .acquiringAndReleasing).exchanged {
        firstSignalTime.store(now, ordering: .releasing)
        isSignalNew.store(true, ordering: .releasing)
        signalWakeUp.signal()
    } else {
        let first = firstSignalTime.load(ordering: .acquiring)
        if first > 0, now - first > duplicateSignalTime {
            restoreTerminal()
            _exit(128 + number)
        }
    }
}

extension sigaction {
    fileprivate static var listening: sigaction {
        var action = sigaction()
        action.__sigaction_handler.sa_handler = handleSignal
        action.sa_flags = Int32(SA_RESTART)
        sigemptyset(&action.sa_mask)
        return action
    }

    var isIgnored: Bool {
        unsafeBitCast(__sigaction_handler.sa_handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }
}
