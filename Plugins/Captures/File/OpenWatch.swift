internal import Glibc
internal import Hemiola
internal import Synchronization

/// A watchdog for opening a file: runs the work on a separate thread, because it may never return. open(2) blocks on a network file
/// whose server is gone, and libsndfile loops forever over some damaged headers.
///
/// The caller waits, and gives up when the run is cancelled or when the thread uses processor time without reading. An abandoned thread
/// cannot be terminated safely (it may hold a lock of the C library), so it gets the lowest scheduling class and stays until the
/// process ends.
final class OpenWatch: Sendable {
    /// Why the caller stopped waiting.
    enum Interruption: Error, Hashable {
        /// The run was cancelled.
        case cancelled
        /// The decoder loops.
        case stuck
    }

    /// Processor time without a read after which the thread counts as looping, in seconds. Opening the largest file of a test
    /// collection used at most 0.01 s between two reads.
    static let computingLimit = 2.0

    /// Number of reads of the file so far; incremented by the reader.
    private let reads = Atomic<Int>(0)
    private let isDone = Atomic<Bool>(false)
    /// A wake-up pipe: receives a byte when the work is done. Without it (no descriptors left) the caller polls every 50 ms.
    private let reader: Int32
    private let writer: Int32

    init() {
        var ends: [Int32] = [-1, -1]
        if pipe(&ends) == 0 {
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        }
        (reader, writer) = (ends[0], ends[1])
    }

    deinit {
        for end in [reader, writer] where end >= 0 { close(end) }
    }

    /// Records a read of the file. Called from the thread that opens and, later, reads it.
    func noteRead() {
        reads.wrappingAdd(1, ordering: .relaxed)
    }

    /// Reads recorded so far, 0….
    var readCount: Int { reads.load(ordering: .relaxed) }

    /// Runs `work` on a thread and waits for it.
    ///
    /// - Parameters:
    ///   - isCancelled: Whether the run is cancelled; polled every 50 ms.
    ///   - work: May block or loop forever.
    func run<Value>(
        isCancelled: @Sendable () -> Bool, work: @escaping @Sendable () -> Value
    ) throws(Interruption) -> Value {
        let job = Job { [self] in
            let value = work()
            isDone.store(true, ordering: .releasing)
            var byte: UInt8 = 0
            _ = write(writer, &byte, 1)
            return value
        }
        // Where no thread can be created, the work runs here without a watchdog.
        guard let handle = startJoinableThread({ job.run() }).thread else { return work() }
        do {
            try wait(for: handle, isCancelled)
        } catch {
            var parameters = sched_param()
            pthread_setschedparam(handle, Self.idleScheduling, &parameters)
            pthread_detach(handle)
            throw error
        }
        pthread_join(handle, nil)
        return job.takeValue()
    }

    private func wait(for thread: pthread_t, _ isCancelled: () -> Bool) throws(Interruption) {
        var clock = clockid_t()
        pthread_getcpuclockid(thread, &clock)
        var lastReads = -1
        var lastTime = 0.0
        var cancelledPolls = 0
        while true {
            var request = pollfd(fd: reader, events: Int16(POLLIN), revents: 0)
            poll(&request, 1, 50)
            if isDone.load(ordering: .acquiring) { return }
            if isCancelled() {
                // The work may be about to return, after it has killed its child process.
                cancelledPolls += 1
                if cancelledPolls > 10 { throw .cancelled }
                usleep(1000)
                continue
            }
            let reads = reads.load(ordering: .relaxed)
            let time = Self.seconds(of: clock)
            if reads != lastReads {
                (lastReads, lastTime) = (reads, time)
            } else if time - lastTime > Self.computingLimit {
                throw .stuck
            }
        }
    }

    private static func seconds(of clock: clockid_t) -> Double {
        var time = timespec()
        guard clock_gettime(clock, &time) == 0 else { return 0 }
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }

    /// SCHED_IDLE, which the headers show to GNU sources only.
    private static let idleScheduling: Int32 = 5
}

/// `@unchecked Sendable`: the thread writes the value before it ends, and the waiting thread reads it after that.
private final class Job<Value>: @unchecked Sendable {
    private let work: @Sendable () -> Value
    private var value: Value?

    init(_ work: @escaping @Sendable () -> Value) { self.work = work }

    func run() { value = work() }

    func takeValue() -> Value {
        defer { value = nil }
        return value!
    }
}
