public import Glibc
internal import Synchronization

/// A running program, with pipes to its standard streams, that leads a process group of its own.
///
/// Used by one thread at a time. Every method waits for a bounded time; each reads what the program has printed on standard error
/// meanwhile, so that the program never waits there. The process that uses this type must ignore `SIGPIPE`, as the program hemiola does.
///
/// `deinit` ends the program and whatever it has started in its group. If Hemiola itself is killed, the program gets the end of its
/// input.
public final class RunningProgram {
    /// The standard output of the program.
    public enum Output {
        /// `read` gets it.
        case pipe
        /// That of this process.
        case inherited
        /// Its lines are reported like those of standard error.
        case log
    }

    /// The result of `write`.
    public enum WriteResult: Hashable {
        /// The program's pipe took so many bytes, 1….
        case bytes(Int)
        /// The program has not read for the whole time.
        case timeout
        /// The program has closed its input, usually because it has ended.
        case closed
    }

    /// The result of `read`.
    public enum ReadResult: Hashable {
        /// So many bytes, 1….
        case bytes(Int)
        /// The program has not written anything.
        case timeout
        /// The program has closed its output, usually because it has ended.
        case end
    }

    /// The process, which is also the number of its group.
    public let identifier: pid_t
    /// The read end of the program's standard output; -1: it is not piped.
    public private(set) var output: Int32
    /// How the program ended; nil: it runs.
    public private(set) var exit: ProcessExit?

    /// The write end of the program's standard input; -1 after `closeInput`.
    private var input: Int32
    private var errors: Int32
    private var log = LineLog()
    private let report: @Sendable (String) -> Void

    /// Seconds between SIGTERM and SIGKILL.
    public static let killDelay = 2.0
    /// Groups that have not ended, for `killAll`.
    private static let running = Mutex<Set<pid_t>>([])

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - command: The program.
    ///   - hasInput: Whether `write` sends it bytes; else its input is empty.
    ///   - destination: Where its standard output goes.
    ///   - pipeSize: The size of the pipes in bytes, at least a page; nil: that of the system, 64 KiB.
    ///   - report: Receives the lines of standard error: at most 400 bytes of each, 20 at once, then 5 a second.
    /// - Throws: It cannot be started. A command for the shell always can: a missing program is an exit with code 127.
    public init(
        _ command: ProgramCommand, hasInput: Bool, output destination: Output, pipeSize: Int? = nil,
        report: @escaping @Sendable (String) -> Void
    ) throws(SystemCallError) {
        var spawn =
            switch command {
            case .shell(let text): Spawn(.path("/bin/sh"), [Array("-c".utf8), PathText.bytes(of: text)])
            case .arguments(let words): Spawn(.named(words.first ?? ""), words.dropFirst().map(PathText.bytes(of:)))
            }
        var open: [Int32] = []
        func makePipe() throws(SystemCallError) -> PipeEnds {
            let ends = try PipeEnds()
            open += [ends.reader, ends.writer]
            return ends
        }
        do {
            let errors = try makePipe()
            let input = try hasInput ? makePipe() : nil
            var output: PipeEnds?
            if case .pipe = destination { output = try makePipe() }
            let standardOutput: Int32? =
                switch destination {
                case .pipe: output?.writer
                case .inherited: StandardOutput.descriptor
                case .log: errors.writer
                }
            spawn.descriptors = (input?.reader, standardOutput, errors.writer)
            identifier = try spawn.start()
            for end in [errors.writer, input?.reader, output?.writer].compactMap(\.self) { close(end) }
            (self.input, self.output, self.errors) = (input?.writer ?? -1, output?.reader ?? -1, errors.reader)
        } catch {
            for end in open { close(end) }
            throw error
        }
        self.report = report
        for end in [input, output, errors] where end >= 0 {
            _ = fcntl(end, F_SETFL, fcntl(end, F_GETFL) | O_NONBLOCK)
        }
        if let pipeSize {
            for end in [input, output] where end >= 0 { FileDescriptor(end).setPipeSize(pipeSize) }
        }
        let identifier = identifier
        Self.running.withLock { _ = $0.insert(identifier) }
    }

    deinit {
        end(within: 0)
        for descriptor in [output, errors] where descriptor >= 0 { close(descriptor) }
    }

    /// The last line that the program printed on standard error; empty: there is none.
    public var lastLine: String { log.lastLine }

    /// How the program ended, with the last line that it printed: `ended with exit code 1: no such device`.
    public var reasonForEnd: String {
        let end = exit.map { "\($0)" } ?? "has closed its pipe"
        return lastLine.isEmpty ? end : "\(end): \(lastLine)"
    }

    /// Seconds of processor time that the program and the running programs of its group have used; 0 where /proc cannot be read. Reads a
    /// file for each process of the system.
    public var processorTime: Double {
        let processes = (try? FileSystem.entries(of: "/proc")) ?? []
        let ticks = processes.compactMap { Int32($0.name) }.reduce(0.0) { sum, process in
            guard getpgid(process) == identifier, let line = try? FileSystem.bytes(of: "/proc/\(process)/stat", count: 4096) else {
                return sum
            }
            // The name of the program, in parentheses, may contain spaces. Behind it follow state, parent …; user and system time are 12th
            // and 13th, those of children that have ended 14th and 15th.
            let fields = line.split(separator: UInt8(ascii: ")")).last?.split(separator: UInt8(ascii: " ")) ?? []
            return fields.dropFirst(11).prefix(4).reduce(sum) { $0 + (Double(String(decoding: $1, as: UTF8.self)) ?? 0) }
        }
        return ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    // MARK: - Transfer

    /// Writes some bytes to the program's standard input. Waits until it accepts at least one.
    ///
    /// - Parameters:
    ///   - bytes: Not empty.
    ///   - seconds: The time limit.
    public func write(_ bytes: UnsafeRawBufferPointer, within seconds: Double) -> WriteResult {
        guard input >= 0 else { return .closed }
        let deadline = Deadline(after: seconds)
        while true {
            let count = Glibc.write(input, bytes.baseAddress, bytes.count)
            if count > 0 { return .bytes(count) }
            guard count == 0 || errno == EAGAIN || errno == EINTR else { return .closed }
            guard wait(for: input, Int16(POLLOUT), until: deadline) else { return .timeout }
        }
    }

    /// Reads some bytes of the program's standard output. Waits until there is at least one.
    ///
    /// - Parameters:
    ///   - bytes: Room for at least one.
    ///   - seconds: The time limit; 0: do not wait.
    public func read(into bytes: UnsafeMutableRawBufferPointer, within seconds: Double) -> ReadResult {
        guard output >= 0 else { return .end }
        let deadline = Deadline(after: seconds)
        while true {
            let count = Glibc.read(output, bytes.baseAddress, bytes.count)
            if count > 0 { return .bytes(count) }
            guard count < 0, errno == EAGAIN || errno == EINTR else { return .end }
            guard wait(for: output, Int16(POLLIN), until: deadline) else { return .timeout }
        }
    }

    /// Writes bytes to the program's standard input, as fast as it reads them.
    ///
    /// - Parameter seconds: The longest time in which it reads nothing.
    /// - Returns: Whether it was given all of them.
    public func write(_ bytes: [UInt8], within seconds: Double) -> Bool {
        bytes.withUnsafeBytes { bytes in
            var rest = UnsafeRawBufferPointer(bytes)[...]
            while !rest.isEmpty {
                guard case .bytes(let count) = write(UnsafeRawBufferPointer(rebasing: rest), within: seconds) else { return false }
                rest = rest.dropFirst(count)
            }
            return true
        }
    }

    /// Reads what the program has written to its standard output, at most 256 KiB. Waits until there is something.
    ///
    /// - Returns: Empty at the time limit; nil: the program has closed its output.
    public func read(within seconds: Double) -> [UInt8]? {
        withUnsafeTemporaryAllocation(byteCount: 256 << 10, alignment: 8) { buffer in
            guard let start = buffer.baseAddress else { return nil }
            return switch read(into: UnsafeMutableRawBufferPointer(start: start, count: buffer.count), within: seconds) {
            case .bytes(let count): Array(buffer.prefix(count))
            case .timeout: []
            case .end: nil
            }
        }
    }

    /// Waits until the program has written something or has closed its output.
    ///
    /// - Returns: false at the time limit.
    public func waitForOutput(within seconds: Double) -> Bool {
        wait(for: output, Int16(POLLIN), until: Deadline(after: seconds))
    }

    /// Ends the program's input: it reads the end of file.
    public func closeInput() {
        guard input >= 0 else { return }
        close(input)
        input = -1
    }

    /// Reports the lines that the program has printed on standard error. Reads at most 256 KiB.
    public func reportLines() {
        guard errors >= 0 else { return }
        let time = MonotonicTime.now
        withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { buffer in
            for _ in 0..<64 {
                let count = Glibc.read(errors, buffer.baseAddress, buffer.count)
                if count > 0 {
                    log.add(buffer.prefix(count), at: time, report: report)
                    continue
                }
                if count == 0 || errno != EAGAIN && errno != EINTR {
                    log.end(report: report)
                    close(errors)
                    errors = -1
                }
                return
            }
        }
    }

    /// Waits until a descriptor is ready, or -1 for none, and reports lines of standard error meanwhile.
    ///
    /// - Returns: false at the deadline.
    private func wait(for descriptor: Int32, _ events: Int16, until deadline: Deadline) -> Bool {
        while true {
            let rest = deadline.rest
            guard rest > 0 else { return false }
            // poll ignores negative descriptors.
            var requests = [pollfd(fd: descriptor, events: events, revents: 0), pollfd(fd: errors, events: Int16(POLLIN), revents: 0)]
            let ready = poll(&requests, 2, Int32(min(rest * 1000, 60_000).rounded(.up)))
            if ready > 0, requests[1].revents != 0 { reportLines() }
            if ready > 0, requests[0].revents != 0 { return true }
        }
    }

    // MARK: - End

    /// Waits until the program has ended by itself, and reaps it.
    ///
    /// - Returns: Whether it has ended.
    public func waitForExit(within seconds: Double) -> Bool {
        let deadline = Deadline(after: seconds)
        var pause = 0.001
        while !reapIfEnded() {
            guard !deadline.hasPassed else { return false }
            // There is no descriptor of a process that all supported systems can poll.
            _ = wait(for: -1, 0, until: Deadline(after: min(pause, deadline.rest)))
            pause = min(pause * 2, 0.02)
        }
        return true
    }

    /// Ends the program and its group: closes its input, waits, sends SIGTERM, waits ``killDelay``, sends SIGKILL. Returns when
    /// the program has ended. Does nothing when it has.
    ///
    /// - Parameter seconds: The time that the program has to end by itself after the end of its input; 0: SIGKILL at once.
    /// - Returns: Whether it ended by itself.
    @discardableResult
    public func end(within seconds: Double) -> Bool {
        closeInput()
        defer {
            reportLines()
            log.end(report: report)
        }
        if exit != nil || reapIfEnded() { return true }
        if seconds > 0 {
            if waitForExit(within: seconds) { return true }
            stop()
        } else {
            kill(-identifier, SIGKILL)
            while !waitForExit(within: 1) {}
        }
        return false
    }

    /// Ends the program and its group: SIGTERM, and SIGKILL after ``killDelay``. Returns when the program has ended.
    public func stop() {
        closeInput()
        if reapIfEnded() { return }
        kill(-identifier, SIGTERM)
        if waitForExit(within: Self.killDelay) { return }
        kill(-identifier, SIGKILL)
        // SIGKILL ends every process, but one that waits for a device only when the device answers.
        while !waitForExit(within: 1) {}
    }

    /// Reaps the program if it has ended, after its group was killed.
    private func reapIfEnded() -> Bool {
        if exit != nil { return true }
        var information = siginfo_t()
        // The program stays a zombie until its group is killed: the number of the group is not given to another one before.
        guard waitid(P_PID, id_t(identifier), &information, WEXITED | WNOHANG | WNOWAIT) == 0, information.si_signo == SIGCHLD else {
            return false
        }
        kill(-identifier, SIGKILL)
        exit = ProcessExit.of(identifier)
        let identifier = identifier
        Self.running.withLock { _ = $0.remove(identifier) }
        reportLines()
        return true
    }

    /// Kills the groups of all programs that run. For a process that exits without its usual end.
    public static func killAll() {
        running.withLock { groups in
            for group in groups { kill(-group, SIGKILL) }
        }
    }
}
