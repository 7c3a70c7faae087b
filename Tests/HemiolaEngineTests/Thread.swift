import Glibc

/// The identifier of the calling thread.
func currentThread() -> UInt {
    UInt(pthread_self())
}

/// Gives another thread the time to do what it must not do: a test that finds nothing to wait for.
func letOthersRun() { pause(milliseconds: 20) }

/// Blocks the calling thread.
func pause(milliseconds: UInt32) {
    usleep(milliseconds * 1000)
}
