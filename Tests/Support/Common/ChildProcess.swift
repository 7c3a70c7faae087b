public import Foundation
import Glibc
import Synchronization

/// A child process with pipes for its standard streams. It is killed when this object is deinitialized.
///
/// Use from one thread. All calls block it, each with a time limit. A program that exceeds the limit is killed, and
/// the call throws. Foundation's `Process` supports neither the peak memory nor closing the reading end of the output.
public final class ChildProcess {
    /// The program's standard input.
    public enum Input: Sendable {
        case nothing
        /// These bytes; then end of file, or an open pipe without data until this object is deinitialized.
        case bytes([UInt8], staysOpen: Bool = false)
    }

    /// The destination of its standard output.
    public enum Output: Sendable {
        /// A pipe to this object.
        case pipe
        /// An existing file or device.
        case path(String)
    }

    /// The result of a finished process.
    public struct Outcome: Sendable {
        /// The exit status as in a shell: 128 + the number of the signal when one killed it.
        public var status: Int32
        /// Whether a signal killed it.
        public var wasKilled: Bool
        public var output: String
        /// Standard error.
        public var errors: String
        /// The peak resident memory in bytes; 0 unless `watchesMemory` is set.
        public var peakMemory: Int

        /// Lines of standard error.
        public var errorLines: [String] {
            errors.split(separator: "\n").map(String.init)
        }

        /// Lines of standard output.
        public var lines: [String] {
            output.split(separator: "\n").map(String.init)
        }
    }

    public struct Failure: Error, CustomStringConvertible {
        public var description: String
    }

    public let identifier: pid_t
    /// Whether the peak resident memory is read each time output arrives.
    public var watchesMemory = false

    private let title: String
    private var standardInput: Descriptor?
    private var standardOutput: Descriptor?
    private var standardError: Descriptor?
    private var unwritten: ArraySlice<UInt8>
    private var keepsInput: Bool
    private var output: [UInt8] = []
    private var errors: [UInt8] = []
    private var peakMemory = 0
    private var isReaped = false

    /// Starts the program.
    ///
    /// - Parameters:
    ///   - program: Its path.
    ///   - folder: The working directory; that of this process when nil.
    ///   - environment: Variables that are added to those of this process or replace them.
    ///   - errorPipeSize: Capacity of the pipe for standard error in bytes; nil: the system's default.
    public init(
        _ program: String, _ arguments: [String], in folder: String? = nil, environment: [String: String] = [:],
        input: Input = .nothing, output: Output = .pipe, errorPipeSize: Int32? = nil
    ) throws {
        // posix_spawn has no portable way to set the working directory; env sets it and executes the program.
        let line = folder.map { ["/usr/bin/env", "-C", $0, program] + arguments } ?? [program] + arguments
        title = ([(program as NSString).lastPathComponent] + arguments).joined(separator: " ")
        if case .bytes(let bytes, let staysOpen) = input {
            (unwritten, keepsInput) = (bytes[...], staysOpen)
        } else {
            (unwritten, keepsInput) = ([], false)
        }

        let environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let child = try Self.spawning.withLock { _ in try Self.start(line, environment, input, output) }
        (identifier, standardInput, standardOutput, standardError) = (child.identifier, child.input, child.output, child.errors)
        if unwritten.isEmpty && !keepsInput { standardInput = nil }
        if let errorPipeSize { _ = fcntl(child.errors.number, Self.setPipeSize, errorPipeSize) }
    }

    /// Linux's F_SETPIPE_SZ, which the headers declare only with _GNU_SOURCE.
    private static let setPipeSize: Int32 = 1031

    deinit {
        if !isReaped {
            kill(identifier, SIGKILL)
            var status: Int32 = 0
            waitpid(identifier, &status, 0)
        }
    }

    /// Starts a program and waits until it exits.
    public static func run(
        _ program: String, _ arguments: [String], in folder: String? = nil, environment: [String: String] = [:],
        input: Input = .nothing, output: Output = .pipe, timeout seconds: Double = 60
    ) throws -> Outcome {
        try ChildProcess(program, arguments, in: folder, environment: environment, input: input, output: output)
            .finish(timeout: seconds)
    }
}

// MARK: - While it runs

extension ChildProcess {
    /// Whether it has not ended yet.
    public var isRunning: Bool {
        if isReaped { return false }
        var info = siginfo_t()
        // WNOWAIT: the process can still be reaped.
        return waitid(P_PID, id_t(identifier), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_signo == 0
    }

    public func send(_ signal: Int32) {
        if !isReaped { kill(identifier, signal) }
    }

    /// Adds text to standard input, which was opened with `staysOpen`. The next call that waits writes it.
    public func write(_ text: String) {
        unwritten += Array(text.utf8)
    }

    /// Ends standard input, after what was added to it is written.
    public func closeInput() {
        keepsInput = false
        if unwritten.isEmpty { standardInput = nil }
    }

    /// The next line of standard output; nil at its end. The outcome's output does not contain it.
    public func readLine(timeout seconds: Double = 60) throws -> String? {
        let deadline = Self.deadline(in: seconds)
        while true {
            if let end = output.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: output[..<end], as: UTF8.self)
                output.removeFirst(end + 1)
                return line
            }
            guard standardOutput != nil else { return nil }
            try exchange(until: deadline)
        }
    }

    /// Waits for a line of standard error that contains a text, the first or a later one. The outcome's errors contain it too.
    public func readErrorLine(containing text: String, number: Int = 1, timeout seconds: Double = 60) throws -> String {
        let deadline = Self.deadline(in: seconds)
        while true {
            let lines = String(decoding: errors, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
            // The last one is incomplete.
            if let line = lines.dropLast().filter({ $0.contains(text) }).dropFirst(number - 1).first { return String(line) }
            guard standardError != nil else { throw Failure(description: "\(title) ended without \(text): \(lines)") }
            try exchange(until: deadline)
        }
    }

    /// Writes the rest of the input to the pipe; the program has not read what fits into it.
    public func writeInput(timeout seconds: Double = 60) throws {
        let deadline = Self.deadline(in: seconds)
        while !unwritten.isEmpty, standardInput != nil { try exchange(until: deadline) }
    }

    /// Reads and writes for a number of seconds.
    public func exchange(for seconds: Double) throws {
        let end = Self.now + seconds
        while Self.now < end, standardOutput != nil || standardError != nil { try exchange(until: end, isFatal: false) }
    }

    /// Closes the reading end of standard output.
    public func closeOutput() {
        standardOutput = nil
        output = []
    }

    /// Reads all output and waits until the process exits.
    public func finish(timeout seconds: Double = 60) throws -> Outcome {
        let deadline = Self.deadline(in: seconds)
        while standardOutput != nil || standardError != nil { try exchange(until: deadline) }
        standardInput = nil
        return try reap(deadline)
    }

    /// Waits until the process exits, without reading standard output.
    public func finishUnread(timeout seconds: Double = 60) throws -> Outcome {
        try reap(Self.deadline(in: seconds))
    }

    private func reap(_ deadline: Double) throws -> Outcome {
        // Blocks a thread of its own: the system has no call that waits for a child until a time.
        let exit = Watched<Int32?>(nil)
        let waiter = Thread { [identifier] in
            var status: Int32 = 0
            waitpid(identifier, &status, 0)
            exit.change { $0 = status }
        }
        waiter.start()
        guard exit.wait(until: { $0 != nil }, before: deadline - Self.now), let status = exit.value else { throw overrun() }
        isReaped = true
        let signal = status & 0x7F
        return Outcome(
            status: signal == 0 ? status >> 8 & 0xFF : 128 + signal, wasKilled: signal != 0,
            output: String(decoding: output, as: UTF8.self), errors: String(decoding: errors, as: UTF8.self),
            peakMemory: peakMemory)
    }

    /// Waits until a pipe is ready, then reads and writes without blocking.
    private func exchange(until deadline: Double, isFatal: Bool = true) throws {
        let pipes = [standardOutput, standardError, unwritten.isEmpty ? nil : standardInput].compactMap(\.self)
        var requests = pipes.map { pollfd(fd: $0.number, events: Int16($0 === standardInput ? POLLOUT : POLLIN), revents: 0) }
        let wait = max(0, min(deadline - Self.now, 1))
        if poll(&requests, nfds_t(requests.count), Int32(wait * 1000)) <= 0 {
            if Self.now >= deadline, isFatal { throw overrun() }
            return
        }
        for (pipe, request) in zip(pipes, requests) where request.revents != 0 {
            if pipe === standardInput {
                write()
            } else if pipe === standardOutput {
                if !pipe.read(into: &output) { standardOutput = nil }
                if watchesMemory { peakMemory = max(peakMemory, residentPeak ?? 0) }
            } else if !pipe.read(into: &errors) {
                standardError = nil
            }
        }
    }

    private func write() {
        guard let standardInput else { return }
        let count = unwritten.withUnsafeBytes { Self.writeIgnoringBrokenPipe(standardInput.number, $0) }
        if count > 0 { unwritten = unwritten.dropFirst(count) }
        if unwritten.isEmpty && !keepsInput || count < 0 && errno != EAGAIN { self.standardInput = nil }
    }

    /// The kernel's high-water mark of resident memory, in bytes. Unlike that of `getrusage` it excludes the parent process.
    public var residentPeak: Int? {
        guard let text = try? String(contentsOfFile: "/proc/\(identifier)/status", encoding: .utf8),
            let line = text.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM:") })
        else { return nil }
        return line.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) }.map { $0 * 1024 }
    }

    private func overrun() -> Failure {
        Failure(description: "\(title): time limit exceeded; killed. Standard error: \(String(decoding: errors, as: UTF8.self))")
    }

    private static var now: Double { ProcessInfo.processInfo.systemUptime }

    private static func deadline(in seconds: Double) -> Double {
        now + seconds
    }
}

// MARK: - System calls

extension ChildProcess {
    /// Held from creating a pipe until its close-on-exec flag is set, so that no other child inherits it.
    private static let spawning = Mutex(())

    private static func start(
        _ line: [String], _ environment: [String: String], _ input: Input, _ output: Output
    ) throws -> (identifier: pid_t, input: Descriptor?, output: Descriptor?, errors: Descriptor) {
        let inputs: (Descriptor, Descriptor?)
        switch input {
        case .nothing: inputs = (try Descriptor(opening: "/dev/null", O_RDONLY), nil)
        case .bytes:
            let pipe = try Descriptor.pipe()
            inputs = (pipe.reader, pipe.writer)
            // Non-blocking: a program that does not read must not block this process.
            _ = fcntl(pipe.writer.number, F_SETFL, O_NONBLOCK)
        }
        let outputs: (Descriptor, Descriptor?)
        switch output {
        case .pipe:
            let pipe = try Descriptor.pipe()
            outputs = (pipe.writer, pipe.reader)
        case .path(let path): outputs = (try Descriptor(opening: path, O_WRONLY), nil)
        }
        let errors = try Descriptor.pipe()
        // The child's ends are closed in this process on return.
        let identifier = try spawn(line, [inputs.0, outputs.0, errors.writer].map(\.number), environment)
        withExtendedLifetime((inputs, outputs, errors)) {}
        return (identifier, inputs.1, outputs.1, errors.reader)
    }

    private static func spawn(_ line: [String], _ descriptors: [Int32], _ environment: [String: String]) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        // First to numbers beyond 2, because the descriptors of this process may be 0, 1 or 2 themselves.
        let spare = max(100, (descriptors.max() ?? 0) + 1)
        for (number, descriptor) in descriptors.enumerated() {
            posix_spawn_file_actions_adddup2(&actions, descriptor, spare + Int32(number))
        }
        for number in 0..<Int32(descriptors.count) { posix_spawn_file_actions_adddup2(&actions, spare + number, number) }
        // Closes the files that other tests have open.
        let open = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd"))?.compactMap { Int32($0) } ?? []
        for number in Set(open + [spare, spare + 1, spare + 2]) where number > 2 { posix_spawn_file_actions_addclose(&actions, number) }

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // Default signal handling, as for a foreground process of a shell, even if this process blocks or ignores signals.
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        for number in [SIGINT, SIGTERM, SIGHUP, SIGPIPE] { sigaddset(&signals, number) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

        var arguments = line.map { strdup($0) } + [nil]
        var variables = environment.map { strdup("\($0)=\($1)") } + [nil]
        defer { for pointer in arguments + variables { free(pointer) } }
        var identifier: pid_t = 0
        let code = posix_spawn(&identifier, line[0], &actions, &attributes, &arguments, &variables)
        guard code == 0 else { throw Failure(description: "cannot start \(line[0]): \(String(cString: strerror(code)))") }
        return identifier
    }

    /// `write(2)` to a pipe that may be broken. SIGPIPE, which would end the test process, is ignored.
    private static func writeIgnoringBrokenPipe(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
        _ = ignoresBrokenPipes
        return Foundation.write(descriptor, bytes.baseAddress, bytes.count)
    }

    private static let ignoresBrokenPipes: Void = { _ = signal(SIGPIPE, SIG_IGN) }()
}

/// A file descriptor that is closed on deinitialization and not inherited by children.
private final class Descriptor: Sendable {
    let number: Int32

    init(_ number: Int32) {
        self.number = number
        _ = fcntl(number, F_SETFD, FD_CLOEXEC)
    }

    convenience init(opening path: String, _ flags: Int32) throws {
        let number = open(path, flags)
        guard number >= 0 else {
            throw ChildProcess.Failure(description: "cannot open \(path): \(String(cString: strerror(errno)))")
        }
        self.init(number)
    }

    static func pipe() throws -> (reader: Descriptor, writer: Descriptor) {
        var ends: [Int32] = [-1, -1]
        guard Foundation.pipe(&ends) == 0 else { throw ChildProcess.Failure(description: "no pipe") }
        return (Descriptor(ends[0]), Descriptor(ends[1]))
    }

    deinit {
        close(number)
    }

    /// - Returns: false at the end.
    func read(into bytes: inout [UInt8]) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = Foundation.read(number, &buffer, buffer.count)
        if count > 0 { bytes += buffer[..<count] }
        return count > 0 || count < 0 && (errno == EINTR || errno == EAGAIN)
    }
}
