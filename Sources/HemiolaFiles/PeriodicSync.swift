internal import Hemiola
internal import Synchronization

/// Calls `fdatasync` for a file once a second while the file changes, on its own thread: a power failure then loses one second.
///
/// The thread uses a duplicate of the descriptor, so that the file can be closed at any time.
final class PeriodicSync: Sendable {
    /// What the thread shares with the owner, whom it does not keep.
    private final class Shared: Sendable {
        let isChanged = Atomic<Bool>(false)
        /// The number of the error; 0: none.
        let failure = Atomic<Int32>(0)
        let end = Future<Void>()
    }

    private let shared = Shared()

    /// Starts the thread.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - interval: Time between two calls, in seconds.
    ///   - sync: Calls `fdatasync`.
    /// - Throws: No descriptor or no thread is left.
    init(
        _ file: FileDescriptor, interval: Double = 1,
        sync: @escaping @Sendable (FileDescriptor) -> SystemCallError? = { $0.synchronize() }
    ) throws(Problem) {
        let copy: FileDescriptor
        do { copy = try file.duplicate() } catch {
            throw Problem("cannot synchronize an output with the disk: \(error); raise the limit on open files: ulimit -n")
        }
        do {
            try startThread(for: "the synchronization of an output with the disk") { [shared] in
                while shared.end.value(within: interval) == nil {
                    guard shared.isChanged.exchange(false, ordering: .acquiringAndReleasing) else { continue }
                    if let error = sync(copy) { shared.failure.store(error.number, ordering: .releasing) }
                }
                copy.close()
            }
        } catch {
            copy.close()
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

    /// The error of the last failed call; nil if none has failed.
    var error: SystemCallError? {
        let number = shared.failure.load(ordering: .acquiring)
        return number == 0 ? nil : SystemCallError(number: number)
    }
}
