internal import NIOCore
internal import NIOPosix

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// Returns the memory of clients that have left to the system: glibc's allocator keeps what is freed.
///
/// Used on the event loop alone. The work is done on a thread beside, because it takes milliseconds.
final class MemoryTrimmer {
    /// Clients often leave together: once is enough.
    private static let delay = TimeAmount.seconds(1)

    /// glibc's `malloc_trim`, looked up by name, because Swift's Glibc module does not have it; nil where there is none, as in musl.
    private static let mallocTrim: (@convention(c) (Int) -> Int32)? = dlsym(nil, "malloc_trim").map {
        // Unsafe: that is its declaration in malloc.h.
        unsafeBitCast($0, to: (@convention(c) (Int) -> Int32).self)
    }

    private var isScheduled = false

    /// Returns free memory in a second, unless that is already to be done.
    func trim(soonAfter loop: any EventLoop) {
        guard !isScheduled, let mallocTrim = Self.mallocTrim else { return }
        isScheduled = true
        let trimmer = NIOLoopBound(self, eventLoop: loop)
        loop.scheduleTask(in: Self.delay) {
            trimmer.value.isScheduled = false
            _ = BridgeThreads.pool.runIfActive(eventLoop: loop) { _ = mallocTrim(0) }
        }
    }
}

/// The thread beside the event loop, for what takes long: one, so that it never takes more than one processor from the analysis.
enum BridgeThreads {
    static let pool: NIOThreadPool = {
        let pool = NIOThreadPool(numberOfThreads: 1)
        pool.start()
        return pool
    }()
}
