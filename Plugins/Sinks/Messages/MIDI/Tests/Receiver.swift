import Foundation
import Glibc
import HemiolaSystem
import Synchronization
import TestSupport

/// Reads MIDI bytes from a pseudo-terminal or a named pipe on a thread of its own, and notes when each arrived.
final class Receiver: Sendable {
    struct Failure: Error {
        var what: String
    }

    /// The path that a program sends to.
    let path: String
    private let descriptor: Int32
    /// The sender's side of a pseudo-terminal: it stays open, so that the terminal does not hang up before the program has opened it.
    private let slave: Int32
    private let received = Watched<[(time: Double, byte: UInt8)]>([])
    private let isPaused = Atomic(false)
    private let isStopped = Atomic(false)

    /// A pseudo-terminal in the mode in which the system makes them: it would change bytes.
    init() throws {
        var (main, sender, name) = (Int32(-1), Int32(-1), [CChar](repeating: 0, count: 128))
        guard openpty(&main, &sender, &name, nil, nil) == 0 else { throw Failure(what: "no pseudo-terminal") }
        path = String(decoding: name.prefix { $0 != 0 }.map { UInt8(truncatingIfNeeded: $0) }, as: UTF8.self)
        (descriptor, slave) = (main, sender)
        // A child process of another test would keep the terminal open.
        for end in [main, sender] { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        start()
    }

    /// The reader of a named pipe.
    init(pipe: String) throws {
        path = pipe
        descriptor = open(pipe, O_RDONLY | O_NONBLOCK)
        slave = -1
        guard descriptor >= 0 else { throw Failure(what: "cannot open \(pipe)") }
        start()
    }

    deinit { stop() }

    /// Reads nothing until `isReading` is true again.
    var isReading: Bool {
        get { !isPaused.load(ordering: .relaxed) }
        set { isPaused.store(!newValue, ordering: .relaxed) }
    }

    /// What has arrived so far.
    var items: [(time: Double, byte: UInt8)] { received.value }
    var bytes: [UInt8] { items.map(\.byte) }

    /// Closes the receiver's side: the device is gone.
    func stop() {
        guard isStopped.compareExchange(expected: false, desired: true, ordering: .relaxed).exchanged else { return }
        close(descriptor)
        if slave >= 0 { close(slave) }
    }

    /// Waits until a condition on the bytes is true.
    func wait(until condition: ([UInt8]) -> Bool) throws {
        guard received.wait(until: { condition($0.map(\.byte)) }) else { throw Failure(what: "not received: \(messages)") }
    }

    private func start() {
        Thread { [weak self] in Self.read { self } }.start()
    }

    private static func read(_ receiver: () -> Receiver?) {
        var buffer = [UInt8](repeating: 0, count: 256)
        while let receiver = receiver(), !receiver.isStopped.load(ordering: .relaxed) {
            var request = pollfd(fd: receiver.descriptor, events: Int16(POLLIN), revents: 0)
            guard receiver.isReading, poll(&request, 1, 20) == 1, request.revents & Int16(POLLIN) != 0 else {
                if !receiver.isReading || request.revents != 0 { usleep(2000) }
                continue
            }
            let count = Glibc.read(receiver.descriptor, &buffer, buffer.count)
            let time = MonotonicTime.now
            if count > 0 {
                let bytes = buffer[..<count].map { (time: time, byte: $0) }
                receiver.received.change { $0 += bytes }
            }
        }
    }

    // MARK: - Messages

    struct Message: Hashable, CustomStringConvertible {
        var time: Double
        var bytes: [UInt8]

        var description: String { bytes.map { String($0, radix: 16) }.joined(separator: " ") }
    }

    /// The bytes as messages. A byte that does not belong to a message is one of its own.
    var messages: [Message] {
        var result: [Message] = []
        var open: Message?
        for (time, byte) in items {
            if byte >= 0xF8 {
                result.append(Message(time: time, bytes: [byte]))
            } else if byte >= 0x80 {
                if let open { result.append(open) }
                open = Message(time: time, bytes: [byte])
            } else {
                open?.bytes.append(byte)
                if open == nil { result.append(Message(time: time, bytes: [byte])) }
            }
            if open?.bytes.count == 3 {
                result.append(open!)
                open = nil
            }
        }
        return result + (open.map { [$0] } ?? [])
    }

    /// The times of the clock pulses.
    var pulses: [Double] { items.filter { $0.byte == 0xF8 }.map(\.time) }
}
