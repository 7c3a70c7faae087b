import Foundation
import Glibc
import Hemiola
import Synchronization
import TestSupport
import Testing

@testable import HemiolaSystem

/// Lines that a program printed.
final class Lines: Sendable {
    private let lines = Mutex<[String]>([])
    var all: [String] { lines.withLock { $0 } }
    var report: @Sendable (String) -> Void { { line in self.lines.withLock { $0.append(line) } } }
}

/// A named pipe that the child of a shell holds open for writing: its reader sees when the child has ended, whoever reaps it.
private final class LifeLine {
    private let folder: TemporaryFolder
    private let reader: Int32

    init() throws {
        let folder = try TemporaryFolder()
        let path = folder("pipe")
        try #require(mkfifo(path, 0o600) == 0)
        let reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        try #require(reader >= 0)
        (self.folder, self.reader) = (folder, reader)
    }

    deinit { close(reader) }

    /// For the shell, before it starts the child.
    var hold: String { "exec 9>'\(folder("pipe"))';" }
    /// For the shell, after it has started the child.
    let release = "exec 9>&-"

    /// Whether the child has ended.
    func isCut(within seconds: Int32) -> Bool {
        var request = pollfd(fd: reader, events: Int16(POLLIN), revents: 0)
        return poll(&request, 1, seconds * 1000) > 0 && Int32(request.revents) & POLLHUP != 0
    }
}

@Suite(.serialized) struct RunningProgramTests {
    init() { signal(SIGPIPE, SIG_IGN) }

    private func start(
        _ text: String, hasInput: Bool = true, output: RunningProgram.Output = .pipe, lines: Lines = Lines()
    ) throws -> RunningProgram {
        try RunningProgram(.shell(text), hasInput: hasInput, output: output, report: lines.report)
    }

    private func write(_ text: String, to program: RunningProgram) -> RunningProgram.WriteResult {
        Array(text.utf8).withUnsafeBytes { program.write($0, within: 5) }
    }

    /// Everything that the program prints.
    private func output(of program: RunningProgram) -> String {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while case .bytes(let count) = buffer.withUnsafeMutableBytes({ program.read(into: $0, within: 5) }) { bytes += buffer[..<count] }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Whether a process exists, as a zombie too.
    private func exists(_ process: pid_t) -> Bool { kill(process, 0) == 0 }

    @Test func `program that copies its input: output and exit code`() throws {
        let program = try start("cat; exit 3")
        #expect(write("a\nb\n", to: program) == .bytes(4))
        program.closeInput()
        #expect(output(of: program) == "a\nb\n")
        #expect(program.waitForExit(within: 5))
        #expect(program.exit == .code(3))
        #expect(program.reasonForEnd == "ended with exit code 3")
        #expect(!exists(program.identifier), "it is reaped")
    }

    @Test func `list of arguments: no shell reads them`() throws {
        let program = try RunningProgram(
            .arguments(["printf", "%s|", "a b", "$HOME", "*"]), hasInput: false, output: .pipe, report: { _ in })
        #expect(output(of: program) == "a b|$HOME|*|")
    }

    @Test func `missing program: an error from a list, exit code 127 from the shell`() throws {
        #expect(throws: SystemCallError(number: ENOENT)) {
            try RunningProgram(.arguments(["/nonexistent/program"]), hasInput: true, output: .pipe, report: { _ in })
        }
        let program = try start("hemiola-no-such-program")
        #expect(program.waitForExit(within: 5))
        #expect(program.reasonForEnd.hasPrefix("the command was not found: "))
    }

    @Test func `standard error: lines are reported, the last one is part of the reason`() throws {
        let lines = Lines()
        let program = try start("echo one >&2; printf 'a\\033[1mb' >&2; exit 1", lines: lines)
        #expect(program.waitForExit(within: 5))
        program.end(within: 1)
        #expect(lines.all == ["one", "a\\u001b[1mb"])
        #expect(program.reasonForEnd == "ended with exit code 1: a\\u001b[1mb")
    }

    @Test func `output as log: its lines are reported`() throws {
        let lines = Lines()
        let program = try start("echo out; echo error >&2", output: .log, lines: lines)
        program.end(within: 5)
        #expect(lines.all == ["out", "error"])
    }

    @Test func `flood on standard error: bounded, and the program does not wait`() throws {
        let lines = Lines()
        let program = try start(
            "i=0; while [ $i -lt 3000 ]; do echo line $i; i=$((i+1)); done >&2; head -c 1000000 /dev/zero >&2", lines: lines)
        #expect(program.waitForExit(within: 20))
        program.end(within: 1)
        #expect(program.exit == .code(0))
        #expect(lines.all.count < 100)
        #expect(lines.all.contains { $0.hasSuffix("more lines were left out") })
        #expect(lines.all.allSatisfy { $0.utf8.count <= 4 * LineLog.longestLine + 3 })
    }

    @Test func `program that never reads: the write ends at the time limit`() throws {
        let program = try start("sleep 60")
        let bytes = [UInt8](repeating: 0, count: 1 << 20)
        var result = RunningProgram.WriteResult.bytes(0)
        while case .bytes = result { result = bytes.withUnsafeBytes { program.write($0, within: 0.3) } }
        #expect(result == .timeout)
        program.stop()
        #expect(program.exit == .signal(SIGTERM))
    }

    @Test func `program that ignores SIGTERM: killed, with the programs of its group`() throws {
        let child = try LifeLine()
        let program = try start("trap '' TERM; \(child.hold) sleep 60 & \(child.release); echo; wait; while :; do sleep 1; done")
        var buffer = [UInt8](repeating: 0, count: 16)
        #expect(buffer.withUnsafeMutableBytes { program.read(into: $0, within: 5) } == .bytes(1))
        #expect(!child.isCut(within: 0))
        let start = MonotonicTime.now
        program.stop()
        #expect(program.exit == .signal(SIGKILL))
        #expect(MonotonicTime.now - start >= RunningProgram.killDelay)
        #expect(!exists(program.identifier))
        #expect(child.isCut(within: 30))
    }

    @Test func `end of a program that leaves another one behind: the group is killed`() throws {
        let child = try LifeLine()
        let program = try start("\(child.hold) sleep 60 >/dev/null 2>&1 & \(child.release); echo ready")
        #expect(output(of: program) == "ready\n")
        program.end(within: 5)
        #expect(program.exit == .code(0))
        #expect(child.isCut(within: 30))
    }

    @Test func `deinit: the program is ended and reaped`() throws {
        var program: RunningProgram? = try start("sleep 60")
        let identifier = try #require(program?.identifier)
        #expect(exists(identifier))
        program = nil
        #expect(!exists(identifier))
    }

    @Test func `descriptors: the program inherits the three standard ones alone`() throws {
        // Without FD_CLOEXEC, as those that a shell leaves open.
        let open = (0..<3).map { _ in Glibc.open("/dev/null", O_RDONLY) }
        defer { for descriptor in open { close(descriptor) } }
        let program = try start("ls /proc/self/fd")
        // ls itself opens the folder.
        #expect(output(of: program).split(separator: "\n") == ["0", "1", "2", "3"])
    }

    @Test func `signals: default actions, although this process ignores SIGPIPE`() throws {
        let program = try start("grep -E '^Sig(Blk|Ign)' /proc/self/status")
        let lines = output(of: program).split(separator: "\n")
        #expect(lines.count == 2)
        // posix_spawn of the GNU C library leaves two signals of its own, 32 and 33, ignored.
        #expect(lines.allSatisfy { $0.hasSuffix("0000000000000000") || $0.hasSuffix("\t0000000180000000") })
    }
}
