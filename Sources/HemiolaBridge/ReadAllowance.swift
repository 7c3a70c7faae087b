internal import NIOCore

/// How much is read of one client: what it sends costs the event loop, which all clients share. A client that sends more waits, and
/// the system holds it back.
struct ReadAllowance {
    /// Messages a second of up to a kibibyte; a longer one counts for each.
    static let rate = 2000
    /// Messages that may come at once, after a second of silence.
    static let burst = 2000

    private static let interval = TimeAmount.nanoseconds(1_000_000_000 / Int64(rate))
    /// How long a client waits at least, so that the event loop is not woken for every line.
    private static let shortestWait = TimeAmount.milliseconds(5)

    /// When everything that was taken is paid for.
    private var paid = NIODeadline.distantPast

    /// How long the next message has to wait; nil: it is read now.
    mutating func wait(at now: NIODeadline) -> TimeAmount? {
        paid = max(paid, now - Self.interval * Int64(Self.burst))
        return paid > now ? max(paid - now, Self.shortestWait) : nil
    }

    /// A message of so many bytes is read.
    mutating func take(_ byteCount: Int) {
        paid = paid + Self.interval * Int64(1 + byteCount >> 10)
    }
}
