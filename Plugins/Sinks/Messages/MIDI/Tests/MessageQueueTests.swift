import HemiolaFiles
import Testing

@testable import MIDISink

/// A port that accepts a number of bytes, and then none or fails.
private final class LimitedPort: MIDIPort {
    var room: Int
    var code: Int32?
    private(set) var bytes: [UInt8] = []

    init(room: Int) { self.room = room }

    func send(_ new: Span<UInt8>) -> PortResult {
        if let code { return .failed(code) }
        let count = min(room, new.count)
        for index in 0..<count { bytes.append(new[index]) }
        room -= count
        return count > 0 ? .accepted(count) : .full
    }
}

@Suite struct MessageQueueTests {
    private let on = MIDIMessage.noteOn(60, channel: 1, velocity: 100)
    private let off = MIDIMessage.noteOff(60, channel: 1)

    @Test func `messages: the bytes of MIDI 1.0`() {
        #expect(MIDIMessage.clock.bytes == [0xF8])
        #expect(MIDIMessage.start.bytes == [0xFA])
        #expect(MIDIMessage.continue.bytes == [0xFB])
        #expect(MIDIMessage.stop.bytes == [0xFC])
        #expect(MIDIMessage.noteOn(127, channel: 16, velocity: 1).bytes == [0x9F, 127, 1])
        #expect(MIDIMessage.noteOff(0, channel: 10).bytes == [0x89, 0, 0])
        #expect(MIDIMessage.songPosition(0x2001).bytes == [0xF2, 1, 0x40])
    }

    @Test func `the port accepts a part of a message: the rest follows, and new notes and pulses are lost meanwhile`() {
        var queue = MessageQueue()
        let port = LimitedPort(room: 2)
        queue.add(on)
        #expect(queue.flush(to: port) == nil)
        #expect(queue.isStalled)
        for message in [.clock, on, off, .stop] { queue.add(message) }
        #expect(queue.takeLosses() == 2)
        #expect(queue.takeLosses() == 0)
        #expect(queue.needsResynchronization)
        port.room = 100
        #expect(queue.flush(to: port) == nil)
        #expect(port.bytes == on.bytes + off.bytes + [0xFC])
        #expect(!queue.isStalled && queue.isEmpty)
    }

    @Test func `only notes are lost: the song position is right`() {
        var queue = MessageQueue()
        queue.add(off)
        #expect(queue.flush(to: LimitedPort(room: 0)) == nil)
        queue.add(on)
        #expect(queue.takeLosses() == 1)
        #expect(!queue.needsResynchronization)
    }

    @Test func `the port accepts nothing: at most 64 messages wait`() {
        var queue = MessageQueue()
        let port = LimitedPort(room: 0)
        for _ in 0..<1000 {
            queue.add(off)
            #expect(queue.flush(to: port) == nil)
        }
        #expect(queue.takeLosses() == 1000 - MessageQueue.limit)
    }

    @Test func `the port fails: its error number, and what waited is lost`() {
        var queue = MessageQueue()
        let port = LimitedPort(room: 0)
        port.code = 5
        queue.add(.start)
        #expect(queue.flush(to: port) == 5)
        queue.removeAll()
        #expect(queue.takeLosses() == 1)
        #expect(queue.isEmpty && queue.needsResynchronization)
    }
}
