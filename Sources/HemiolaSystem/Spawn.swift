public import Glibc

/// What a new process is made of. Programs of the user and tools such as ffmpeg are started with it.
///
/// The process has the default action for every signal, none blocked, and no descriptors but the three standard ones: also none that
/// Hemiola itself inherited, and none of a pipe that another thread is just creating.
public struct Spawn {
    /// How the program is found.
    public enum Program {
        /// At this path.
        case path(String)
        /// By this name in `$PATH`; a name with a slash is a path.
        case named(String)
    }

    /// The program.
    public var program: Program
    /// The arguments, without zero bytes; the first is the name under which the program runs.
    public var arguments: [[UInt8]]
    /// The descriptors that become standard input, output and error; nil: `/dev/null`.
    public var descriptors: (Int32?, Int32?, Int32?)
    /// Whether the process leads a process group of its own, which Ctrl-C in the terminal does not reach.
    public var hasOwnGroup: Bool
    /// The memory that the process can allocate, in bytes; more is an error of its `malloc`. nil: what this process can.
    public var memory: UInt64?

    /// A process that reads nothing and writes nothing.
    ///
    /// - Parameters:
    ///   - program: The program.
    ///   - arguments: The arguments, without the name under which the program runs.
    ///   - hasOwnGroup: Whether the process leads a process group of its own.
    public init(_ program: Program, _ arguments: [[UInt8]], hasOwnGroup: Bool = true) {
        self.program = program
        let name =
            switch program {
            case .path(let name), .named(let name): name
            }
        self.arguments = [PathText.bytes(of: name)] + arguments
        self.hasOwnGroup = hasOwnGroup
        descriptors = (nil, nil, nil)
    }

    /// Starts the process. The caller waits for its end: ``ProcessExit/of(_:waits:)``.
    ///
    /// - Throws: The program cannot be executed, or there are too many processes.
    public func start() throws(SystemCallError) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        for (number, descriptor) in [descriptors.0, descriptors.1, descriptors.2].enumerated() {
            if let descriptor {
                posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(number))
            } else {
                posix_spawn_file_actions_addopen(&actions, Int32(number), "/dev/null", number == 0 ? O_RDONLY : O_WRONLY, 0)
            }
        }
        if let closeFrom = Self.closeFrom { _ = closeFrom(&actions, 3) }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        var signals = sigset_t()
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        let group = hasOwnGroup ? POSIX_SPAWN_SETPGROUP : 0
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | group))
        // Safe: zero-terminated copies, freed below.
        var words: [UnsafeMutablePointer<CChar>?] =
            arguments.map { bytes in strdup(bytes.map { CChar(truncatingIfNeeded: $0) } + [0]) } + [nil]
        defer {
            for word in words { free(word) }
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        var process = pid_t()
        let code =
            switch program {
            case .path(let path): posix_spawn(&process, PathText.systemPath(path), &actions, &attributes, &words, environ)
            case .named(let name): posix_spawnp(&process, PathText.systemPath(name), &actions, &attributes, &words, environ)
            }
        guard code == 0 else { throw SystemCallError(number: code) }
        if let memory {
            // posix_spawn has no attribute for it: a few instructions of the program run without the limit.
            var limit = rlimit(rlim_cur: rlim_t(memory), rlim_max: rlim_t(memory))
            _ = Self.setLimit?(process, Int32(RLIMIT_DATA.rawValue), &limit, nil)
        }
        return process
    }
}

extension Spawn {
    private typealias SetLimit = @convention(c) (pid_t, Int32, UnsafePointer<rlimit>?, UnsafeMutablePointer<rlimit>?) -> Int32

    /// `prlimit` of Linux, which the headers declare for GNU sources only.
    private static let setLimit: SetLimit? = dlsym(nil, "prlimit").map { address in
        // Unsafe: that is its declaration in sys/resource.h.
        unsafeBitCast(address, to: SetLimit.self)
    }

    private typealias CloseFrom = @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32

    /// `posix_spawn_file_actions_addclosefrom_np` of glibc 2.34, which the headers declare for GNU sources only; nil in other C libraries, where
    /// descriptors without `FD_CLOEXEC` are inherited.
    private static let closeFrom: CloseFrom? = dlsym(nil, "posix_spawn_file_actions_addclosefrom_np").map { address in
        // Unsafe: that is its declaration in spawn.h.
        unsafeBitCast(address, to: CloseFrom.self)
    }
}

/// Both ends of a pipe, which other programs do not inherit.
public struct PipeEnds: Sendable {
    /// The end that is read.
    public var reader: Int32
    /// The end that is written to.
    public var writer: Int32

    /// Creates a pipe.
    public init() throws(SystemCallError) {
        var ends: [Int32] = [-1, -1]
        let code = Self.pipe2.map { $0(&ends, O_CLOEXEC) } ?? pipe(&ends)
        guard code == 0 else { throw SystemCallError(number: errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        (reader, writer) = (ends[0], ends[1])
    }

    private typealias Pipe2 = @convention(c) (UnsafeMutablePointer<Int32>, Int32) -> Int32

    /// `pipe2` of Linux, which the headers declare for GNU sources only: also a program that another thread is just starting does not inherit
    /// the ends. It would keep them open, and the end of the first program would not be noticed.
    private static let pipe2: Pipe2? = dlsym(nil, "pipe2").map { address in
        // Unsafe: that is its declaration in unistd.h.
        unsafeBitCast(address, to: Pipe2.self)
    }
}
