import Foundation
import Hemiola
import Synchronization
import Testing

@testable import PulseCapture

@Suite struct DeliveryQueueTests {
    private static let mono = StreamFormat(sampleRate: 8_000, channelCount: 1)

    /// Reads all queued deliveries.
    private func drain(_ queue: DeliveryQueue, room: Int = 100_000) -> (deliveries: [ReadResult], samples: [Float]) {
        var deliveries: [ReadResult] = []
        var samples: [Float] = []
        var buffer = [Float](repeating: .nan, count: room)
        while true {
            let delivery = buffer.withUnsafeMutableBufferPointer { queue.next(into: $0, waiting: 0) }
            if delivery == .idle { return (deliveries, samples) }
            deliveries.append(delivery)
            if case .frames(let count) = delivery { samples += buffer[..<count] }
        }
    }

    @Test func `gaps between frames: delivered at their position`() throws {
        let queue = DeliveryQueue(Self.mono, wakeUp: try WakeUp())
        let gap = ReadResult.gap(Gap(frames: 7, reason: .frozen))
        queue.append(gap)
        queue.write([1, 2, 3], frames: 3)
        queue.append(gap)
        queue.append(.gap(Gap(frames: 0, reason: .suspended)))
        queue.write([4, 5], frames: 2)
        let (deliveries, samples) = drain(queue)
        #expect(deliveries == [gap, .frames(3), gap, .gap(Gap(frames: 0, reason: .suspended)), .frames(2)])
        #expect(samples == [1, 2, 3, 4, 5])
    }

    @Test func `change of format: delivered after the last frame of the old one`() throws {
        let queue = DeliveryQueue(Self.mono, wakeUp: try WakeUp())
        let stereo = StreamFormat(sampleRate: 16_000, channelCount: 2)
        queue.write([1], frames: 1)
        let source = StreamSource(format: stereo, kind: "pulse", name: "other")
        queue.change(to: source)
        queue.write([2, 3, 4, 5], frames: 2)
        #expect(queue.format == stereo)
        #expect(drain(queue).deliveries == [.frames(1), .source(source), .frames(2)])
    }

    @Test(arguments: [1, 7, 80, 999])
    func `frames that do not fit: one gap of their length at their position`(fragment: Int) throws {
        let queue = DeliveryQueue(Self.mono, wakeUp: try WakeUp())
        var written = 0
        var samples: [Float] = []
        func write(until count: Int) {
            while written < count {
                samples = (0..<fragment).map { Float(written + $0) }
                queue.write(samples, frames: fragment)
                written += fragment
            }
        }
        write(until: 40_000)
        let first = drain(queue)
        write(until: 50_000)
        let second = drain(queue)
        let held = first.samples.count
        // Two seconds, rounded up to a power of two.
        #expect(held > 16_384 - fragment && held <= 16_384)
        #expect(first.samples == (0..<held).map { Float($0) })
        guard case .gap(let gap) = second.deliveries.first else {
            Issue.record("\(second.deliveries.prefix(3))")
            return
        }
        #expect(gap.reason == .overrun)
        #expect(held + Int(gap.frames) + second.samples.count == written)
        #expect(second.samples.first == Float(held + Int(gap.frames)))
        #expect(second.samples.last == Float(written - 1))
        #expect(second.deliveries.count(where: { if case .gap = $0 { true } else { false } }) == 1)
    }

    @Test func `no audio: waits no longer than requested, then delivers a part or idle`() throws {
        let queue = DeliveryQueue(Self.mono, wakeUp: try WakeUp())
        var buffer = [Float](repeating: 0, count: 64)
        let start = ProcessInfo.processInfo.systemUptime
        #expect(buffer.withUnsafeMutableBufferPointer { queue.next(into: $0, waiting: 50) } == .idle)
        #expect(ProcessInfo.processInfo.systemUptime - start >= 0.045)
        // After the time, fewer frames than fit are delivered.
        queue.write([1, 2], frames: 2)
        #expect(buffer.withUnsafeMutableBufferPointer { queue.next(into: $0, waiting: 50) } == .frames(2))
    }

    /// Every sample and every marker arrives once and in order.
    @Test func `writer and reader on two threads: nothing is lost or reordered`() async throws {
        let wakeUp = try WakeUp()
        let queue = DeliveryQueue(StreamFormat(sampleRate: 8_000, channelCount: 2), wakeUp: wakeUp)
        let total = 400_000
        let taken = Atomic(0)
        // Not a lock, whose order of the threads' accesses would hide races of the queue from the thread sanitizer.
        let room = try WakeUp()
        let (stream, done) = AsyncStream<[ReadResult]>.makeStream()
        let reader = Thread {
            var next = 0
            var problems: [ReadResult] = []
            var frames = [2, 6, 64, 1000].map { $0 * 2 }
            while next < total {
                frames.append(frames.removeFirst())
                var buffer = [Float](repeating: -1, count: frames[0])
                switch buffer.withUnsafeMutableBufferPointer({ queue.next(into: $0, waiting: 1000) }) {
                case .frames(let count):
                    for index in 0..<count where buffer[index * 2] != Float(next + index) || buffer[index * 2 + 1] != -Float(next + index) {
                        problems.append(.frames(next + index))
                        break
                    }
                    next += count
                // The length of each gap is the position that it must have.
                case .gap(let gap): if gap.reason == .overrun || gap.frames != Int64(next) { problems.append(.gap(gap)) }
                case .idle: break
                case let other: problems.append(other)
                }
                taken.store(next, ordering: .releasing)
                room.signal()
            }
            done.yield(problems)
        }
        reader.start()
        let writer = Thread {
            var next = 0
            var length = 1
            while next < total {
                length = length % 211 + 1
                let count = min(length, total - next)
                // Not faster than the reader, so that no overrun occurs.
                while next + count - taken.load(ordering: .acquiring) > 8_000 { room.wait(seconds: nil) }
                let samples = (next..<next + count).flatMap { [Float($0), -Float($0)] }
                if length % 5 == 0 { queue.append(.gap(Gap(frames: Int64(next), reason: .frozen))) }
                queue.write(samples, frames: count)
                next += count
            }
        }
        writer.start()
        var results = stream.makeAsyncIterator()
        let problems = await results.next()
        #expect(problems == [])
    }
}
