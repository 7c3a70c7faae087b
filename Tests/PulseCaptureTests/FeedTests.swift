import Foundation
import Hemiola
import HemiolaSignal
import Synchronization
import Testing

@testable import PulseCapture

@Suite struct FeedTests {
    private static let mono = StreamFormat(sampleRate: 8_000, channelCount: 1)

    /// Reads everything that is there: frames as how many, anything else as it is.
    private func drain(_ feed: Feed, room: Int = 100_000) -> (told: [Delivery], samples: [Float]) {
        var told: [Delivery] = []
        var samples: [Float] = []
        var buffer = [Float](repeating: .nan, count: room)
        while true {
            let delivery = buffer.withUnsafeMutableBufferPointer { feed.next(into: $0, waiting: 0) }
            if delivery == .idle { return (told, samples) }
            told.append(delivery)
            if case .frames(let count) = delivery { samples += buffer[..<count] }
        }
    }

    @Test func `what befalls it comes in its place`() {
        let feed = Feed(Self.mono, bell: Bell())
        let gap = Delivery.gap(Gap(frames: 7, reason: .frozen))
        feed.mark(gap)
        feed.write([1, 2, 3], frames: 3)
        feed.mark(gap)
        feed.mark(.gap(Gap(frames: 0, reason: .suspended)))
        feed.write([4, 5], frames: 2)
        let (told, samples) = drain(feed)
        #expect(told == [gap, .frames(3), gap, .gap(Gap(frames: 0, reason: .suspended)), .frames(2)])
        #expect(samples == [1, 2, 3, 4, 5])
    }

    @Test func `a new format comes after the old one's last frame`() {
        let feed = Feed(Self.mono, bell: Bell())
        let stereo = StreamFormat(sampleRate: 16_000, channelCount: 2)
        feed.write([1], frames: 1)
        let source = StreamSource(format: stereo, kind: "pulse", name: "other")
        feed.change(to: source)
        feed.write([2, 3, 4, 5], frames: 2)
        #expect(feed.format == stereo)
        #expect(drain(feed).told == [.frames(1), .source(source), .frames(2)])
    }

    @Test(arguments: [1, 7, 80, 999])
    func `what does not fit is one gap of its length, in its place`(fragment: Int) {
        let feed = Feed(Self.mono, bell: Bell())
        var written = 0
        var samples: [Float] = []
        func write(until count: Int) {
            while written < count {
                samples = (0..<fragment).map { Float(written + $0) }
                feed.write(samples, frames: fragment)
                written += fragment
            }
        }
        write(until: 40_000)
        let first = drain(feed)
        write(until: 50_000)
        let second = drain(feed)
        let held = first.samples.count
        // Two seconds, up to a power of two.
        #expect(held > 16_384 - fragment && held <= 16_384)
        #expect(first.samples == (0..<held).map { Float($0) })
        guard case .gap(let gap) = second.told.first else {
            Issue.record("\(second.told.prefix(3))")
            return
        }
        #expect(gap.reason == .overrun)
        #expect(held + Int(gap.frames) + second.samples.count == written)
        #expect(second.samples.first == Float(held + Int(gap.frames)))
        #expect(second.samples.last == Float(written - 1))
        #expect(second.told.count(where: { if case .gap = $0 { true } else { false } }) == 1)
    }

    @Test func `nobody waits for more than was asked`() {
        let feed = Feed(Self.mono, bell: Bell())
        var buffer = [Float](repeating: 0, count: 64)
        let start = ProcessInfo.processInfo.systemUptime
        #expect(buffer.withUnsafeMutableBufferPointer { feed.next(into: $0, waiting: 50) } == .idle)
        #expect(ProcessInfo.processInfo.systemUptime - start >= 0.045)
        // A part of what there is room for comes when the time is up.
        feed.write([1, 2], frames: 2)
        #expect(buffer.withUnsafeMutableBufferPointer { feed.next(into: $0, waiting: 50) } == .frames(2))
    }

    /// Two threads that neither rest nor agree: every sample and every mark arrives once and in order.
    @Test func `two threads lose nothing`() async throws {
        let bell = Bell()
        let feed = Feed(StreamFormat(sampleRate: 8_000, channelCount: 2), bell: bell)
        let total = 400_000
        let taken = Atomic(0)
        let (stream, done) = AsyncStream<[Delivery]>.makeStream()
        let reader = Thread {
            var next = 0
            var problems: [Delivery] = []
            var frames = [2, 6, 64, 1000].map { $0 * 2 }
            while next < total {
                frames.append(frames.removeFirst())
                var buffer = [Float](repeating: -1, count: frames[0])
                switch buffer.withUnsafeMutableBufferPointer({ feed.next(into: $0, waiting: 1000) }) {
                case .frames(let count):
                    for index in 0..<count where buffer[index * 2] != Float(next + index) || buffer[index * 2 + 1] != -Float(next + index) {
                        problems.append(.frames(next + index))
                        break
                    }
                    next += count
                // Each mark says where it must come.
                case .gap(let gap): if gap.reason == .overrun || gap.frames != Int64(next) { problems.append(.gap(gap)) }
                case .idle: break
                case let other: problems.append(other)
                }
                taken.store(next, ordering: .releasing)
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
                // No faster than the reader, so that nothing is lost on purpose.
                while next + count - taken.load(ordering: .acquiring) > 8_000 { usleep(50) }
                let samples = (next..<next + count).flatMap { [Float($0), -Float($0)] }
                if length % 5 == 0 { feed.mark(.gap(Gap(frames: Int64(next), reason: .frozen))) }
                feed.write(samples, frames: count)
                next += count
            }
        }
        writer.start()
        var results = stream.makeAsyncIterator()
        let problems = await results.next()
        #expect(problems == [])
    }
}
