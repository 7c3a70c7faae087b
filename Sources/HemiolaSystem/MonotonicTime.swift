public import Glibc

/// The clocks of the system, and the only code that reads them. Outputs only: nothing that is analysed depends on them.
public enum MonotonicTime {
    /// Seconds of the clock that is never set.
    public static var now: Double { seconds(of: CLOCK_MONOTONIC) }

    /// What has to be added to a monotonic time to get seconds since 1970.
    public static var wallClockOffset: Double { seconds(of: CLOCK_REALTIME) - now }

    /// Blocks the thread for some seconds.
    public static func sleep(for seconds: Double) {
        usleep(useconds_t(max(0, seconds) * 1e6))
    }

    /// Nanoseconds of the clock that is never set. Async-signal-safe.
    static var nanoseconds: Int64 { nanoseconds(of: CLOCK_MONOTONIC) }

    /// Nanoseconds of a clock that is never set and that advances while the computer sleeps: for a live source, whose device may be gone
    /// then. Not comparable with ``now``.
    public static var nanosecondsWithSleep: Int64 { nanoseconds(of: CLOCK_BOOTTIME) }

    /// Seconds of processor time that a process has used so far; 0 if it does not exist.
    public static func processorTime(of process: pid_t) -> Double {
        var clock = clockid_t()
        guard clock_getcpuclockid(process, &clock) == 0 else { return 0 }
        return seconds(of: clock)
    }

    /// A time of the wall clock in the time zone of the user: `20261122-130501`.
    ///
    /// - Parameter seconds: Seconds since 1970.
    package static func localText(_ seconds: Int) -> String {
        var seconds = time_t(seconds)
        var parts = tm()
        localtime_r(&seconds, &parts)
        func digits(_ number: Int32, _ count: Int = 2) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, count - text.count)) + text
        }
        return digits(parts.tm_year + 1900, 4) + digits(parts.tm_mon + 1) + digits(parts.tm_mday) + "-" + digits(parts.tm_hour)
            + digits(parts.tm_min) + digits(parts.tm_sec)
    }

    private static func seconds(of clock: clockid_t) -> Double {
        Double(nanoseconds(of: clock)) * 1e-9
    }

    private static func nanoseconds(of clock: clockid_t) -> Int64 {
        var time = timespec()
        // Zero if a process that the clock belongs to has ended.
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
