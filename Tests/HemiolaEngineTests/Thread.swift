import Glibc

/// The identifier of the calling thread.
func currentThread() -> UInt {
    UInt(pthread_self())
}

/// Blocks the calling thread.
func pause(milliseconds: UInt32) {
    usleep(milliseconds * 1000)
}
