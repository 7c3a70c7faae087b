internal import Hemiola
internal import Synchronization

/// A queue of about two seconds of audio between libpulse's thread and the analysis thread. Gaps, device events and source changes are
/// queued at their position in the audio. Neither thread waits for the other; frames that do not fit are dropped and reported as a gap.
///
/// `@unchecked Sendable`: one thread writes and another reads, each with its own variables; they share the ring, `markers` and atomics.
final class DeliveryQueue: @unchecked Sendable {
    /// A delivery other than frames, at a position in the ring.
    private struct Marker {
        var position: Int
        var delivery: ReadResult
        /// The ring of the samples after this position, where the format changes.
        var ring: AudioRing?
    }

    private static let seconds = 2

    private let wakeUp: WakeUp
    private let markers = Mutex<[Marker]>([])
    /// Position of the first marker, so that the reader needs no lock between markers.
    private let nextMarker = Atomic(Int.max)
    /// The end position that the reader waits for; `Int.max` while it does not wait.
    private let awaited = Atomic(Int.max)

    // Used by the writing thread.
    private(set) var format: StreamFormat
    private var target: AudioRing
    private var lostFrames: Int64 = 0

    // Used by the reading thread.
    private var source: AudioRing
    private var channelCount: Int

    init(_ format: StreamFormat, wakeUp: WakeUp) {
        self.wakeUp = wakeUp
        self.format = format
        target = Self.ring(format)
        source = target
        channelCount = format.channelCount
    }

    private static func ring(_ format: StreamFormat) -> AudioRing {
        AudioRing(holding: seconds * format.sampleRate * format.channelCount)
    }

    // MARK: - Writing thread

    /// Appends frames. Frames that do not fit are dropped and counted.
    ///
    /// - Parameter samples: Interleaved; nil: silence.
    func write(_ samples: UnsafePointer<Float>?, frames: Int) {
        let count = frames * format.channelCount
        let free = target.freeCount
        // After an overrun, half of the ring must be free, so that a slow reader causes one gap and not many.
        if count > free || (lostFrames > 0 && free < target.capacity / 2) {
            lostFrames += Int64(frames)
            return
        }
        appendOverrun()
        target.write(samples, count: count)
        if target.end >= awaited.load(ordering: .sequentiallyConsistent) { wakeUp.signal() }
    }

    /// Appends a delivery other than frames.
    func append(_ delivery: ReadResult) {
        appendOverrun()
        append(Marker(position: target.end, delivery: delivery))
    }

    /// Changes the source; the frames after this have its format.
    func change(to source: StreamSource) {
        appendOverrun()
        let ring = Self.ring(source.format)
        append(Marker(position: target.end, delivery: .source(source), ring: ring))
        format = source.format
        target = ring
    }

    private func appendOverrun() {
        guard lostFrames > 0 else { return }
        append(Marker(position: target.end, delivery: .gap(Gap(frames: lostFrames, reason: .overrun))))
        lostFrames = 0
    }

    private func append(_ marker: Marker) {
        markers.withLock { markers in
            markers.append(marker)
            if markers.count == 1 { nextMarker.store(marker.position, ordering: .sequentiallyConsistent) }
        }
        wakeUp.signal()
    }

    // MARK: - Reading thread

    /// The next delivery; `.idle` when none arrives in time. Frames fill `samples` unless the time is over or another delivery follows.
    func next(into samples: UnsafeMutableBufferPointer<Float>, waiting milliseconds: Int32) -> ReadResult {
        let room = samples.count / channelCount * channelCount
        precondition(room > 0, "there is no room for a frame")
        if let delivery = take(into: samples, room: room, allowsPartial: false) { return delivery }
        // Stores the awaited position first and checks again, because the writer does not signal before it is stored.
        awaited.store(source.position + room, ordering: .sequentiallyConsistent)
        defer { awaited.store(.max, ordering: .relaxed) }
        if let delivery = take(into: samples, room: room, allowsPartial: false) { return delivery }
        wakeUp.wait(seconds: Double(milliseconds) / 1000)
        return take(into: samples, room: room, allowsPartial: true) ?? .idle
    }

    private func take(into samples: UnsafeMutableBufferPointer<Float>, room: Int, allowsPartial: Bool) -> ReadResult? {
        // In this order: a thread that sees samples after a marker also sees the marker.
        let end = source.end
        let marker = nextMarker.load(ordering: .sequentiallyConsistent)
        let position = source.position
        if marker <= position { return takeMarker() }
        let count = min(room, min(end, marker) - position)
        guard count > 0, allowsPartial || count == room || end >= marker, let start = samples.baseAddress else { return nil }
        source.read(into: start, count: count)
        return .frames(count / channelCount)
    }

    private func takeMarker() -> ReadResult {
        let marker = markers.withLock { markers in
            let marker = markers.removeFirst()
            nextMarker.store(markers.first?.position ?? .max, ordering: .sequentiallyConsistent)
            return marker
        }
        if let ring = marker.ring, case .source(let new) = marker.delivery {
            source = ring
            channelCount = new.format.channelCount
        }
        return marker.delivery
    }
}
