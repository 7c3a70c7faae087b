import AllocationCounter
import Glibc
import Hemiola
import JSONLinesSink
import TestSupport
import Testing

/// Writing live into a pipe.
@Suite(.serialized) struct PipeTests {
    private static let block = Fixture.block(events: [Event(at: 0, Onset(strength: 1))])

    private func sink(_ path: String) throws -> any Sink {
        let sink = try Fixture.sink(path)
        try sink.open(SinkContext(name: "json-lines", timing: SinkTiming(isLive: true)))
        try sink.begin(Fixture.header)
        return sink
    }

    @Test func `closed pipe: write throws the remedy finish`() throws {
        let pipe = Pipe()
        let sink = try sink(pipe.path)
        pipe.closeReadEnd()
        #expect(sinkError { try sink.write(Self.block) }?.remedy == .finish)
        pipe.closeWriteEnd()
    }

    @Test(.disabled(if: Sanitizer.isOn, "a sanitizer has its own allocator"))
    func `live batches: no allocation`() throws {
        let pipe = Pipe()
        let sink = try sink(pipe.path)
        var counts: [UInt64] = []
        counts.reserveCapacity(20)
        for number in 0..<20 {
            allocation_trace(number < 5 ? 0 : 4)
            let before = allocation_count()
            try sink.write(Self.block)
            counts.append(allocation_count() - before)
            allocation_trace(0)
            _ = pipe.available()
        }
        if counts.dropFirst(5).contains(where: { $0 > 0 }) { allocation_report() }
        #expect(counts.dropFirst(5).allSatisfy { $0 == 0 })
        pipe.closeWriteEnd()
        pipe.closeReadEnd()
    }
}
