internal import CMosquitto
internal import Glibc
internal import Hemiola
internal import HemiolaNetwork
internal import HemiolaSignal
internal import HemiolaSystem

extension SharedLibrary {
    static let mosquitto = SharedLibrary(
        "libmosquitto", soname: "libmosquitto.so.1", package: "libmosquitto1", licence: "EPL-2.0 OR BSD-3-Clause", relation: .suggests,
        use: "the sink mqtt", versionSymbol: .numbersFunction("mosquitto_lib_version"))
}

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
/// Messages with QoS 0 that are not encrypted are written to the socket without the library, because it makes two system calls for each
/// message: in place of both, there is one for all messages of a group. Connecting, keep-alive packets and all that is read are the library's.
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
    /// Whether PUBLISH packets are written without the library.
    private let writesPackets: Bool
    /// What the socket has not accepted. From the first byte that it accepts to the last one, the library must not write.
    private var packets = PublishPackets()
    /// Messages that were written without the library.
    private var writtenCount: Int64 = 0
    /// The monotonic clock when the socket accepted a part of the packets.
    private var lastProgress = 0.0

    /// Loads the library.
    ///
    /// - Throws: A message that names the Debian package.
    static func load() throws(Failure) {
        if let fault = cmosquitto_load() {
            throw Failure(reason: "\(String(cString: fault)); \(SharedLibrary.mosquitto.remedy)")
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
        writesPackets = settings.qualityOfService == 0 && settings.encryption == nil
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
        packets.removeAll()
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
    var publishedCount: Int64 { events.pointee.published + writtenCount }

    /// For ``WakeUp/wait(seconds:for:writing:)``; nil: not connected.
    var socket: Int32? {
        let descriptor = mosquitto_socket(client)
        return descriptor < 0 ? nil : descriptor
    }

    /// Whether bytes wait that the socket did not accept.
    var wantsToWrite: Bool { !packets.isEmpty || mosquitto_want_write(client) }

    /// Publishes a message, with at most 268 million bytes, at the latest when ``flush()`` is called.
    func publish(_ payload: ArraySlice<UInt8>, to topic: String, retains: Bool) throws(Failure) {
        if writesPackets { return packets.append(payload, to: topic, retains: retains) }
        let qualityOfService = Int32(settings.qualityOfService)
        try check(
            payload.withUnsafeBytes {
                mosquitto_publish(client, nil, topic, Int32($0.count), $0.baseAddress, qualityOfService, retains)
            })
    }

    /// Writes published messages as far as the socket accepts them.
    func flush() throws(Failure) {
        // The socket may have accepted a part of a packet of the library.
        guard !packets.isEmpty, !mosquitto_want_write(client) else { return }
        guard let socket else { throw Failure(reason: "the connection is broken") }
        let sentCount = packets.sentCount
        guard let count = packets.write(to: socket) else { throw Failure(reason: String(cString: strerror(errno))) }
        writtenCount += Int64(count)
        if packets.sentCount > sentCount { lastProgress = MonotonicTime.now }
    }

    /// Reads and writes what the socket is ready for, and sends a packet when none was received for long.
    func process(_ readiness: WakeUp.Readiness) throws(Failure) {
        if readiness.isReadable { try check(mosquitto_loop_read(client, 1)) }
        if readiness.isWritable {
            if mosquitto_want_write(client) { try check(mosquitto_loop_write(client, 1)) }
            try flush()
        }
        // In the middle of a message the library must not send a ping. Whether the broker still reads is seen from the message itself.
        if packets.sentCount == 0 { return try check(mosquitto_loop_misc(client)) }
        guard MonotonicTime.now - lastProgress < Double(Self.keepAlive) else {
            throw Failure(reason: "the broker has not read for \(Self.keepAlive) s")
        }
    }

    /// Ends the connection in order: the broker does not publish the will. With a message sent in part, only closing the socket can end it.
    func disconnect() {
        guard packets.sentCount == 0 else { return }
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
