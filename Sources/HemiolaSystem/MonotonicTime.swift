internal import Glibc

/// The two clocks of the system. Outputs only: nothing that is analysed depends on them.
public enum MonotonicTime {
    /// Seconds of the clock that is never set.
    public static var now: Double { read(CLOCK_MONOTONIC) }

    /// What has to be added to a monotonic time to get seconds since 1970.
    public static var wallClockOffset: Double { read(CLOCK_REALTIME) - read(CLOCK_MONOTONIC) }

    /// Blocks the thread for some seconds.
    public static func sleep(for seconds: Double) {
        usleep(useconds_t(max(0, seconds) * 1e6))
    }

    private static func read(_ clock: clockid_t) -> Double {
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }
}
