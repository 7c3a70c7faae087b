internal import Glibc
internal import Hemiola
internal import HemiolaNetwork
internal import HemiolaSignal
internal import HemiolaSystem
internal import Synchronization

/// The connection to a broker. A thread of its own connects, reads the broker's answers, and connects again. A message is published by the
/// thread that adds it, unless there is no connection or the connection accepts no more: then the connection's thread publishes it later.
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
        var wasConnected = false
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
    /// Locked by the connection's thread except while it waits, and by a thread that adds messages if it does not have to wait for that.
    private let link = Mutex<Link?>(nil)
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
    func add(_ group: MessageGroup) {
        if publishAtOnce(group) { return }
        let isSlow = state.withLock { state in
            state.groups.append(group)
            state.size += group.bytes.count
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

    /// Publishes messages if the connection accepts them now.
    private func publishAtOnce(_ group: MessageGroup) -> Bool {
        let isPublished = link.withLockIfAvailable { link -> Bool in
            guard link != nil, link!.progress.isConnected, link!.fault == nil, state.withLock({ $0.groups.isEmpty }) else { return false }
            guard !link!.client.wantsToWrite, link!.unpublishedCount < Self.inflightLimit else { return false }
            do throws(MosquittoClient.Failure) {
                try publish(group, &link!)
            } catch {
                link!.fault = error
            }
            // The thread waits until the socket accepts the rest, or handles the failure.
            if link!.client.wantsToWrite || link!.fault != nil { wakeUp.signal() }
            return true
        }
        return isPublished ?? false
    }

    /// Publishes what waits, within two seconds, and ends the connection in order. A thread that then still resolves a name or connects ends
    /// later.
    func close() {
        let deadline = MonotonicTime.now + Self.closeTimeout
        state.withLock { $0.closing = deadline }
        wakeUp.signal()
        while !state.withLock({ $0.isEnded }) {
            if MonotonicTime.now > deadline + (state.withLock { $0.connecting != nil } ? 0 : 1) { break }
            usleep(5000)
        }
        state.withLock { state in
            guard !state.isEnded, !state.wasConnected else { return }
            state.fault = "\(context.name): no answer from \(settings.endpoint); no message could be sent"
        }
    }

    // MARK: - The thread

    private enum Phase {
        case disconnected
        /// Waits for the broker's answer until a time of the monotonic clock.
        case handshake(deadline: Double)
        case connected
    }

    /// The state of the connection, and losses.
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

    /// The client, and the state of its connection.
    private struct Link {
        let client: MosquittoClient
        var progress = Progress()
        /// Why a message could not be published by the thread that added it. The connection's thread ends the connection.
        var fault: MosquittoClient.Failure?

        /// Messages that the library has.
        var unpublishedCount: Int64 { progress.passed - client.publishedCount }
    }

    /// What the thread does after a step.
    private enum Next {
        case step
        /// Waits until the socket is ready, a message is added, or the time is over.
        case exchange(seconds: Double, socket: Int32, writing: Bool)
        /// Waits for the next attempt to connect.
        case pause(seconds: Double)
        case end
    }

    private func run() {
        // SIGPIPE of TLS connections: a program that embeds Hemiola may not ignore it.
        var signals = sigset_t()
        sigfillset(&signals)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        defer { state.withLock { $0.isEnded = true } }
        do throws(MosquittoClient.Failure) {
            let client = try MosquittoClient.make(settings)
            link.withLock { $0 = Link(client: client) }
        } catch {
            return state.withLock { $0.fault = "\(context.name): \(error.reason)" }
        }
        running: while true {
            switch attempt({ link throws(MosquittoClient.Failure) in try step(&link) }) {
            case .step: break
            case .pause(let seconds): _ = wakeUp.wait(seconds: seconds)
            case .exchange(let seconds, let socket, let writing): exchange(wakeUp.wait(seconds: seconds, for: socket, writing: writing))
            case .end: break running
            }
        }
        finish()
    }

    /// Changes the connection. A failure ends it until the next attempt.
    private func attempt(_ body: (inout Link) throws(MosquittoClient.Failure) -> Next) -> Next {
        link.withLock { link in
            guard link != nil else { return .end }
            defer { reportLosses(&link!.progress, MonotonicTime.now) }
            do throws(MosquittoClient.Failure) {
                if let fault = link!.fault {
                    link!.fault = nil
                    throw fault
                }
                return try body(&link!)
            } catch {
                lose(error.reason, &link!)
                return .step
            }
        }
    }

    /// Reads and writes what the socket is ready for.
    private func exchange(_ readiness: WakeUp.Readiness) {
        _ = attempt { link throws(MosquittoClient.Failure) in
            do throws(MosquittoClient.Failure) {
                try link.client.process(readiness)
                guard link.client.socket != nil else { throw MosquittoClient.Failure(reason: "the broker has closed the connection") }
            } catch {
                // A refusal ends the connection as well, and has a better reason.
                guard case .handshake = link.progress.phase, link.client.answer?.isEmpty == false else { throw error }
            }
            return .step
        }
    }

    /// One step: connects, or publishes what waits.
    private func step(_ link: inout Link) throws(MosquittoClient.Failure) -> Next {
        let now = MonotonicTime.now
        let closing = state.withLock { $0.closing }
        takeOverflow(&link.progress)
        switch link.progress.phase {
        case .disconnected:
            // The first attempt is made also for a run that is already over.
            if let closing, link.progress.nextAttempt > 0 || now >= closing { return .end }
            guard now >= link.progress.nextAttempt else {
                if settings.qualityOfService == 0 { dropAll(&link.progress) }
                return .pause(seconds: link.progress.nextAttempt - now)
            }
            state.withLock { $0.connecting = now }
            defer { state.withLock { $0.connecting = nil } }
            try link.client.connect()
            link.progress.phase = .handshake(deadline: MonotonicTime.now + Self.answerTimeout)
            return .step
        case .handshake(let deadline):
            if let closing, now >= closing { return .end }
            if let answer = link.client.answer { return try take(answer, &link) }
            guard now < deadline else { throw MosquittoClient.Failure(reason: "no answer within \(Int(Self.answerTimeout)) s") }
            return try wait(link, until: min(deadline, closing ?? .infinity) - now)
        case .connected:
            try publishWaiting(&link)
            guard let closing else {
                // The library checks the connection at least once a second.
                return try wait(link, until: 1)
            }
            let isDone = state.withLock { $0.groups.isEmpty } && link.unpublishedCount <= 0 && !link.client.wantsToWrite
            return isDone || now >= closing ? .end : try wait(link, until: closing - now)
        }
    }

    private func wait(_ link: Link, until seconds: Double) throws(MosquittoClient.Failure) -> Next {
        guard let socket = link.client.socket else { throw MosquittoClient.Failure(reason: "the connection is broken") }
        return .exchange(seconds: max(0, min(seconds, 1)), socket: socket, writing: link.client.wantsToWrite)
    }

    /// - Returns: `.end` if the broker has refused the first connection for good.
    private func take(_ answer: String, _ link: inout Link) throws(MosquittoClient.Failure) -> Next {
        guard answer.isEmpty else {
            guard link.client.isRefusalFinal, !link.progress.wasConnected else { throw MosquittoClient.Failure(reason: answer) }
            let fault = "\(context.name): \(settings.endpoint): \(answer); check user=, password_file= and the rights of the user"
            state.withLock { $0.fault = fault }
            return .end
        }
        if link.progress.isOutageReported {
            let losses = link.progress.outageLosses == 0 ? "" : "; messages not sent: \(link.progress.outageLosses)"
            context.inform("\(context.name): connected to \(settings.endpoint)\(losses)", [])
        }
        (link.progress.isOutageReported, link.progress.outageLosses) = (false, 0)
        (link.progress.phase, link.progress.wasConnected) = (.connected, true)
        state.withLock { $0.wasConnected = true }
        link.progress.delay.reset()
        try publish(status: "online", &link)
        return .step
    }

    private func publish(status: String, _ link: inout Link) throws(MosquittoClient.Failure) {
        link.progress.passed += 1
        try link.client.publish(Array(status.utf8)[...], to: settings.will.topic, retains: true)
        try link.client.flush()
    }

    private func publish(_ group: MessageGroup, _ link: inout Link) throws(MosquittoClient.Failure) {
        for message in group.messages {
            link.progress.passed += 1
            link.progress.sent += 1
            try link.client.publish(group.bytes[message.range], to: message.topic, retains: retains)
        }
        try link.client.flush()
    }

    /// Passes groups to the library while the socket accepts them, and the broker acknowledges.
    private func publishWaiting(_ link: inout Link) throws(MosquittoClient.Failure) {
        while !link.client.wantsToWrite, link.unpublishedCount < Self.inflightLimit {
            let next: MessageGroup? = state.withLock { state in
                guard let first = state.groups.first else { return nil }
                state.groups.removeFirst()
                state.size -= first.bytes.count
                return first
            }
            guard let group = next else { return }
            try publish(group, &link)
        }
    }

    /// Ends the connection in order.
    private func finish() {
        // With a broker that is slow, the status has one more second.
        let deadline = MonotonicTime.now + 1
        func waitForRest(_ link: Link) throws(MosquittoClient.Failure) -> Next {
            let now = MonotonicTime.now
            guard link.progress.isConnected, link.unpublishedCount > 0 || link.client.wantsToWrite, now < deadline else { return .end }
            return try wait(link, until: deadline - now)
        }
        var next = attempt { link throws(MosquittoClient.Failure) in
            guard link.progress.isConnected else { return .end }
            try publish(status: "offline", &link)
            return try waitForRest(link)
        }
        while case .exchange(let seconds, let socket, let writing) = next {
            exchange(wakeUp.wait(seconds: seconds, for: socket, writing: writing))
            next = attempt { link throws(MosquittoClient.Failure) in try waitForRest(link) }
        }
        link.withLock { link in
            guard link != nil else { return }
            if link!.progress.isConnected { link!.client.disconnect() }
            link!.progress.phase = .disconnected
            dropUnpublished(&link!)
            dropAll(&link!.progress)
            takeOverflow(&link!.progress)
            reportLosses(&link!.progress, .infinity)
            if link!.progress.losses > 0, fault == nil {
                let (losses, sent) = (link!.progress.losses, link!.progress.sent)
                let wasNeverConnected = !link!.progress.wasConnected && link!.progress.isOutageReported
                // With QoS 1 and 2, every message is to arrive.
                if wasNeverConnected || settings.qualityOfService > 0 {
                    let count = sent == 0 ? "not one of \(losses)" : "\(sent) of \(losses + sent)"
                    state.withLock { $0.fault = "\(context.name): \(settings.endpoint): \(count) messages could be sent" }
                } else {
                    context.warn("\(context.name): \(losses) of \(losses + sent) messages were not sent to \(settings.endpoint)")
                }
            }
        }
    }

    // MARK: - Losses and reports

    private func lose(_ reason: String, _ link: inout Link) {
        if settings.qualityOfService == 0 {
            dropUnpublished(&link)
            dropAll(&link.progress)
        }
        link.progress.phase = .disconnected
        link.progress.nextAttempt = MonotonicTime.now + link.progress.delay.next()
        if !link.progress.isOutageReported, !isClosing {
            context.warn("\(context.name): cannot reach \(settings.endpoint): \(reason); trying again")
        }
        link.progress.isOutageReported = true
    }

    private var isClosing: Bool { state.withLock { $0.closing != nil } }

    /// Counts messages that the library has, and that are not published, as lost.
    private func dropUnpublished(_ link: inout Link) {
        let count = Int(link.unpublishedCount)
        link.progress.passed -= Int64(count)
        link.progress.sent -= min(count, link.progress.sent)
        if count > 0 { link.progress.add(Losses(events: count, messages: count)) }
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
