import AllocationCounter
import Glibc
import Hemiola
import HemiolaSignal
import JSONLinesSink
import TestSupport
import Testing

/// Writing on the analysis thread, without blocking.
@Suite(.serialized) struct PromptTests {
    private static let block = Fixture.block(events: [Event(at: 0, Onset(strength: 1))])

    private func sink(
        _ path: String, _ settings: [String: ParameterValue] = [:], isLive: Bool = true
    ) async throws -> any NonBlockingSink {
        let sink = try #require(try Fixture.sink(path, settings) as? any NonBlockingSink)
        try await sink.open(SinkContext(name: "json-lines", isLive: isLive))
        try await sink.begin(Fixture.header)
        return sink
    }

    @Test func `writeIfReady: the same bytes as write`() async throws {
        let (one, other) = (Pipe(), Pipe())
        let (direct, blocking) = (try await sink(one.path), try await sink(other.path))
        for number in 0..<5 {
            let block = number == 0 ? Self.block : Fixture.block(first: 2 * number)
            #expect(direct.writeIfReady(block))
            try await blocking.write(block)
        }
        let text = one.available()
        #expect(try recordTypes(text).count == 12)
        #expect(text == other.available())
        for pipe in [one, other] {
            pipe.closeWriteEnd()
            pipe.closeReadEnd()
        }
    }

    @Test func `full pipe: nothing is written, no part of a line`() async throws {
        let pipe = Pipe()
        let sink = try await sink(pipe.path)
        _ = pipe.available()
        let flags = fcntl(pipe.writeEnd, F_GETFL)
        _ = fcntl(pipe.writeEnd, F_SETFL, flags | O_NONBLOCK)
        let filler = [UInt8](repeating: UInt8(ascii: "x"), count: 4096)
        while write(pipe.writeEnd, filler, filler.count) == filler.count {}
        _ = fcntl(pipe.writeEnd, F_SETFL, flags)
        #expect(!sink.writeIfReady(Self.block))
        #expect(pipe.available().allSatisfy { $0 == "x" })
        #expect(sink.writeIfReady(Self.block))
        #expect(try recordTypes(pipe.available()) == ["batch", "onset", "batch"])
        pipe.closeWriteEnd()
        pipe.closeReadEnd()
    }

    @Test func `batches longer than PIPE_BUF: nothing is written`() async throws {
        let pipe = Pipe()
        let sink = try await sink(pipe.path)
        _ = pipe.available()
        #expect(!sink.writeIfReady(Fixture.block(count: 64)))
        #expect(pipe.available() == "")
        pipe.closeWriteEnd()
        pipe.closeReadEnd()
    }

    @Test func `flush=block: nothing is written`() async throws {
        let pipe = Pipe()
        for sink in [try await sink(pipe.path, ["flush": .text("block")]), try await sink(pipe.path, isLive: false)] {
            #expect(!sink.writeIfReady(Self.block))
        }
        #expect(pipe.available() == "")
        pipe.closeWriteEnd()
        pipe.closeReadEnd()
    }

    @Test func `file or device: nothing is written`() async throws {
        let folder = try TemporaryFolder()
        #expect(try await !sink(folder("a.jsonl")).writeIfReady(Self.block))
        #expect(try await !sink("/dev/null").writeIfReady(Self.block))
    }

    @Test func `closed pipe: writeIfReady returns false, and write throws the remedy finish`() async throws {
        let pipe = Pipe()
        let sink = try await sink(pipe.path)
        pipe.closeReadEnd()
        #expect(!sink.writeIfReady(Self.block))
        #expect(await sinkError { try await sink.write(Self.block) }?.remedy == .finish)
        pipe.closeWriteEnd()
    }

    @Test(.disabled(if: Sanitizer.isOn, "a sanitizer has its own allocator"))
    func `writeIfReady: no allocation`() async throws {
        let pipe = Pipe()
        let sink = try await sink(pipe.path)
        var counts: [UInt64] = []
        counts.reserveCapacity(20)
        for number in 0..<20 {
            allocation_trace(number < 5 ? 0 : 4)
            let before = allocation_count()
            let isWritten = sink.writeIfReady(Self.block)
            counts.append(allocation_count() - before)
            allocation_trace(0)
            #expect(isWritten)
        }
        if counts.dropFirst(5).contains(where: { $0 > 0 }) { allocation_report() }
        #expect(counts.dropFirst(5).allSatisfy { $0 == 0 })
        pipe.closeWriteEnd()
        pipe.closeReadEnd()
    }
}
