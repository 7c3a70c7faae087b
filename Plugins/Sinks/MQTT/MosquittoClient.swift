internal import CMosquitto
internal import HemiolaNetwork

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// The settings of a connection to a broker.
struct BrokerSettings: Sendable {
    struct Encryption: Sendable {
        /// Certificates of authorities that the broker's certificate is checked against; nil: those of the system.
        var authorities: String?
        /// This client's certificate and its key.
        var certificate: String?
        var key: String?
    }

    struct Will: Sendable {
        var topic: String
        var payload: String
    }

    var endpoint: NetworkEndpoint
    var user: String?
    var password: String?
    /// nil: not encrypted.
    var encryption: Encryption?
    /// 0…2, of all messages.
    var qualityOfService: Int
    /// What the broker publishes, as a retained message, when the connection is lost.
    var will: Will
}

/// A client of libmosquitto. One call at a time, from any thread; only ``connect()`` blocks.
///
/// `@unchecked Sendable`, because the caller's lock orders the calls.
final class MosquittoClient: @unchecked Sendable {
    struct Failure: Error {
        /// In a few words: `Connection refused`.
        var reason: String
    }

    /// The folders of the system's certificates: of Debian, Ubuntu and Alpine, and of Fedora.
    private static let authorityFolders = ["/etc/ssl/certs", "/etc/pki/tls/certs"]
    /// Seconds without a packet after which the client sends one. The broker publishes the will 1.5 times as long after the last one.
    private static let keepAlive: Int32 = 10

    private let client: OpaquePointer
    // Unsafe: the callbacks of the C wrapper write here, during a call of the client.
    private let events: UnsafeMutablePointer<cmosquitto_events>
    private let settings: BrokerSettings

    /// Loads the library.
    ///
    /// - Throws: A message that names the Debian package.
    static func load() throws(Failure) {
        if let fault = cmosquitto_load() {
            throw Failure(reason: "\(String(cString: fault)); install it: apt install libmosquitto1")
        }
    }

    /// A client that is not connected. The library is loaded.
    static func make(_ settings: BrokerSettings) throws(Failure) -> MosquittoClient {
        let client = try MosquittoClient(settings)
        try client.configure()
        return client
    }

    private init(_ settings: BrokerSettings) throws(Failure) {
        self.settings = settings
        events = .allocate(capacity: 1)
        events.initialize(to: cmosquitto_events())
        guard let client = cmosquitto_new(events) else {
            events.deallocate()
            throw Failure(reason: "out of memory")
        }
        self.client = client
    }

    private func configure() throws(Failure) {
        let (will, qualityOfService) = (settings.will, Int32(settings.qualityOfService))
        var code = will.payload.withCString {
            mosquitto_will_set(client, will.topic, Int32(will.payload.utf8.count), $0, qualityOfService, true)
        }
        if code == 0, let user = settings.user { code = mosquitto_username_pw_set(client, user, settings.password) }
        guard code == 0 else { throw Failure(reason: String(cString: mosquitto_strerror(code)).withoutPeriod) }
        guard let encryption = settings.encryption else { return }
        let folder = encryption.authorities == nil ? Self.authorityFolders.first { access($0, R_OK) == 0 } ?? Self.authorityFolders[0] : nil
        for file in [encryption.authorities, encryption.certificate, encryption.key].compactMap(\.self) where access(file, R_OK) != 0 {
            throw Failure(reason: "cannot read \(file): \(String(cString: strerror(errno)))")
        }
        code = mosquitto_tls_set(client, encryption.authorities, folder, encryption.certificate, encryption.key, nil)
        guard code == 0 else { throw Failure(reason: "cannot use TLS: \(String(cString: mosquitto_strerror(code)).withoutPeriod)") }
    }

    deinit {
        mosquitto_destroy(client)
        events.deallocate()
    }

    /// Resolves the name and connects: blocks as long as the system does, about two minutes if no packet comes back. The broker's answer
    /// is read later, see ``answer``.
    func connect() throws(Failure) {
        cmosquitto_begin(client, events)
        try check(mosquitto_connect(client, settings.endpoint.host, Int32(settings.endpoint.port), Self.keepAlive))
        // Without this option a message waits until the broker's system has acknowledged the one before, up to 40 ms.
        var isOn: Int32 = 1
        if let socket { setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &isOn, socklen_t(MemoryLayout<Int32>.size)) }
    }

    /// The broker's answer since ``connect()``: nil: none yet; an empty text: accepted; else the reason of the refusal.
    var answer: String? {
        switch events.pointee.connack {
        case -1: nil
        case 0: ""
        case let code: String(cString: mosquitto_connack_string(code)).withoutPeriod
        }
    }

    /// Whether the refusal is not temporary: version, client id, user or password.
    var isRefusalFinal: Bool { [1, 2, 4, 5].contains(events.pointee.connack) }

    /// Messages that were written (QoS 0) or acknowledged (QoS 1 and 2).
    var publishedCount: Int64 { events.pointee.published }

    /// For ``WakeUp/wait(seconds:for:writing:)``; nil: not connected.
    var socket: Int32? {
        let descriptor = mosquitto_socket(client)
        return descriptor < 0 ? nil : descriptor
    }

    /// Whether bytes wait that the socket did not accept.
    var wantsToWrite: Bool { mosquitto_want_write(client) }

    /// Publishes a message, with at most 268 million bytes.
    func publish(_ payload: ArraySlice<UInt8>, to topic: String, retains: Bool) throws(Failure) {
        let qualityOfService = Int32(settings.qualityOfService)
        try check(
            payload.withUnsafeBytes {
                mosquitto_publish(client, nil, topic, Int32($0.count), $0.baseAddress, qualityOfService, retains)
            })
    }

    /// Reads and writes what the socket is ready for, and sends a packet when none was sent for long.
    func process(_ readiness: WakeUp.Readiness) throws(Failure) {
        if readiness.isReadable { try check(mosquitto_loop_read(client, 1)) }
        if readiness.isWritable, wantsToWrite { try check(mosquitto_loop_write(client, 1)) }
        try check(mosquitto_loop_misc(client))
    }

    /// Ends the connection in order: the broker does not publish the will.
    func disconnect() {
        if mosquitto_disconnect(client) == 0, wantsToWrite { _ = mosquitto_loop_write(client, 1) }
    }

    private func check(_ code: Int32) throws(Failure) {
        let number = errno
        if code == 0 { return }
        // A refusal, whose reason is in `answer`, closes the connection as well.
        let text = withUnsafeBytes(of: &events.pointee.error) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        if !text.isEmpty { throw Failure(reason: text) }
        if code == Int32(CMOSQUITTO_ERRNO), number != 0 { throw Failure(reason: String(cString: strerror(number))) }
        throw Failure(reason: String(cString: mosquitto_strerror(code)).withoutPeriod)
    }
}

extension String {
    /// A text of the library as part of a sentence.
    fileprivate var withoutPeriod: String { hasSuffix(".") ? String(dropLast()) : self }
}
