internal import CMosquitto
internal import Glibc
internal import Hemiola
internal import HemiolaNetwork
internal import HemiolaSystem

extension SharedLibrary {
    static let mosquitto = SharedLibrary(
        "libmosquitto", soname: "libmosquitto.so.1", package: "libmosquitto1", licence: "EPL-2.0 OR BSD-3-Clause", relation: .suggests,
        use: "the sink mqtt", versionSymbol: .numbersFunction("mosquitto_lib_version"))
}

/// A client of libmosquitto. One thread connects and exchanges packets; other threads may publish and disconnect at the same time.
///
/// `@unchecked Sendable`, because the library locks its own state, and what is read of `events` belongs to the thread that connects.
final class MosquittoClient: @unchecked Sendable {
    /// The folders of the system's certificates: of Debian, Ubuntu and Alpine, and of Fedora.
    private static let authorityFolders = ["/etc/ssl/certs", "/etc/pki/tls/certs"]
    /// Seconds without a packet after which the client sends one. The broker publishes the will 1.5 times as long after the last one.
    private static let keepAlive: Int32 = 10
    /// The longest wait for packets, in milliseconds.
    private static let longestWait: Int32 = 1000

    private let client: OpaquePointer
    // Unsafe: the callbacks of the C wrapper write here, during `exchange`.
    private let events: UnsafeMutablePointer<cmosquitto_events>
    private let broker: NetworkEndpoint
    private let qualityOfService: Int32

    /// Loads the library, and makes a client that is not connected.
    ///
    /// - Throws: A message that names the Debian package, or what is wrong with the settings.
    init(_ broker: NetworkEndpoint, _ settings: MQTTSettings, _ credentials: Credentials) throws(Problem) {
        if let fault = cmosquitto_load() {
            throw Problem("\(String(cString: fault)); \(SharedLibrary.mosquitto.remedy)")
        }
        events = .allocate(capacity: 1)
        events.initialize(to: cmosquitto_events())
        guard let client = cmosquitto_new(events) else {
            events.deallocate()
            throw Problem("out of memory")
        }
        self.client = client
        self.broker = broker
        qualityOfService = Int32(settings.qualityOfService)
        try configure(settings, credentials)
    }

    private func configure(_ settings: MQTTSettings, _ credentials: Credentials) throws(Problem) {
        // What the broker publishes, as a retained message, when the connection is lost.
        let will = "offline"
        var code = will.withCString {
            mosquitto_will_set(client, settings.topics.status, Int32(will.utf8.count), $0, qualityOfService, true)
        }
        if code == 0, let user = credentials.user { code = mosquitto_username_pw_set(client, user, credentials.password) }
        guard code == 0 else { throw Problem(String(cString: mosquitto_strerror(code)).withoutPeriod) }
        guard settings.tls else { return }
        let folder = settings.authorities == nil ? Self.authorityFolders.first { access($0, R_OK) == 0 } ?? Self.authorityFolders[0] : nil
        for file in [settings.authorities, settings.certificate, settings.key].compactMap(\.self) where access(file, R_OK) != 0 {
            throw Problem("cannot read \(file): \(SystemCallError.last)")
        }
        code = mosquitto_tls_set(client, settings.authorities, folder, settings.certificate, settings.key, nil)
        guard code == 0 else { throw Problem("cannot use TLS: \(String(cString: mosquitto_strerror(code)).withoutPeriod)") }
    }

    deinit {
        mosquitto_destroy(client)
        events.deallocate()
    }

    // MARK: - On the thread that connects

    /// Resolves the name and connects: blocks as long as the system does, about two minutes if no packet comes back. The broker's answer
    /// is read by ``exchange()``.
    func connect() throws(Problem) {
        cmosquitto_begin(client, events)
        try check(mosquitto_connect(client, broker.host, Int32(broker.port), Self.keepAlive))
        // Without this option a message waits until the broker's system has acknowledged the one before, up to 40 ms.
        var isOn: Int32 = 1
        setsockopt(mosquitto_socket(client), Int32(IPPROTO_TCP), TCP_NODELAY, &isOn, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Writes what was published and reads what the broker has sent. Waits for either, at most a second.
    ///
    /// - Throws: Why the connection has ended.
    func exchange() throws(Problem) {
        try check(mosquitto_loop(client, Self.longestWait, 1))
    }

    /// Whether the broker has accepted the connection, since `connect`.
    var isAccepted: Bool { events.pointee.connack == 0 }

    /// Whether the broker has refused it, and will again: version, client id, user or password.
    var isRefused: Bool { [1, 2, 4, 5].contains(events.pointee.connack) }

    /// Messages that were written (QoS 0) or acknowledged (QoS 1 and 2) since the last call.
    func takePublishedCount() -> Int {
        defer { events.pointee.published = 0 }
        return Int(events.pointee.published)
    }

    private func check(_ code: Int32) throws(Problem) {
        let number = errno
        if code == 0 { return }
        if events.pointee.connack > 0 {
            throw Problem(String(cString: mosquitto_connack_string(events.pointee.connack)).withoutPeriod)
        }
        let text = withUnsafeBytes(of: &events.pointee.error) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        if !text.isEmpty { throw Problem(text) }
        if code == Int32(CMOSQUITTO_KEEPALIVE) { throw Problem("no answer for \(Self.keepAlive) s") }
        if code == Int32(CMOSQUITTO_ERRNO), number != 0 { throw Problem(SystemCallError(number: number).description) }
        throw Problem(String(cString: mosquitto_strerror(code)).withoutPeriod)
    }

    // MARK: - On any thread

    /// Publishes a message, with at most 268 million bytes. Does not block: the thread that connects writes it.
    ///
    /// - Returns: Whether the library will send it. With QoS 1 and 2 it does so also after the connection was lost.
    func publish(_ payload: ArraySlice<UInt8>, to topic: String, retains: Bool) -> Bool {
        // A string that is passed as it is would be copied to the heap.
        let code = topic.withCString { topic in
            payload.withUnsafeBytes { mosquitto_publish(client, nil, topic, Int32($0.count), $0.baseAddress, qualityOfService, retains) }
        }
        return code == 0 || code == Int32(CMOSQUITTO_NO_CONN) && qualityOfService > 0
    }

    /// Ends the connection in order, after what was published: the broker does not publish the will.
    func disconnect() {
        mosquitto_disconnect(client)
    }
}

extension String {
    /// A text of the library as part of a sentence.
    fileprivate var withoutPeriod: String { hasSuffix(".") ? String(dropLast()) : self }
}
