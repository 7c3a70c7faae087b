internal import Glibc
internal import Hemiola
internal import HemiolaSystem
internal import Synchronization

/// Calls `fdatasync` for a file once a second while the file changes, on its own thread: a power failure then loses one second.
///
/// The thread uses a duplicate of the descriptor, so that the file can be closed at any time.
final class PeriodicSync: Sendable {
    private let isChanged = Atomic<Bool>(false)
    private let failure = Atomic<Int32>(0)
    /// The write end of a pipe. Closing it ends the thread.
    private let stopEnd: Int32

    /// Starts the thread.
    ///
    /// - Parameters:
    ///   - interval: Time between two calls, in seconds.
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
        startThread { [weak self] in
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

    /// Requests a call at the end of the current interval. Call after each write.
    func noteWrite() {
        isChanged.store(true, ordering: .releasing)
    }

    /// The error number of the last failed call; 0 if none has failed.
    var errorNumber: Int32 { failure.load(ordering: .acquiring) }
}
