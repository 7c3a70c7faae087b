internal import Glibc
internal import NIOCore
internal import NIOPosix

/// Returns freed memory to the system after clients have left. glibc's allocator keeps it otherwise.
///
/// Used only on the event loop. The trimming runs on the background thread, because it takes milliseconds.
final class MemoryTrimmer {
    /// Time between the request and the trimming. Clients often leave together; they share one trimming.
    private static let delay = TimeAmount.seconds(1)

    /// glibc's `malloc_trim`, looked up by name, because Swift's Glibc module does not have it.
    private static let mallocTrim: (@convention(c) (Int) -> Int32)? = dlsym(nil, "malloc_trim").map {
        // Unsafe: that is its declaration in malloc.h.
        unsafeBitCast($0, to: (@convention(c) (Int) -> Int32).self)
    }

    private var isScheduled = false

    /// Schedules a trimming, unless one is already scheduled.
    func trim(soonAfter loop: any EventLoop) {
        guard !isScheduled, let mallocTrim = Self.mallocTrim else { return }
        isScheduled = true
        let trimmer = NIOLoopBound(self, eventLoop: loop)
        loop.scheduleTask(in: Self.delay) {
            trimmer.value.isScheduled = false
            _ = BackgroundThread.pool.runIfActive(eventLoop: loop) { _ = mallocTrim(0) }
        }
    }
}

/// The thread for work that takes too long for the event loop. One thread, so that at most one processor is taken from the analysis.
enum BackgroundThread {
    static let pool: NIOThreadPool = {
        let pool = NIOThreadPool(numberOfThreads: 1)
        pool.start()
        return pool
    }()
}
