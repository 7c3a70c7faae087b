internal import Hemiola
internal import HemiolaNetwork
internal import HemiolaSignal
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// The connection to a broker, on a thread of its own: connects, publishes what the sink adds, and connects again.
///
/// With QoS 0, messages that are added while there is no connection are dropped. With QoS 1 and 2 they wait, up to a limit, and the oldest
/// are dropped then. Every loss is counted.
final class MQTTConnection: Sendable {
    private struct State {
        var groups: [MessageGroup] = []
        /// Bytes of their payloads.
        var size = 0
        /// What was dropped because too much waited.
        var overflow = Losses()
        /// The monotonic clock when the thread ends although messages wait; nil: the sink is open.
        var closing: Double?
        /// The monotonic clock when an attempt to connect began that has not ended; nil: none.
        var connecting: Double?
        /// Why the sink cannot work; the thread has ended.
        var fault: String?
        var isEnded = false
    }

    private struct Losses {
        var batches = 0
        var events = 0
        var messages = 0

        mutating func add(_ group: MessageGroup) {
            if group.isBatch { batches += 1 } else { events += 1 }
            messages += group.messages.count
        }

        mutating func add(_ other: Losses) {
            batches += other.batches
            events += other.events
            messages += other.messages
        }
    }

    /// Groups and bytes that wait at most.
    private static let groupLimit = 1000
    private static let sizeLimit = 4 << 20
    /// Messages that were passed to the library and not yet published.
    private static let inflightLimit: Int64 = 16
    /// Seconds to wait for the broker's answer, and between attempts.
    private static let answerTimeout = 10.0
    private static let longestPause = 10.0
    /// Seconds after which an attempt to connect that has not ended is reported.
    private static let slowConnection = 5.0
    /// Seconds that the last messages may take when the sink is closed.
    private static let closeTimeout = 2.0
    /// Seconds between two reports of losses.
    private static let reportInterval = 1.0

    private let settings: BrokerSettings
    private let retains: Bool
    private let context: SinkContext
    private let wakeUp: WakeUp
    private let state = Mutex(State())
    private let isSlowReported = Atomic(false)

    /// Loads libmosquitto, and starts the thread.
    init(_ settings: BrokerSettings, retains: Bool, _ context: SinkContext) throws(SinkError) {
        self.settings = settings
        self.retains = retains
        self.context = context
        do throws(MosquittoClient.Failure) {
            try MosquittoClient.load()
            // Reports what is wrong with the settings before the thread starts.
            _ = try MosquittoClient.make(settings)
        } catch {
            throw SinkError("\(context.name): \(error.reason)")
        }
        wakeUp = try WakeUp()
        let code = startThreadIfPossible { [self] in run() }
        guard code == 0 else { throw SinkError("cannot create a thread: \(String(cString: strerror(code)))") }
    }

    /// Why the sink cannot work: the broker has refused the first connection. nil: it can.
    var fault: String? { state.withLock { $0.fault } }

    /// Adds messages. Does not block.
    func add(_ groups: [MessageGroup]) {
        if groups.isEmpty { return }
        let isSlow = state.withLock { state in
            for group in groups {
                state.groups.append(group)
                state.size += group.bytes.count
            }
            while state.groups.count > Self.groupLimit || state.size > Self.sizeLimit {
                let oldest = state.groups.removeFirst()
                state.size -= oldest.bytes.count
                state.overflow.add(oldest)
            }
            return state.connecting.map { MonotonicTime.now - $0 > Self.slowConnection } ?? false
        }
        wakeUp.signal()
        if isSlow, !isSlowReported.exchange(true, ordering: .relaxed) {
            context.warn("\(context.name): no answer from \(settings.endpoint) yet; trying further")
        }
    }

    /// Publishes what waits, within two seconds, and ends the connection in order. A thread that resolves a name or connects is not waited
    /// for: it ends later.
    func close() {
        let deadline = MonotonicTime.now + Self.closeTimeout
        state.withLock { $0.closing = deadline }
        wakeUp.signal()
        while !state.withLock({ $0.isEnded }) {
            if state.withLock({ $0.connecting != nil }) || MonotonicTime.now > deadline + 1 { break }
            usleep(5000)
        }
    }

    // MARK: - On the thread

    private enum Phase {
        case disconnected
        /// Waits for the broker's answer until a time of the monotonic clock.
        case handshake(deadline: Double)
        case connected
    }

    /// The state of the connection, and losses. Used on the thread alone.
    private struct Progress {
        var phase = Phase.disconnected
        var nextAttempt = 0.0
        var delay = ReconnectDelay(last: longestPause)
        var wasConnected = false
        var isOutageReported = false
        /// Messages that were passed to the library. Those that it has not published are lost with the connection, with QoS 0.
        var passed: Int64 = 0
        /// Losses in the outage, since the last report, and in all.
        var outageLosses = 0
        var unreported = Losses()
        var losses = 0
        var sent = 0
        var nextReport = 0.0

        mutating func add(_ lost: Losses) {
            outageLosses += lost.messages
            losses += lost.messages
            unreported.add(lost)
        }

        var isConnected: Bool { if case .connected = phase { true } else { false } }
    }

    private func run() {
        // SIGPIPE of TLS connections: a program that embeds Hemiola may not ignore it.
        var signals = sigset_t()
        sigfillset(&signals)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        defer { state.withLock { $0.isEnded = true } }
        var progress = Progress()
        let client: MosquittoClient
        do throws(MosquittoClient.Failure) {
            client = try MosquittoClient.make(settings)
        } catch {
            return state.withLock { $0.fault = "\(context.name): \(error.reason)" }
        }
        while true {
            do throws(MosquittoClient.Failure) {
                guard try step(client, &progress) else { break }
            } catch {
                lose(client, error.reason, &progress)
            }
            reportLosses(&progress, MonotonicTime.now)
        }
        finish(client, &progress)
    }

    /// One step: connects, or publishes and waits.
    ///
    /// - Returns: false at the end.
    private func step(_ client: borrowing MosquittoClient, _ progress: inout Progress) throws(MosquittoClient.Failure) -> Bool {
        let now = MonotonicTime.now
        let closing = state.withLock { $0.closing }
        takeOverflow(&progress)
        switch progress.phase {
        case .disconnected:
            if closing != nil { return false }
            guard now >= progress.nextAttempt else {
                if settings.qualityOfService == 0 { dropAll(&progress) }
                _ = wakeUp.wait(seconds: progress.nextAttempt - now)
                return true
            }
            state.withLock { $0.connecting = now }
            defer { state.withLock { $0.connecting = nil } }
            try client.connect()
            progress.phase = .handshake(deadline: MonotonicTime.now + Self.answerTimeout)
            return true
        case .handshake(let deadline):
            if let closing, now >= closing { return false }
            guard now < deadline else { throw MosquittoClient.Failure(reason: "no answer within \(Int(Self.answerTimeout)) s") }
            do throws(MosquittoClient.Failure) {
                try exchange(client, until: min(deadline, closing ?? .infinity) - now)
            } catch {
                // A refusal ends the connection as well, and has a better reason.
                guard client.answer?.isEmpty == false else { throw error }
            }
            guard let answer = client.answer else { return true }
            return try take(answer, client, &progress)
        case .connected:
            try publishWaiting(client, &progress)
            if let closing {
                let isDone = state.withLock { $0.groups.isEmpty } && client.publishedCount >= progress.passed && !client.wantsToWrite
                if isDone || now >= closing { return false }
                try exchange(client, until: closing - now)
            } else {
                // The library checks the connection at least once a second.
                try exchange(client, until: 1)
            }
            return true
        }
    }

    private func exchange(_ client: borrowing MosquittoClient, until seconds: Double) throws(MosquittoClient.Failure) {
        guard let socket = client.socket else { throw MosquittoClient.Failure(reason: "the connection is broken") }
        try client.process(wakeUp.wait(seconds: max(0, min(seconds, 1)), for: socket, writing: client.wantsToWrite))
        guard client.socket != nil else { throw MosquittoClient.Failure(reason: "the broker has closed the connection") }
    }

    /// - Returns: false if the broker has refused the first connection for good.
    private func take(
        _ answer: String, _ client: borrowing MosquittoClient, _ progress: inout Progress
    ) throws(MosquittoClient.Failure) -> Bool {
        guard answer.isEmpty else {
            guard client.isRefusalFinal, !progress.wasConnected else { throw MosquittoClient.Failure(reason: answer) }
            let fault = "\(context.name): \(settings.endpoint): \(answer); check user=, password_file= and the rights of the user"
            state.withLock { $0.fault = fault }
            return false
        }
        if progress.isOutageReported {
            let losses = progress.outageLosses == 0 ? "" : "; messages not sent: \(progress.outageLosses)"
            context.inform("\(context.name): connected to \(settings.endpoint)\(losses)", [])
        }
        (progress.isOutageReported, progress.outageLosses) = (false, 0)
        (progress.phase, progress.wasConnected) = (.connected, true)
        progress.delay.reset()
        try publish(status: "online", client, &progress)
        return true
    }

    private func publish(
        status: String, _ client: borrowing MosquittoClient, _ progress: inout Progress
    ) throws(MosquittoClient.Failure) {
        progress.passed += 1
        try client.publish(Array(status.utf8)[...], to: settings.will.topic, retains: true)
    }

    /// Passes groups to the library while the socket accepts them, and the broker acknowledges.
    private func publishWaiting(_ client: borrowing MosquittoClient, _ progress: inout Progress) throws(MosquittoClient.Failure) {
        while !client.wantsToWrite, progress.passed - client.publishedCount < Self.inflightLimit {
            let next: MessageGroup? = state.withLock { state in
                guard let first = state.groups.first else { return nil }
                state.groups.removeFirst()
                state.size -= first.bytes.count
                return first
            }
            guard let group = next else { return }
            for message in group.messages {
                progress.passed += 1
                progress.sent += 1
                try client.publish(group.bytes[message.range], to: message.topic, retains: retains)
            }
        }
    }

    /// Ends the connection in order.
    private func finish(_ client: borrowing MosquittoClient, _ progress: inout Progress) {
        if progress.isConnected {
            // With a broker that is slow, the status has one more second.
            let deadline = MonotonicTime.now + 1
            do throws(MosquittoClient.Failure) {
                try publish(status: "offline", client, &progress)
                while client.publishedCount < progress.passed || client.wantsToWrite, MonotonicTime.now < deadline {
                    try exchange(client, until: deadline - MonotonicTime.now)
                }
            } catch {
                // The broker publishes the will.
            }
            client.disconnect()
        }
        dropUnpublished(client, &progress)
        dropAll(&progress)
        takeOverflow(&progress)
        reportLosses(&progress, .infinity)
        if progress.losses > 0, fault == nil {
            let total = progress.losses + progress.sent
            context.warn("\(context.name): \(progress.losses) of \(total) messages were not sent to \(settings.endpoint)")
        }
    }

    // MARK: - Losses and reports

    private func lose(_ client: borrowing MosquittoClient, _ reason: String, _ progress: inout Progress) {
        if settings.qualityOfService == 0 {
            dropUnpublished(client, &progress)
            dropAll(&progress)
        }
        progress.phase = .disconnected
        progress.nextAttempt = MonotonicTime.now + progress.delay.next()
        if !progress.isOutageReported, !isClosing {
            context.warn("\(context.name): cannot reach \(settings.endpoint): \(reason); trying again")
        }
        progress.isOutageReported = true
    }

    private var isClosing: Bool { state.withLock { $0.closing != nil } }

    /// Counts messages that the library has, and that are not published, as lost.
    private func dropUnpublished(_ client: borrowing MosquittoClient, _ progress: inout Progress) {
        let count = Int(progress.passed - client.publishedCount)
        progress.passed = client.publishedCount
        progress.sent -= min(count, progress.sent)
        if count > 0 { progress.add(Losses(events: count, messages: count)) }
    }

    private func dropAll(_ progress: inout Progress) {
        let groups = state.withLock { state in
            defer { (state.groups, state.size) = ([], 0) }
            return state.groups
        }
        for group in groups {
            var lost = Losses()
            lost.add(group)
            progress.add(lost)
        }
    }

    private func takeOverflow(_ progress: inout Progress) {
        let lost = state.withLock { state in
            defer { state.overflow = Losses() }
            return state.overflow
        }
        if lost.messages > 0 { progress.add(lost) }
    }

    /// Reports losses for `dropped` records, at most once a second.
    private func reportLosses(_ progress: inout Progress, _ now: Double) {
        guard progress.unreported.messages > 0, now >= progress.nextReport else { return }
        context.controls.report(
            DropReport(sink: context.name, batches: progress.unreported.batches, events: progress.unreported.events))
        progress.unreported = Losses()
        progress.nextReport = now + Self.reportInterval
    }
}
