import Foundation
import Testing

/// Runs each test on a thread of its own.
///
/// The tests of the window wait for other programs most of the time, and block the thread in which they wait. Swift's own pool has one thread
/// per processor, so that as many tests as processors would run at once.
struct OwnThread: SuiteTrait, TestTrait, TestScoping {
    var isRecursive: Bool { true }

    @concurrent func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable @concurrent () async throws -> Void
    ) async throws {
        guard testCase != nil else { return try await function() }
        try await withTaskExecutorPreference(ThreadExecutor(), operation: function)
    }
}

/// Runs each piece of work on a new thread.
private final class ThreadExecutor: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        Thread.detachNewThread { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

extension Trait where Self == OwnThread {
    /// Each test runs on a thread of its own.
    static var ownThread: Self { OwnThread() }
}
