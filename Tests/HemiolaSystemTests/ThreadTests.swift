import HemiolaSystem
import TestSupport
import Testing

@Suite struct ThreadTests {
    @Test func `thread with a result: passed to the thread that waits`() throws {
        let threads = try (0..<4).map { number in try WorkerThread<Int>(for: "a test") { number * number } }
        #expect(threads.map { $0.join() } == [0, 1, 4, 9])
    }

    @Test func `thread that the system denies: an error with what it was for and the way out, and its closure is released`() async {
        await #expect(processExitsWith: .success) {
            ThreadDenial.begin()
            weak var kept: Kept?
            do {
                let captured = Kept()
                kept = captured
                let error = #expect(throws: Problem.self) { try startThread(for: "the lamp") { captured.use() } }
                let start = "cannot start a thread for the lamp: Resource temporarily unavailable; "
                #expect(error?.message == start + "raise the limit: ulimit -u, or ulimit -v")
                #expect(throws: Problem.self) { _ = try WorkerThread<Void>(for: "the lamp") { captured.use() } }
            }
            #expect(kept == nil)
        }
    }
}

private final class Kept: Sendable {
    func use() {}
}
