import Glibc
import Hemiola
import JSONLinesSink
import Testing

@Suite struct FlushTests {
    @Test(arguments: [("auto", true, true), ("auto", false, false), ("line", false, true), ("block", true, false)])
    func `flush: each line at once with line, or with auto when live, else in blocks`(flush: String, live: Bool, atOnce: Bool) throws {
        let pipe = Pipe()
        let sink = try Fixture.sink(pipe.path, ["flush": .text(flush)])
        try sink.open(SinkContext(name: "json-lines", timing: SinkTiming(isLive: live)))
        try sink.begin(Fixture.header)
        #expect(try recordTypes(pipe.available()) == (atOnce ? ["header"] : []))
        try sink.write(Fixture.block(events: [Event(at: 0, Onset(strength: 1))]))
        #expect(try recordTypes(pipe.available()) == (atOnce ? ["batch", "onset", "batch"] : []))
        try sink.end(Fixture.summary)
        try sink.close()
        #expect(try recordTypes(pipe.available()).last == "end")
        pipe.closeWriteEnd()
        pipe.closeReadEnd()
    }

    @Test func `flush=block: each written block ends with a whole line`() async throws {
        let pipe = Pipe()
        let sink = try Fixture.sink(pipe.path)
        try sink.open(SinkContext(name: "json-lines"))
        try sink.begin(Fixture.header)
        let reading = Reading { pipe.readEnd }
        for block in Fixture.manyBlocks { try sink.write(block) }
        // The sink is not closed: only full blocks are written.
        pipe.closeWriteEnd()
        let text = await reading.text
        #expect(text.utf8.count > 65_536)
        _ = try recordTypes(text)
        pipe.closeReadEnd()
    }
}
