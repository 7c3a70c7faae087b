internal import Synchronization

/// Samples on their way from one thread that writes to one that reads, without a lock.
///
/// `@unchecked Sendable`: the writer alone calls `write` and `freeCount`, the reader alone `read` and `position`; what each has
/// done becomes visible to the other with `head` and `tail`.
final class AudioRing: @unchecked Sendable {
    /// Samples that it holds, a power of two.
    let capacity: Int

    // Raw memory, because both threads are in it at once, in different places.
    private let storage: UnsafeMutablePointer<Float>
    /// Samples ever written.
    private let head = Atomic(0)
    /// Samples ever read.
    private let tail = Atomic(0)

    /// - Parameter minimum: Samples that it must hold, 1….
    init(holding minimum: Int) {
        capacity = 1 << (Int.bitWidth - max(minimum - 1, 1).leadingZeroBitCount)
        storage = .allocate(capacity: capacity)
        storage.initialize(repeating: 0, count: capacity)
    }

    deinit { storage.deallocate() }

    /// Samples ever written: where the next one goes.
    var end: Int { head.load(ordering: .sequentiallyConsistent) }

    // MARK: - The writer

    /// Samples for which there is room.
    var freeCount: Int { capacity - (head.load(ordering: .relaxed) - tail.load(ordering: .acquiring)) }

    /// Writes samples for which there is room.
    ///
    /// - Parameter samples: nil for silence.
    func write(_ samples: UnsafePointer<Float>?, count: Int) {
        precondition(count <= freeCount, "the ring overflows")
        let start = head.load(ordering: .relaxed)
        var done = 0
        while done < count {
            let place = (start + done) & (capacity - 1)
            let length = min(count - done, capacity - place)
            if let samples {
                (storage + place).update(from: samples + done, count: length)
            } else {
                (storage + place).update(repeating: 0, count: length)
            }
            done += length
        }
        // Sequentially consistent: a writer that then sees nobody waiting is seen by whoever waits later.
        head.store(start + count, ordering: .sequentiallyConsistent)
    }

    // MARK: - The reader

    /// Samples ever read: where the next one comes from.
    var position: Int { tail.load(ordering: .relaxed) }

    /// Reads samples that were written.
    func read(into samples: UnsafeMutablePointer<Float>, count: Int) {
        let start = tail.load(ordering: .relaxed)
        precondition(count <= end - start, "the ring underflows")
        var done = 0
        while done < count {
            let place = (start + done) & (capacity - 1)
            let length = min(count - done, capacity - place)
            (samples + done).update(from: storage + place, count: length)
            done += length
        }
        tail.store(start + count, ordering: .releasing)
    }
}
