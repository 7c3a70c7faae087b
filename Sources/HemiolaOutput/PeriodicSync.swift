internal import Glibc
internal import Synchronization

/// Calls `fdatasync` for a file once a second, on a thread of its own, while the file changes: a power loss then costs one second.
///
/// The thread has a duplicate of the descriptor, so that the file's owner may close it at any time.
final class PeriodicSync: Sendable {
    private let isChanged = Atomic<Bool>(false)
    private let failure = Atomic<Int32>(0)
    /// The end of a pipe; closing it ends the thread.
    private let stopEnd: Int32

    /// - Parameters:
    ///   - interval: Seconds between two calls.
    ///   - sync: Returns 0 or an error number.
    init(
        _ descriptor: Int32, interval: Double = 1,
        sync: @escaping @Sendable (Int32) -> Int32 = { fdatasync($0) == 0 ? 0 : errno }
    ) throws(OutputError) {
        var ends: [Int32] = [-1, -1]
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard copy != -1, pipe(&ends) == 0 else {
            let code = errno
            if copy != -1 { _ = Glibc.close(copy) }
            throw OutputError(
                "cannot synchronize an output with the disk: \(String(cString: strerror(code))); raise the limit on open files: ulimit -n")
        }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        stopEnd = ends[1]
        let readEnd = ends[0]
        Self.startThread { [weak self] in
            var request = pollfd(fd: readEnd, events: Int16(POLLIN), revents: 0)
            while poll(&request, 1, Int32(interval * 1000)) <= 0 {
                guard let self else { break }
                guard self.isChanged.exchange(false, ordering: .acquiringAndReleasing) else { continue }
                let code = sync(copy)
                if code != 0 { self.failure.store(code, ordering: .releasing) }
            }
            _ = Glibc.close(readEnd)
            _ = Glibc.close(copy)
        }
    }

    deinit {
        _ = Glibc.close(stopEnd)
    }

    /// There is something new to be synchronized.
    func noteWrite() {
        isChanged.store(true, ordering: .releasing)
    }

    /// The error number of the last call that failed; 0: none has.
    var errorNumber: Int32 { failure.load(ordering: .acquiring) }

    private final class Body: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    private static func startThread(_ body: @escaping @Sendable () -> Void) {
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { argument in
                Unmanaged<Body>.fromOpaque(argument!).takeRetainedValue().run()
                return nil
            }, Unmanaged.passRetained(Body(body)).toOpaque())
        precondition(code == 0, "the system gives no thread: error \(code)")
        pthread_detach(thread)
    }
}
