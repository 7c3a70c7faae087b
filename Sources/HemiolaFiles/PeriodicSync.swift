internal import Glibc
internal import Hemiola
internal import Synchronization

/// Calls `fdatasync` for a file once a second while the file changes, on its own thread: a power failure then loses one second.
///
/// The thread uses a duplicate of the descriptor, so that the file can be closed at any time.
final class PeriodicSync: Sendable {
    /// What the thread shares with the owner, whom it does not keep.
    private final class Shared: Sendable {
        let isChanged = Atomic<Bool>(false)
        let failure = Atomic<Int32>(0)
        let end = Future<Void>()
    }

    private let shared = Shared()

    /// Starts the thread.
    ///
    /// - Parameters:
    ///   - interval: Time between two calls, in seconds.
    ///   - sync: Returns 0 or an error number.
    /// - Throws: No descriptor or no thread is left.
    init(
        _ descriptor: Int32, interval: Double = 1,
        sync: @escaping @Sendable (Int32) -> Int32 = { fdatasync($0) == 0 ? 0 : errno }
    ) throws(Problem) {
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard copy != -1 else {
            throw Problem(
                "cannot synchronize an output with the disk: \(SystemCallError.last); raise the limit on open files: ulimit -n")
        }
        do throws(Problem) {
            try startThread(for: "the synchronization of an output with the disk") { [shared] in
                while shared.end.value(within: interval) == nil {
                    guard shared.isChanged.exchange(false, ordering: .acquiringAndReleasing) else { continue }
                    let code = sync(copy)
                    if code != 0 { shared.failure.store(code, ordering: .releasing) }
                }
                _ = Glibc.close(copy)
            }
        } catch {
            _ = Glibc.close(copy)
            throw error
        }
    }

    deinit {
        shared.end.complete(())
    }

    /// Requests a call at the end of the current interval. Call after each write.
    func noteWrite() {
        shared.isChanged.store(true, ordering: .releasing)
    }

    /// The error number of the last failed call; 0 if none has failed.
    var errorNumber: Int32 { shared.failure.load(ordering: .acquiring) }
}
