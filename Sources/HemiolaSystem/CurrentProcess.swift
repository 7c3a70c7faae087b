internal import Glibc
internal import Synchronization

/// This process.
public enum CurrentProcess {
    /// The number of the user whose rights it has.
    public static var user: UInt32 { geteuid() }

    /// Its number.
    public static var identifier: Int32 { getpid() }

    /// The number of online processors.
    package static var processorCount: Int { max(sysconf(Int32(_SC_NPROCESSORS_ONLN)), 1) }

    /// The arguments without the program's name, in the form of ``PathText``.
    package static var arguments: [String] {
        (1..<max(1, Int(CommandLine.argc))).compactMap { index in
            // Safe: every argument ends with a zero byte, and arguments exist as long as the process.
            CommandLine.unsafeArgv[index].map { argument in
                PathText.text(of: UnsafeRawBufferPointer(start: argument, count: strlen(argument)))
            }
        }
    }

    // MARK: - Beginning

    /// Makes this process one whose standard output has only what the program writes, and that ends with code 0 only if the program says so,
    /// whatever the plugins and libraries in it do. Call before anything else.
    package static func begin() {
        prepare()
        atexit {
            guard !isEnding.load(ordering: .acquiring) else { return }
            let message =
                "hemiola: a library has ended the program, and the output is incomplete; report it with the output of hemiola --version "
                + "--verbose\n"
            try? FileDescriptor.standardError.writeAll(Array(message.utf8))
            CurrentProcess.exitAtOnce(1)
        }
    }

    private static func prepare() {
        // The next opened file would get the number of a standard descriptor that the caller closed, and would receive its output.
        // /dev/null takes the number, opened in the opposite direction, so that a read or write fails and is reported.
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) == -1 {
            _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
        // A closed pipe or a file at its size limit is an error of write(2) and does not end the process.
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
        StandardOutput.reserve()
    }

    /// Makes this process a service of its parent, which reports how it ends: a crash without a report of the Swift runtime, and an exit by a
    /// library, whatever its code, as a failure. What a library prints goes to standard error.
    package static func beginService() {
        for number in [SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGTRAP] { _ = signal(number, SIG_DFL) }
        atexit { _exit(1) }
        StandardOutput.reserve()
    }

    /// Lets all threads allocate from glibc's main arena, which saves each thread a reservation of 128 MiB and system calls. For runs
    /// that analyse one file at a time: with several jobs, the threads would wait for each other.
    package static func useOneArena() {
        // Swift's Glibc module has no mallopt.
        guard let address = SharedLibrary.symbol("mallopt") else { return }
        // Unsafe: that is its declaration in malloc.h. -8 is M_ARENA_MAX.
        _ = unsafeBitCast(address, to: (@convention(c) (Int32, Int32) -> Int32).self)(-8, 1)
    }

    // MARK: - End

    /// Ends the process, and restores the terminal.
    package static func exit(_ code: Int32) -> Never {
        isEnding.store(true, ordering: .releasing)
        Terminal.restore()
        Glibc.exit(code)
    }

    /// Ends the process and the programs that it runs, without cleanup and without waiting for other threads, and restores the terminal.
    package static func exitAtOnce(_ code: Int32) -> Never {
        RunningProgram.killAll()
        Terminal.restore()
        _exit(code)
    }

    /// Replaces this process by a program, which keeps the standard descriptors, the environment and the working directory.
    ///
    /// - Parameters:
    ///   - path: The program.
    ///   - arguments: Without the program's name.
    /// - Throws: The program could not be executed; nothing has changed.
    package static func execute(_ path: String, _ arguments: [String]) throws(SystemCallError) -> Never {
        // Ignored signals would stay ignored in the program.
        signal(SIGPIPE, SIG_DFL)
        signal(SIGXFSZ, SIG_DFL)
        StandardOutput.release()
        // Safe: zero-terminated copies, which exist until the process is replaced, or freed below.
        var words: [UnsafeMutablePointer<CChar>?] =
            ([path] + arguments).map { strdup(PathText.systemPath($0)) } + [nil]
        execv(PathText.systemPath(path), &words)
        let number = errno
        for word in words { free(word) }
        prepare()
        throw SystemCallError(number: number)
    }
}

/// Whether the program itself ends the process.
private let isEnding = Atomic<Bool>(false)
