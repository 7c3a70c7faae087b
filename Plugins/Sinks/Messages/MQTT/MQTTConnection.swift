internal import CMosquitto
internal import Hemiola
internal import HemiolaNetwork

extension SharedLibrary {
    static let mosquitto = SharedLibrary(
        "libmosquitto", soname: "libmosquitto.so.1", package: "libmosquitto1", licence: "EPL-2.0 OR BSD-3-Clause", relation: .suggests,
        use: "the sink mqtt", versionSymbol: .numbersFunction("mosquitto_lib_version"))
}

/// The connection to a broker. libmosquitto writes and reads, on a thread of this class.
///
/// The library has at most a hundred messages that are not written (QoS 0) or not acknowledged (QoS 1 and 2). Further ones wait here, up to
/// a limit; then the oldest are lost. With QoS 0, what is due without a connection is lost too, but for the time until the first attempt to
/// connect has succeeded or failed. Every loss is counted.
///
/// The thread is not that of `mosquitto_loop_start`, which ends at the first error of TLS or of the protocol, and for whose end
/// `mosquitto_loop_stop` waits as long as a host does not answer.
///
/// `@unchecked Sendable`: all variables are under the condition's lock, except those of the thread. The library locks its own state, and holds
/// no lock that a publication needs when it calls back: it allows publications there.
final class MQTTConnection: @unchecked Sendable {
    private enum Phase {
        /// The first attempt has no result yet.
        case connecting
        case connected
        /// The thread tries again.
        case lost
        /// The broker has refused the first connection for good; the thread has ended.
        case refused
    }

    /// Groups and bytes that wait at most.
    private static let groupLimit = 1000
    private static let sizeLimit = 4 << 20
    /// Messages that the library has at most, but for the rest of a group.
    private static let unpublishedLimit = 100
    /// Seconds between two attempts to connect.
    private static let pause = 1.0
    /// Seconds that the last messages may take when the sink is closed, and the end of the connection.
    private static let closeTimeout = 3.0
    private static let disconnectTimeout = 1.0
    /// Seconds between two reports of losses.
    private static let reportInterval = 1.0
    /// Seconds without a packet after which the client sends one. The broker publishes the will 1.5 times as long after the last one.
    private static let keepAlive: Int32 = 10
    /// The folders of the system's certificates: of Debian, Ubuntu and Alpine, and of Fedora.
    private static let authorityFolders = ["/etc/ssl/certs", "/etc/pki/tls/certs"]

    private let broker: NetworkEndpoint
    private let settings: MQTTSettings
    private let context: SinkContext
    private let statusTopic: String
    private let client: OpaquePointer

    private let condition = Condition()
    private var phase = Phase.connecting
    private var wasConnected = false
    private var isClosing = false
    /// Why the sink cannot work, until it was thrown.
    private var fault: Problem?
    /// What the library does not have yet, and its bytes.
    private var waiting: [MessageGroup] = []
    private var waitingSize = 0
    /// Messages that the library has.
    private var unpublished = 0
    /// All messages, and those of them that are lost: until now, and when the connection was made last.
    private var total = 0
    private var lost = 0
    private var lostBefore = 0
    /// What is sent each time that the connection is made.
    private var announcement: MessageGroup?
    /// Losses that were not reported, and whether those of the current outage have a record.
    private var unreported = (batches: 0, events: 0)
    private var hasRecordOfOutage = false
    private var nextReport = 0.0

    /// Of the thread: the answer to the last attempt to connect, 0 = accepted, and the last error that the library has logged meanwhile.
    private var answer: Int32 = 0
    private var logged = ""

    /// Loads libmosquitto, and starts the thread.
    ///
    /// - Throws: The library is missing, a setting is wrong, or there is no thread. A broker that is not reached is no error.
    init(to broker: NetworkEndpoint, _ settings: MQTTSettings, _ credentials: Credentials, _ context: SinkContext) throws(Problem) {
        self.broker = broker
        self.settings = settings
        self.context = context
        statusTopic = settings.topic("status")
        if let fault = cmosquitto_load() {
            throw Problem("\(context.name): \(String(cString: fault)); \(SharedLibrary.mosquitto.remedy)")
        }
        guard let client = mosquitto_new(nil, true, nil) else { throw Problem("\(context.name): out of memory") }
        self.client = client
        try configure(credentials)
        try startThread(for: "the sink \(context.name)") { [self] in run() }
    }

    private func configure(_ credentials: Credentials) throws(Problem) {
        mosquitto_threaded_set(client, true)
        // Without this option a message waits until the broker's system has acknowledged the one before, up to 40 ms.
        mosquitto_int_option(client, CMOSQUITTO_TCP_NODELAY, 1)
        mosquitto_user_data_set(client, Unmanaged.passUnretained(self).toOpaque())
        mosquitto_connect_callback_set(client) { _, connection, code in MQTTConnection.at(connection).connected(code) }
        mosquitto_publish_callback_set(client) { _, connection, _ in MQTTConnection.at(connection).published() }
        // What the broker publishes, as a retained message, when the connection is lost.
        let will = Array("offline".utf8)
        try check(mosquitto_will_set(client, statusTopic, Int32(will.count), will, Int32(settings.qualityOfService), true))
        if let user = credentials.user { try check(mosquitto_username_pw_set(client, user, credentials.password)) }
        guard settings.tls else { return }
        for (key, file) in settings.files {
            do { try FileSystem.checkPermissions([.read], of: file) } catch {
                throw Problem("\(context.name): cannot read \(file): \(error)", at: key)
            }
        }
        let folder = settings.authorities == nil ? Self.authorityFolders.first(where: FileSystem.exists) ?? Self.authorityFolders[0] : nil
        try check(mosquitto_tls_set(client, settings.authorities, folder, settings.certificate, settings.key, nil))
    }

    private func check(_ code: Int32) throws(Problem) {
        if code != 0 { throw Problem("\(context.name): \(Self.sentence(mosquitto_strerror(code)))") }
    }

    deinit {
        mosquitto_destroy(client)
    }

    // MARK: - On the thread of the sink

    /// Adds messages. Does not block.
    ///
    /// - Throws: The broker has refused the first connection. Thrown once.
    func add(_ group: MessageGroup) throws(Problem) {
        let fault = condition.locked {
            enqueue(group)
            publishWaiting()
            while waiting.count > Self.groupLimit || waitingSize > Self.sizeLimit { lose(removeFirst()) }
            reportLosses()
            return takeFault()
        }
        if let fault { throw fault }
    }

    /// Sends messages now, or when the connection is made, and again each time that it is made: the broker may have lost them.
    func announce(_ group: MessageGroup) {
        condition.locked {
            announcement = group
            guard phase == .connected else { return }
            enqueue(group)
            publishWaiting()
        }
    }

    /// Publishes what waits, within three seconds, and ends the connection in order. A thread that then still resolves a name ends later.
    ///
    /// - Throws: Why the sink could not work. With QoS 1 and 2, every message is to arrive.
    func close() throws(Problem) {
        condition.locked {
            if phase == .connecting || phase == .connected {
                enqueue(status("offline"))
                publishWaiting()
            }
            condition.wait(within: Self.closeTimeout) {
                phase == .connecting || phase == .connected && (unpublished > 0 || !waiting.isEmpty)
            }
            isClosing = true
        }
        mosquitto_disconnect(client)
        let problem: Problem? = condition.locked {
            condition.wait(within: Self.disconnectTimeout) { phase == .connected }
            loseUnpublished()
            loseWaiting()
            reportLosses(isEnd: true)
            if phase == .refused || lost == 0 { return takeFault() }
            return Problem("\(context.name): \(lost) of \(total) messages were not sent to \(broker)")
        }
        guard let problem else { return }
        guard wasConnected, settings.qualityOfService == 0 else { throw problem }
        context.messages.warn(problem.message)
    }

    // MARK: - On the thread of the connection

    /// Connects, writes and reads, and connects again, until the sink is closed.
    private func run() {
        while true {
            (answer, logged) = (0, "")
            mosquitto_log_callback_set(client) { _, connection, level, text in
                if level == CMOSQUITTO_LOG_ERR, let text { MQTTConnection.at(connection).logged = String(cString: text) }
            }
            var code = mosquitto_connect_async(client, broker.host, Int32(broker.port), Self.keepAlive)
            while code == 0 { code = mosquitto_loop(client, -1, 1) }
            guard lose(code, SystemCallError.last) else { return }
            context.timing.clock.sleep(for: Self.pause)
        }
    }

    /// The broker has answered.
    private func connected(_ code: Int32) {
        answer = code
        guard code == 0 else { return }
        // Otherwise the library formats a line of text for each message that is published.
        mosquitto_log_callback_set(client, nil)
        if condition.locked({ isClosing }) { _ = mosquitto_disconnect(client) }
        let information: String? = condition.locked {
            let losses = lost == lostBefore ? "" : "; messages not sent: \(lost - lostBefore)"
            let information = phase == .lost && !isClosing ? "\(context.name): connected to \(broker)\(losses)" : nil
            (phase, wasConnected, lostBefore) = (.connected, true, lost)
            if let announcement { enqueue(announcement, isFirst: true) }
            enqueue(status("online"), isFirst: true)
            publishWaiting()
            hasRecordOfOutage = false
            reportLosses(isEnd: true)
            return information
        }
        condition.signal()
        if let information { context.messages.inform(information, []) }
    }

    /// A message was written (QoS 0) or acknowledged (QoS 1 and 2).
    private func published() {
        condition.locked {
            unpublished = max(0, unpublished - 1)
            publishWaiting()
        }
        condition.signal()
    }

    /// Notes that there is no connection.
    ///
    /// - Returns: Whether to connect again.
    private func lose(_ code: Int32, _ error: SystemCallError) -> Bool {
        let reason =
            if answer > 0 {
                Self.sentence(mosquitto_connack_string(answer))
            } else if !logged.isEmpty {
                logged
            } else if code == CMOSQUITTO_KEEPALIVE {
                "no answer for \(Self.keepAlive) s"
            } else {
                code == CMOSQUITTO_ERRNO && error.number != 0 ? "\(error)" : Self.sentence(mosquitto_strerror(code))
            }
        let (continues, isNew) = condition.locked {
            let isNew = phase != .lost
            // Version, client id, user or password.
            let isRefused = [1, 2, 4, 5].contains(answer) && !wasConnected
            phase = isRefused ? .refused : .lost
            if isRefused {
                fault = Problem("\(context.name): \(broker): \(reason); check user=, password_file= and the rights of the user")
            }
            // The library forgets them.
            if settings.qualityOfService == 0 { loseUnpublished() }
            publishWaiting()
            reportLosses()
            return (!isRefused && !isClosing, isNew)
        }
        condition.signal()
        if continues, isNew { context.messages.warn("\(context.name): cannot reach \(broker): \(reason); trying again") }
        return continues
    }

    /// A text of the library as part of a sentence.
    private static func sentence(_ text: UnsafePointer<CChar>) -> String {
        let text = String(cString: text)
        return text.hasSuffix(".") ? String(text.dropLast()) : text
    }

    /// The connection that a callback gets. Safe: it is destroyed after the client.
    private static func at(_ pointer: UnsafeMutableRawPointer?) -> MQTTConnection {
        Unmanaged.fromOpaque(pointer!).takeUnretainedValue()
    }

    // MARK: - Under the lock

    private func takeFault() -> Problem? {
        defer { fault = nil }
        return fault
    }

    private func status(_ status: String) -> MessageGroup {
        MessageGroup([MessageGroup.Message(topic: statusTopic, payload: Array(status.utf8), isRetained: true)])
    }

    private func enqueue(_ group: MessageGroup, isFirst: Bool = false) {
        total += group.messages.count
        waiting.insert(group, at: isFirst ? 0 : waiting.count)
        waitingSize += group.size
    }

    private func removeFirst() -> MessageGroup {
        let group = waiting.removeFirst()
        waitingSize -= group.size
        return group
    }

    /// Passes groups to the library, as far as it is to have them now, or drops them.
    private func publishWaiting() {
        switch phase {
        case .connecting: break
        case .lost, .refused: if settings.qualityOfService == 0 { loseWaiting() }
        case .connected:
            while !waiting.isEmpty, unpublished < Self.unpublishedLimit { removeFirst().messages.forEach(publish) }
        }
    }

    /// Passes a message to the library, which copies it. With QoS 1 and 2 it is sent also after the connection was lost.
    private func publish(_ message: MessageGroup.Message) {
        let quality = Int32(settings.qualityOfService)
        let isRetained = settings.retains || message.isRetained
        let code = mosquitto_publish(client, nil, message.topic, Int32(message.payload.count), message.payload, quality, isRetained)
        if code == 0 || code == CMOSQUITTO_NO_CONN && quality > 0 { unpublished += 1 } else { lose(MessageGroup([message])) }
    }

    private func lose(_ group: MessageGroup) {
        lost += group.messages.count
        if group.isBatch { unreported.batches += 1 } else { unreported.events += 1 }
    }

    private func loseWaiting() {
        while !waiting.isEmpty { lose(removeFirst()) }
    }

    private func loseUnpublished() {
        lost += unpublished
        unreported.events += unpublished
        unpublished = 0
    }

    /// Reports losses: as a `dropped` record when an outage begins and when it ends, and once a second at most else.
    private func reportLosses(isEnd: Bool = false) {
        let now = context.timing.clock.now
        let isOngoing = !isEnd && (hasRecordOfOutage || now < nextReport)
        guard unreported != (0, 0) || isEnd && lost > 0 else { return }
        context.controls.report(
            DropReport(sink: context.name, batches: unreported.batches, events: unreported.events, isOngoing: isOngoing))
        unreported = (0, 0)
        if !isEnd, phase == .lost { hasRecordOfOutage = true }
        if !isOngoing { nextReport = now + Self.reportInterval }
    }
}
