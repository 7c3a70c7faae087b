internal import Glibc

/// Runs a closure on a new thread, which ends with the closure.
///
/// - Parameters:
///   - purpose: What the thread is for, in words that follow "for": `the sink json-lines`.
///   - body: Is released where there is no thread.
/// - Throws: The system denies a thread, with the way out. Where a thread only makes something faster or nicer, the caller goes on without it.
public func startThread(for purpose: String, _ body: sending @escaping () -> Void) throws(Problem) {
    pthread_detach(try makeThread(for: purpose, body))
}

/// Lets other threads run before this one when processors are busy, from now on.
package func lowerThreadPriority() {
    // Nice 10. On Linux 0 is the calling thread, not the process.
    _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10)
}

/// The calling thread, as `pthread_self()`.
package var currentThreadIdentifier: UInt { UInt(pthread_self()) }

/// Makes the end of the reader of a pipe an error of a write on this thread, from now on, where the process does not ignore `SIGPIPE` as the
/// program hemiola does: the signal would end it.
public func blockBrokenPipeSignal() {
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGPIPE)
    pthread_sigmask(SIG_BLOCK, &signals, nil)
}

private func makeThread(for purpose: String, _ body: sending @escaping () -> Void) throws(Problem) -> pthread_t {
    var thread = pthread_t()
    let argument = Unmanaged.passRetained(ThreadBody(body))
    let code = pthread_create(
        &thread, nil,
        { argument in
            Unmanaged<ThreadBody>.fromOpaque(argument!).takeRetainedValue().run()
            return nil
        }, argument.toOpaque())
    if code == 0 { return thread }
    argument.release()
    throw Problem.noThread(for: purpose, SystemCallError(number: code))
}

/// Passes a closure through the C interface.
private final class ThreadBody {
    let run: () -> Void

    init(_ run: @escaping () -> Void) { self.run = run }
}

extension Problem {
    /// The system denies a thread, which ``startThread(for:_:)`` throws: for a library that starts threads of its own.
    ///
    /// - Parameters:
    ///   - purpose: What the thread is for, in words that follow "for".
    ///   - error: Why there is none; `EAGAIN` if the library does not say it.
    public static func noThread(for purpose: String, _ error: SystemCallError) -> Problem {
        // EAGAIN stands for a limit on processes, of the user or of a container, and for memory that the stack does not get.
        Problem("cannot start a thread for \(purpose): \(error); raise the limit: ulimit -u, or ulimit -v")
    }
}

/// A thread whose result another thread waits for: its owner calls ``join()`` or ``detach()``, once.
///
/// `@unchecked Sendable`: the thread writes the result before it ends, and `join` reads it afterwards.
public final class WorkerThread<Result: Sendable>: @unchecked Sendable {
    private var thread = pthread_t()
    private var result: Result?

    /// Runs a closure on a new thread.
    ///
    /// - Parameters:
    ///   - purpose: What the thread is for, in words that follow "for".
    ///   - body: Is released where there is no thread.
    /// - Throws: The system denies a thread.
    public init(for purpose: String, _ body: sending @escaping () -> Result) throws(Problem) {
        thread = try makeThread(for: purpose) { [self] in result = body() }
    }

    /// Waits for the end of the thread, however long it takes.
    ///
    /// - Returns: What the closure has returned.
    public func join() -> Result {
        pthread_join(thread, nil)
        return result!
    }

    /// Leaves the thread to itself, instead of ``join()``.
    public func detach() {
        pthread_detach(thread)
    }
}
