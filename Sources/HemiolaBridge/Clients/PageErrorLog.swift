internal import NIOCore

/// Warns of what clients do wrong, such as errors in the scripts of pages: a few warnings per minute, then their number. Used only on the
/// event loop.
final class PageErrorLog {
    /// Errors of one client that are reported within a minute.
    private static let limitPerPage = 10
    /// Errors of all clients that are reported within a minute.
    private static let limit = 40
    private static let interval = TimeAmount.minutes(1)

    private let warn: @Sendable (String) -> Void
    private let loop: any EventLoop
    /// The errors of each client in the current minute.
    private var counts: [String: Int] = [:]
    private var reported = 0
    private var omitted = 0
    private var timer: Scheduled<Void>?

    init(on loop: any EventLoop, warn: @escaping @Sendable (String) -> Void) {
        self.loop = loop
        self.warn = warn
    }

    /// - Parameter page: The sink's name and the number of the client.
    func report(_ error: String, of page: String) {
        if timer == nil {
            let log = NIOLoopBound(self, eventLoop: loop)
            timer = loop.scheduleTask(in: Self.interval) { log.value.endInterval() }
        }
        let count = counts[page, default: 0]
        guard count < Self.limitPerPage, reported < Self.limit else {
            omitted += 1
            return
        }
        counts[page] = count + 1
        reported += 1
        warn("\(page): \(error)")
    }

    /// Reports the number of omitted errors. Also called when the bridge closes.
    func endInterval() {
        timer?.cancel()
        timer = nil
        if omitted > 0 { warn("pages reported \(omitted) more \(omitted == 1 ? "error" : "errors") within a minute") }
        counts = [:]
        (reported, omitted) = (0, 0)
    }
}
