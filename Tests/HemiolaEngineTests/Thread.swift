import Glibc

/// The identifier of the calling thread.
func currentThread() -> UInt {
    UInt(pthread_self())
}
