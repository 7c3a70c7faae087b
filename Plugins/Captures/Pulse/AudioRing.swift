internal import Synchronization

/// A lock-free ring buffer of samples between one writing and one reading thread.
///
/// `@unchecked Sendable`: only the writer calls `write` and `freeCount`, only the reader calls `read` and `position`; `head` and `tail`
/// publish the changes of one thread to the other.
final class AudioRing: @unchecked Sendable {
    /// Capacity in samples, a power of two.
    let capacity: Int

    // Raw memory, because both threads access it at the same time, at different positions.
    private let storage: UnsafeMutablePointer<Float>
    /// Total number of samples written.
    private let head = Atomic(0)
    /// Total number of samples read.
    private let tail = Atomic(0)

    /// - Parameter minimum: Minimum capacity in samples, 1….
    init(holding minimum: Int) {
        capacity = 1 << (Int.bitWidth - max(minimum - 1, 1).leadingZeroBitCount)
        storage = .allocate(capacity: capacity)
        storage.initialize(repeating: 0, count: capacity)
    }

    deinit { storage.deallocate() }

    /// Total number of samples written, the position of the next one.
    var end: Int { head.load(ordering: .sequentiallyConsistent) }

    // MARK: - Writing thread

    /// Number of samples that can be written now.
    var freeCount: Int { capacity - (head.load(ordering: .relaxed) - tail.load(ordering: .acquiring)) }

    /// Writes `count` samples, at most `freeCount`.
    ///
    /// - Parameter samples: nil: zeros.
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
        // Sequentially consistent: either the writer sees the reader waiting, or the reader sees these samples.
        head.store(start + count, ordering: .sequentiallyConsistent)
    }

    // MARK: - Reading thread

    /// Total number of samples read, the position of the next one.
    var position: Int { tail.load(ordering: .relaxed) }

    /// Reads `count` samples that were written.
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
