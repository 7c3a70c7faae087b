internal import Glibc
internal import Hemiola
internal import HemiolaNetwork
internal import HemiolaRecords
internal import HemiolaSystem
internal import Synchronization

/// The connection to a broker. A thread connects, exchanges packets with the broker, and connects again.
///
/// Messages wait until the first attempt to connect has succeeded or failed. With QoS 0, those without a connection are dropped after that;
/// with 1 and 2 they wait, up to a limit, and the oldest are dropped. Every loss is counted.
final class MQTTConnection: Sendable {
    private enum Phase {
        /// The first attempt has no result yet.
        case connecting
        case connected
        /// The thread tries again.
        case lost
        /// The broker has refused the first connection for good; the thread has ended.
        case refused
    }

    private struct State {
        var phase = Phase.connecting
        var wasConnected = false
        var isSlowReported = false
        /// Why the sink cannot work, until it was thrown.
        var fault: String?
        /// What the library does not have yet.
        var waiting: [MessageGroup] = []
        /// Messages that the library has got, but for the status and what is lost.
        var sent = 0
        /// Messages that were lost: in all, and before the connection was made.
        var losses = 0
        var earlierLosses = 0
        /// Losses for the next `dropped` record.
        var unreported = (batches: 0, events: 0)
        var nextReport = 0.0

        mutating func drop(_ group: MessageGroup) {
            losses += group.messages.count
            if group.isBatch { unreported.batches += 1 } else { unreported.events += 1 }
        }

        mutating func drop(messages: Int) {
            losses += messages
            unreported.events += messages
        }

        mutating func dropWaiting() {
            for group in waiting { drop(group) }
            waiting = []
        }

        /// Drops the oldest of what waits, if that is too much.
        mutating func dropExcess() {
            var size = waiting.reduce(0) { $0 + $1.bytes.count }
            while waiting.count > MQTTConnection.groupLimit || size > MQTTConnection.sizeLimit {
                let oldest = waiting.removeFirst()
                size -= oldest.bytes.count
                drop(oldest)
            }
        }

        /// Reports losses for `dropped` records, at most once a second.
        mutating func reportLosses(_ context: SinkContext, at now: Double = MonotonicTime.now) {
            guard unreported != (0, 0), now >= nextReport else { return }
            context.controls.report(DropReport(sink: context.name, batches: unreported.batches, events: unreported.events))
            (unreported, nextReport) = ((0, 0), now + MQTTConnection.reportInterval)
        }
    }

    /// Groups and bytes that wait at most.
    private static let groupLimit = 1000
    private static let sizeLimit = 4 << 20
    /// Messages that the library has at most, but for the rest of a group.
    private static let unpublishedLimit = 100
    /// Seconds between two attempts to connect.
    private static let pause = 1.0
    /// Seconds after which a first attempt without a result is reported.
    private static let slowConnection = 5.0
    /// Seconds that the last messages may take when the sink is closed, and the status after them.
    private static let closeTimeout = 2.0
    private static let statusTimeout = 1.0
    /// Seconds between two reports of losses.
    private static let reportInterval = 1.0

    private let broker: NetworkEndpoint
    private let settings: MQTTSettings
    private let context: SinkContext
    private let client: MosquittoClient
    private let start = MonotonicTime.now
    private let isClosing = Atomic(false)
    /// Messages that the library has, and that are not written (QoS 0) or not acknowledged (QoS 1 and 2).
    private let unpublished = Atomic(0)
    // The thread locks it outside of calls of the library, so that a message can be published while it is locked.
    private let state = Mutex(State())

    /// Loads libmosquitto, and starts the thread.
    init(to broker: NetworkEndpoint, _ settings: MQTTSettings, _ credentials: Credentials, _ context: SinkContext) throws(Problem) {
        self.settings = settings
        self.broker = broker
        self.context = context
        do throws(Problem) {
            client = try MosquittoClient(broker, settings, credentials)
        } catch {
            throw Problem("\(context.name): \(error.message)")
        }
        let code = startThreadIfPossible { [self] in run() }
        guard code == 0 else { throw Problem("cannot create a thread: \(SystemCallError(number: code))") }
    }

    /// Why the sink cannot work: the broker has refused the first connection. nil: it can, or the reason was returned before.
    func takeFault() -> String? {
        state.withLock { state in
            defer { state.fault = nil }
            return state.fault
        }
    }

    /// Adds messages. Does not block.
    func add(_ group: MessageGroup) {
        let isSlow = state.withLock { state in
            state.waiting.append(group)
            publishWaiting(&state)
            state.dropExcess()
            state.reportLosses(context)
            let isSlow = state.phase == .connecting && !state.isSlowReported && MonotonicTime.now - start > Self.slowConnection
            if isSlow { state.isSlowReported = true }
            return isSlow
        }
        if isSlow { context.warn("\(context.name): no answer from \(broker) yet; trying further") }
    }

    /// Publishes what waits, within two seconds, and ends the connection in order. A thread that then still resolves a name or connects
    /// ends later.
    ///
    /// - Returns: Why the sink could not work.
    func close() -> String? {
        let phase = wait(Self.closeTimeout) { state in
            state.phase == .connecting || state.phase == .connected && (hasUnpublished || !state.waiting.isEmpty)
        }
        if phase == .connected {
            add(MessageGroup(status: "offline", topic: settings.topics.status))
            _ = wait(Self.statusTimeout) { $0.phase == .connected && hasUnpublished }
        }
        isClosing.store(true, ordering: .relaxed)
        client.disconnect()
        _ = wait(Self.statusTimeout) { $0.phase == .connected && !hasUnpublished }
        let (fault, warning) = state.withLock { state in
            dropUnpublished(&state)
            state.dropWaiting()
            state.reportLosses(context, at: .infinity)
            let (losses, sent) = (state.losses, state.sent)
            var warning: String?
            if state.phase == .connecting {
                state.fault = "\(context.name): no answer from \(broker); no message could be sent"
            } else if losses > 0, state.phase != .refused {
                // With QoS 1 and 2, every message is to arrive.
                if !state.wasConnected || settings.qualityOfService > 0 {
                    let count = sent == 0 ? "not one of \(losses)" : "\(sent) of \(losses + sent)"
                    state.fault = "\(context.name): \(broker): \(count) messages could be sent"
                } else {
                    warning = "\(context.name): \(losses) of \(losses + sent) messages were not sent to \(broker)"
                }
            }
            return (state.fault, warning)
        }
        if let warning { context.warn(warning) }
        return fault
    }

    /// Waits while a condition is met.
    private func wait(_ seconds: Double, while condition: (borrowing State) -> Bool) -> Phase {
        let deadline = MonotonicTime.now + seconds
        while true {
            let (goesOn, phase) = state.withLock { (condition($0), $0.phase) }
            guard goesOn, MonotonicTime.now < deadline else { return phase }
            MonotonicTime.sleep(for: 0.005)
        }
    }

    // MARK: - The thread

    private func run() {
        while !isClosing.load(ordering: .relaxed) {
            do throws(Problem) {
                try client.connect()
                while true {
                    try client.exchange()
                    update()
                }
            } catch {
                guard lose(error.message) else { return }
                MonotonicTime.sleep(for: Self.pause)
            }
        }
    }

    /// Notes what the broker has answered, and publishes what waited for that.
    private func update() {
        // Closed while the connection was being made.
        if isClosing.load(ordering: .relaxed) { return client.disconnect() }
        let published = client.takePublishedCount()
        let before = unpublished.subtract(published, ordering: .relaxed).oldValue
        // While no group waits, the lock is left to the thread that adds messages.
        if published > 0, before < Self.unpublishedLimit { return }
        let isAccepted = client.isAccepted
        let information = state.withLock { state in
            var information: String?
            if isAccepted, state.phase != .connected {
                if state.phase == .lost {
                    let losses = state.losses - state.earlierLosses
                    let text = losses == 0 ? "" : "; messages not sent: \(losses)"
                    information = "\(context.name): connected to \(broker)\(text)"
                }
                state.earlierLosses = state.losses
                (state.phase, state.wasConnected) = (.connected, true)
                state.waiting.insert(MessageGroup(status: "online", topic: settings.topics.status), at: 0)
            }
            publishWaiting(&state)
            state.reportLosses(context)
            return information
        }
        if let information { context.inform(information, []) }
    }

    /// Notes that there is no connection.
    ///
    /// - Returns: Whether to connect again.
    private func lose(_ reason: String) -> Bool {
        unpublished.subtract(client.takePublishedCount(), ordering: .relaxed)
        let isRefused = client.isRefused
        let isClosing = isClosing.load(ordering: .relaxed)
        let (phase, isNew) = state.withLock { state in
            let isNew = state.phase != .lost
            state.phase = isRefused && !state.wasConnected ? .refused : .lost
            if state.phase == .refused {
                state.fault = "\(context.name): \(broker): \(reason); check user=, password_file= and the rights of the user"
            }
            if settings.qualityOfService == 0 { dropUnpublished(&state) }
            publishWaiting(&state)
            state.reportLosses(context)
            return (state.phase, isNew)
        }
        guard phase == .lost, !isClosing else { return false }
        if isNew { context.warn("\(context.name): cannot reach \(broker): \(reason); trying again") }
        return true
    }

    // MARK: - On either thread

    /// Passes groups to the library, as far as it is to have them now, or drops them.
    private func publishWaiting(_ state: inout State) {
        switch state.phase {
        case .connecting: break
        case .lost, .refused: if settings.qualityOfService == 0 { state.dropWaiting() }
        case .connected:
            while let group = state.waiting.first, unpublished.load(ordering: .relaxed) < Self.unpublishedLimit {
                state.waiting.removeFirst()
                for message in group.messages {
                    if client.publish(group.bytes[message.range], to: message.topic, retains: settings.retains || group.isStatus) {
                        unpublished.add(1, ordering: .relaxed)
                        if !group.isStatus { state.sent += 1 }
                    } else {
                        state.drop(messages: 1)
                    }
                }
            }
        }
    }

    /// Drops what the library has: it forgets that with the connection.
    private func dropUnpublished(_ state: inout State) {
        let count = unpublished.exchange(0, ordering: .relaxed)
        state.sent -= min(count, state.sent)
        state.drop(messages: count)
    }

    private var hasUnpublished: Bool { unpublished.load(ordering: .relaxed) > 0 }
}
