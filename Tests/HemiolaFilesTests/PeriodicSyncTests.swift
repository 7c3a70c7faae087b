import Glibc
import HemiolaSystem
import Synchronization
import TestSupport
import Testing

@testable import HemiolaFiles

/// Calls that were made, from another thread.
private final class Calls: Sendable {
    private let calls = Watched(0)
    var count: Int { calls.value }
    let onThread = Atomic<Int>(0)

    func note() {
        onThread.store(Int(bitPattern: pthread_self()), ordering: .relaxed)
        calls.change { $0 += 1 }
    }

    func wait(for number: Int) -> Bool { calls.wait { $0 >= number } }
}

@Suite struct PeriodicSyncTests {
    private let file = FileDescriptor(open("/dev/null", O_WRONLY | O_CLOEXEC))

    @Test func `file that changes: synchronized on another thread`() throws {
        defer { file.close() }
        let calls = Calls()
        let sync = try PeriodicSync(file, interval: 0.005) { _ in
            calls.note()
            return nil
        }
        for number in 1...3 {
            sync.noteWrite()
            #expect(calls.wait(for: number))
        }
        #expect(calls.onThread.load(ordering: .relaxed) != Int(bitPattern: pthread_self()))
        #expect(sync.error == nil)
    }

    @Test func `no thread: an error, and the descriptor of the thread is closed`() async {
        await #expect(processExitsWith: .success) {
            // A pipe has an end as soon as nobody holds its other side. Numbers of descriptors say nothing: other threads open some too.
            var ends: [Int32] = [0, 0]
            try #require(pipe(&ends) == 0 && fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0)
            ThreadDenial.begin()
            #expect(throws: Problem.self) { try PeriodicSync(FileDescriptor(ends[1])) }
            close(ends[1])
            var byte: UInt8 = 0
            #expect(read(ends[0], &byte, 1) == 0, "the duplicate is open")
        }
    }

    @Test func `file that does not change: not synchronized again`() throws {
        defer { file.close() }
        let (calls, others) = (Calls(), Calls())
        let still = try PeriodicSync(file, interval: 0.001) { _ in
            calls.note()
            return nil
        }
        let busy = try PeriodicSync(file, interval: 0.001) { _ in
            others.note()
            return nil
        }
        for number in 1...20 {
            busy.noteWrite()
            #expect(others.wait(for: number))
        }
        #expect(calls.count == 0)
        withExtendedLifetime(still) {}
    }

    @Test func `disk that fails: the error number is kept for the next write`() throws {
        defer { file.close() }
        let calls = Calls()
        let sync = try PeriodicSync(file, interval: 0.001) { _ in
            calls.note()
            return SystemCallError(.inputOutput)
        }
        sync.noteWrite()
        #expect(calls.wait(for: 1))
        // The next call comes after the result of the first was kept.
        sync.noteWrite()
        #expect(calls.wait(for: 2))
        #expect(sync.error == SystemCallError(.inputOutput))
    }
}
