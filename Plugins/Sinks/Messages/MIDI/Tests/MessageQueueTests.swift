import HemiolaMIDI
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
        queue.advance(to: 0)
        #expect(queue.send(to: port) == nil)
        #expect(queue.isStalled)
        for message in [.clock, on, off, .stop] { queue.add(message) }
        queue.advance(to: 0)
        #expect(queue.takeLosses() == 2)
        #expect(queue.takeLosses() == 0)
        #expect(queue.needsResynchronization)
        port.room = 100
        #expect(queue.send(to: port) == nil)
        #expect(port.bytes == on.bytes + off.bytes + [0xFC])
        #expect(!queue.isStalled && queue.isEmpty)
    }

    @Test func `only notes are lost: the song position is right`() {
        var queue = MessageQueue()
        queue.add(off)
        queue.advance(to: 0)
        #expect(queue.send(to: LimitedPort(room: 0)) == nil)
        queue.add(on)
        queue.advance(to: 0)
        #expect(queue.takeLosses() == 1)
        #expect(!queue.needsResynchronization)
    }

    @Test func `the port accepts nothing: at most 256 messages wait, and there is room for a stop`() {
        var queue = MessageQueue()
        let port = LimitedPort(room: 0)
        for _ in 0..<1000 {
            queue.add(off)
            queue.advance(to: 0)
            #expect(queue.send(to: port) == nil)
        }
        #expect(queue.takeLosses() == 1000 - MessageQueue.limit)
        queue.add(.stop)
        #expect(queue.takeLosses() == 0 && !queue.needsResynchronization)
    }

    @Test func `the port fails: its error number, and what waited is lost`() {
        var queue = MessageQueue()
        let port = LimitedPort(room: 0)
        port.code = 5
        queue.add(.start)
        queue.advance(to: 0)
        #expect(queue.send(to: port) == 5)
        queue.loseDue()
        #expect(queue.takeLosses() == 1)
        #expect(queue.isEmpty && queue.needsResynchronization)
    }

    @Test func `notes: sent in order of time, pulses before those of the same time, and only whole notes are lost`() {
        var queue = MessageQueue()
        let port = LimitedPort(room: 100)
        queue.addNote(60, channel: 1, velocity: 100, at: 2, duration: 1)
        queue.add(.controller(7, channel: 1, value: 9), at: 1)
        #expect(queue.next == 1)
        queue.advance(to: 1)
        #expect(queue.send(to: port) == nil)
        #expect(port.bytes == [0xB0, 7, 9] && queue.next == 2)
        queue.add(.clock)
        queue.advance(to: 2)
        #expect(queue.send(to: port) == nil)
        #expect(port.bytes == [0xB0, 7, 9, 0xF8] + on.bytes && queue.next == 3)
        for _ in 0..<200 { queue.addNote(60, channel: 1, velocity: 100, at: 9, duration: 1) }
        #expect(queue.takeLosses() == 200 - (MessageQueue.limit - 1) / 2)
    }

    @Test func `the song ends: sounding notes end at once, the others are forgotten`() {
        var queue = MessageQueue()
        let port = LimitedPort(room: 100)
        queue.addNote(60, channel: 1, velocity: 100, at: 1, duration: 5)
        queue.advance(to: 1)
        #expect(queue.send(to: port) == nil)
        queue.addNote(61, channel: 1, velocity: 100, at: 2, duration: 5)
        queue.add(.stop)
        queue.endNotes()
        queue.advance(to: 1)
        #expect(queue.send(to: port) == nil)
        #expect(port.bytes == on.bytes + [0xFC] + off.bytes && queue.isEmpty)
    }
}
