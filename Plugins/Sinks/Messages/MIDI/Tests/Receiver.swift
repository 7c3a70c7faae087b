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

    /// What the thread has: not the receiver, whose end ends the thread.
    private final class Reader: Sendable {
        let received = Watched<[(time: Double, byte: UInt8)]>([])
        let isPaused = Atomic(false)
        let isStopped = Atomic(false)
        /// Signals that one of the two has changed.
        let change: WakeUp

        init() throws {
            change = try WakeUp()
        }

        /// Reads until it is stopped.
        func read(_ descriptor: Int32) {
            var buffer = [UInt8](repeating: 0, count: 256)
            while !isStopped.load(ordering: .acquiring) {
                let source = isPaused.load(ordering: .acquiring) ? nil : descriptor
                let readiness = change.wait(seconds: nil, for: source)
                // Whether it is still to read.
                if readiness.isSignalled || !readiness.isReadable { continue }
                let count = Glibc.read(descriptor, &buffer, buffer.count)
                let time = MonotonicTime.now
                if count > 0 {
                    let bytes = buffer[..<count].map { (time: time, byte: $0) }
                    received.change { $0 += bytes }
                }
            }
        }
    }

    /// The path that a program sends to.
    let path: String
    private let reader: Reader

    /// A pseudo-terminal in the mode in which the system makes them: it would change bytes.
    init() throws {
        var (main, sender, name) = (Int32(-1), Int32(-1), [CChar](repeating: 0, count: 128))
        guard openpty(&main, &sender, &name, nil, nil) == 0 else { throw Failure(what: "no pseudo-terminal") }
        path = String(decoding: name.prefix { $0 != 0 }.map { UInt8(truncatingIfNeeded: $0) }, as: UTF8.self)
        reader = try Reader()
        // A child process of another test would keep the terminal open.
        for end in [main, sender] { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        // The sender's side stays open, so that the terminal does not hang up before the program has opened it.
        start([main, sender])
    }

    /// The reader of a named pipe.
    init(pipe: String) throws {
        path = pipe
        reader = try Reader()
        // Also for writing: without a writer, the end of the pipe could be read again and again.
        let descriptor = open(pipe, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw Failure(what: "cannot open \(pipe)") }
        start([descriptor])
    }

    deinit { stop() }

    /// Reads nothing until `isReading` is true again.
    var isReading: Bool {
        get { !reader.isPaused.load(ordering: .acquiring) }
        set {
            reader.isPaused.store(!newValue, ordering: .releasing)
            reader.change.signal()
        }
    }

    /// What has arrived so far.
    var items: [(time: Double, byte: UInt8)] { reader.received.value }
    var bytes: [UInt8] { items.map(\.byte) }

    /// Closes the receiver's side: the device is gone.
    func stop() {
        reader.isStopped.store(true, ordering: .releasing)
        reader.change.signal()
    }

    /// Waits until a condition on the bytes is true.
    func wait(until condition: ([UInt8]) -> Bool) throws {
        guard reader.received.wait(until: { condition($0.map(\.byte)) }) else { throw Failure(what: "not received: \(messages)") }
    }

    /// Reads from the first of these descriptors until it is stopped, and then closes all.
    private func start(_ descriptors: [Int32]) {
        Thread { [reader] in
            reader.read(descriptors[0])
            for descriptor in descriptors { close(descriptor) }
        }.start()
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
