internal import Hemiola
internal import HemiolaSignal
internal import Synchronization

/// About two seconds of audio between the thread that the server wakes and the analysis thread, and among it, in its place,
/// whatever befell it. Neither ever waits for the other; who writes too much is told by a gap how much was lost.
///
/// `@unchecked Sendable`: one thread writes and another reads, each with its own variables; they meet in the ring, in `marks`
/// and in atomics.
final class Feed: @unchecked Sendable {
    /// What the reader gets when it arrives at a position in its ring.
    private struct Mark {
        var position: Int
        var delivery: Delivery
        /// What comes after it is in another ring: its samples have another format.
        var ring: AudioRing?
    }

    private static let seconds = 2

    private let bell: Bell
    private let marks = Mutex<[Mark]>([])
    /// Where the first mark is: the reader's way past them needs no lock.
    private let nextMark = Atomic(Int.max)
    /// Where the reader waits for the ring's end to be.
    private let awaited = Atomic(Int.max)

    // The writer's.
    private(set) var format: StreamFormat
    private var target: AudioRing
    private var lostFrames: Int64 = 0

    // The reader's.
    private var source: AudioRing
    private var channelCount: Int

    init(_ format: StreamFormat, bell: Bell) {
        self.bell = bell
        self.format = format
        target = Self.ring(format)
        source = target
        channelCount = format.channelCount
    }

    private static func ring(_ format: StreamFormat) -> AudioRing {
        AudioRing(holding: seconds * format.sampleRate * format.channelCount)
    }

    // MARK: - The writer

    /// Appends frames; those for which there is no room are lost and counted.
    ///
    /// - Parameter samples: Interleaved; nil for silence.
    func write(_ samples: UnsafePointer<Float>?, frames: Int) {
        let count = frames * format.channelCount
        let free = target.freeCount
        // Half of it, so that a reader that is slow for a while makes one gap and not a hundred.
        if count > free || (lostFrames > 0 && free < target.capacity / 2) {
            lostFrames += Int64(frames)
            return
        }
        tellLoss()
        target.write(samples, count: count)
        if target.end >= awaited.load(ordering: .sequentiallyConsistent) { bell.ring() }
    }

    /// Appends something that is no audio.
    func mark(_ delivery: Delivery) {
        tellLoss()
        append(Mark(position: target.end, delivery: delivery))
    }

    /// From here on the source is another, in another format.
    func change(to source: StreamSource) {
        tellLoss()
        let ring = Self.ring(source.format)
        append(Mark(position: target.end, delivery: .source(source), ring: ring))
        format = source.format
        target = ring
    }

    private func tellLoss() {
        guard lostFrames > 0 else { return }
        append(Mark(position: target.end, delivery: .gap(Gap(frames: lostFrames, reason: .overrun))))
        lostFrames = 0
    }

    private func append(_ mark: Mark) {
        marks.withLock { marks in
            marks.append(mark)
            if marks.count == 1 { nextMark.store(mark.position, ordering: .sequentiallyConsistent) }
        }
        bell.ring()
    }

    // MARK: - The reader

    /// What comes next; waits for it for so long.
    func next(into samples: UnsafeMutableBufferPointer<Float>, waiting milliseconds: Int32) -> Delivery {
        let room = samples.count / channelCount * channelCount
        precondition(room > 0, "there is no room for a frame")
        if let delivery = take(into: samples, room: room, isPartFine: false) { return delivery }
        // Announced first and looked at again then: what comes in between would not ring.
        awaited.store(source.position + room, ordering: .sequentiallyConsistent)
        defer { awaited.store(.max, ordering: .relaxed) }
        if let delivery = take(into: samples, room: room, isPartFine: false) { return delivery }
        bell.wait(milliseconds: milliseconds)
        return take(into: samples, room: room, isPartFine: true) ?? .idle
    }

    private func take(into samples: UnsafeMutableBufferPointer<Float>, room: Int, isPartFine: Bool) -> Delivery? {
        // In this order: whoever sees samples behind a mark sees the mark.
        let end = source.end
        let mark = nextMark.load(ordering: .sequentiallyConsistent)
        let position = source.position
        if mark <= position { return takeMark() }
        let count = min(room, min(end, mark) - position)
        guard count > 0, isPartFine || count == room || end >= mark, let start = samples.baseAddress else { return nil }
        source.read(into: start, count: count)
        return .frames(count / channelCount)
    }

    private func takeMark() -> Delivery {
        let mark = marks.withLock { marks in
            let mark = marks.removeFirst()
            nextMark.store(marks.first?.position ?? .max, ordering: .sequentiallyConsistent)
            return mark
        }
        if let ring = mark.ring, case .source(let new) = mark.delivery {
            source = ring
            channelCount = new.format.channelCount
        }
        return mark.delivery
    }
}
