import Glibc
import Testing

@testable import HemiolaSystem

@Suite struct WakeUpTests {
    @Test func `signals before a wait: end that wait only`() throws {
        let wakeUp = try WakeUp()
        for _ in 0..<1000 { wakeUp.signal() }
        #expect(wakeUp.wait(seconds: 30).isSignalled)
        #expect(wakeUp.wait(seconds: 0) == WakeUp.Readiness())
    }

    @Test func `more signals than a pipe holds: none blocks`() throws {
        let wakeUp = try WakeUp()
        for _ in 0..<100_000 { wakeUp.signal() }
        #expect(wakeUp.wait(seconds: nil).isSignalled)
        #expect(!wakeUp.wait(seconds: 0).isSignalled)
    }

    @Test func `signal from another thread: ends the wait`() throws {
        let (question, answer) = (try WakeUp(), try WakeUp())
        // Two threads take turns, so that each of them waits for the other.
        try startThread(for: "a test") {
            for _ in 0..<1000 {
                question.wait(seconds: nil)
                answer.signal()
            }
        }
        var answers = 0
        for _ in 0..<1000 {
            question.signal()
            if answer.wait(seconds: nil).isSignalled { answers += 1 }
        }
        #expect(answers == 1000)
    }

    @Test func `descriptor: reported when it can be read, and when it was closed by the peer`() throws {
        let (wakeUp, ends) = (try WakeUp(), try PipeEnds())
        defer { close(ends.reader) }
        #expect(wakeUp.wait(seconds: 0.01, for: ends.reader) == WakeUp.Readiness())
        #expect(wakeUp.wait(seconds: 30, for: ends.writer, writing: true) == WakeUp.Readiness(isWritable: true))
        #expect(write(ends.writer, "x", 1) == 1)
        #expect(wakeUp.wait(seconds: 30, for: ends.reader) == WakeUp.Readiness(isReadable: true))
        var byte: UInt8 = 0
        #expect(read(ends.reader, &byte, 1) == 1)
        close(ends.writer)
        #expect(wakeUp.wait(seconds: 30, for: ends.reader).isReadable)
    }

    @Test(arguments: [0, 0.0005, 0.0305]) func `wait without a signal: lasts its time`(seconds: Double) throws {
        let wakeUp = try WakeUp()
        let start = MonotonicTime.now
        #expect(wakeUp.wait(seconds: seconds) == WakeUp.Readiness())
        #expect(MonotonicTime.now - start >= seconds)
    }
}
