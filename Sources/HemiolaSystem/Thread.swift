public import Glibc

/// Runs a closure on a new thread, which ends with the closure. Ends the process if the system cannot create a thread.
public func startThread(_ body: sending @escaping () -> Void) {
    let code = startThreadIfPossible(body)
    if code != 0 { exitForLack(ofThread: code) }
}

/// Runs a closure on a new thread, which ends with the closure.
///
/// - Returns: 0, or the error number of `pthread_create`. The closure is released then.
package func startThreadIfPossible(_ body: sending @escaping () -> Void) -> Int32 {
    let (thread, code) = startJoinableThread(body)
    if let thread { pthread_detach(thread) }
    return code
}

/// Runs a closure on a new thread, which the caller must join or detach.
///
/// - Returns: The thread, or nil and the error number of `pthread_create`. The closure is released then.
public func startJoinableThread(_ body: sending @escaping () -> Void) -> (thread: pthread_t?, errorNumber: Int32) {
    var thread = pthread_t()
    let argument = Unmanaged.passRetained(ThreadBody(body))
    let code = pthread_create(
        &thread, nil,
        { argument in
            Unmanaged<ThreadBody>.fromOpaque(argument!).takeRetainedValue().run()
            return nil
        }, argument.toOpaque())
    if code == 0 { return (thread, 0) }
    argument.release()
    return (nil, code)
}

/// Passes a closure through the C interface.
private final class ThreadBody {
    let run: () -> Void

    init(_ run: @escaping () -> Void) { self.run = run }
}

private func exitForLack(ofThread code: Int32) -> Never {
    exitForLack(of: "further thread", SystemCallError(number: code), limits: "ulimit -u, ulimit -v")
}

/// A thread whose result another thread waits for. Ends the process if the system cannot create a thread.
///
/// `@unchecked Sendable`: the thread writes the result before it ends, and `join` reads it afterwards.
package final class WorkerThread<Result: Sendable>: @unchecked Sendable {
    private var thread = pthread_t()
    private var result: Result?

    /// Runs a closure on a new thread.
    package init(_ body: sending @escaping () -> Result) {
        let (thread, code) = startJoinableThread { [self] in result = body() }
        guard let thread else { exitForLack(ofThread: code) }
        self.thread = thread
    }

    /// Waits for the end of the thread. Call once.
    package func join() -> Result {
        pthread_join(thread, nil)
        return result!
    }
}
