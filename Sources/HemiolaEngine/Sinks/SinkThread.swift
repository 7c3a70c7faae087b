internal import Hemiola
internal import HemiolaSystem

/// A sink on its own thread, as the analysis thread knows it: a name and a mailbox.
final class SinkThread: Sendable {
    let name: String
    let mailbox: Mailbox
    private let thread: WorkerThread<SinkRunner.Outcome>

    /// Starts the thread.
    ///
    /// - Parameter whenClosed: Called by the thread when it has closed the sink.
    init(_ name: String, _ mailbox: Mailbox, _ runner: sending SinkRunner, whenClosed: @escaping @Sendable () -> Void) {
        self.name = name
        self.mailbox = mailbox
        thread = WorkerThread {
            defer { whenClosed() }
            return runner.run()
        }
    }

    /// Ends the thread of a sink whose pipeline does not run.
    func cancel() {
        mailbox.abandon()
        mailbox.finish()
        _ = thread.join()
    }

    /// Waits until the sink is closed.
    func join() -> SinkRunner.Outcome { thread.join() }
}
