#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// Which thread this is.
func currentThread() -> UInt {
    UInt(pthread_self())
}

/// Blocks this thread.
func pause(milliseconds: UInt32) {
    usleep(milliseconds * 1000)
}
