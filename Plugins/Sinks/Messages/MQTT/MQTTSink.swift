public import Hemiola
internal import HemiolaFieldMaps
internal import HemiolaNetwork

extension SinkPlugin {
    /// Publishes values and records to an MQTT broker.
    public static let mqtt = SinkPlugin(
        PluginDescription(
            "mqtt", "Publishes values and records to an MQTT broker, for home automation and dashboards.", primary: "broker",
            uses: .init(libraries: [.mosquitto], network: true)),
        settings: MQTTSettings.self, needs: { _ in Needs(realTime: true) },
        make: { settings throws(Problem) in MQTTPublisher(settings, to: try settings.check()) })
}

/// The settings of the sink `mqtt`.
struct MQTTSettings: PluginSettings {
    private static let defaultPort = (plain: 1883, encrypted: 8883)
    /// Bytes of a prefix or of the topic of a map. A topic has at most 65535.
    private static let longestTopic = 1000

    var broker: String
    var prefix: String
    var batches: BatchForm
    var map: String?
    /// In seconds.
    var interval: Double
    var qualityOfService: Int
    var retains: Bool
    var isDiscovered: Bool
    var user: String?
    var passwordFile: String?
    var tls: Bool
    var authorities: String?
    var certificate: String?
    var key: String?

    init(_ read: inout SettingReader) {
        broker = read.text("broker", default: "localhost", "Broker: HOST, HOST:PORT or [IPv6]:PORT; without a port 1883, with TLS 8883.")
        prefix = read.text("prefix", default: "hemiola", "First level of all topics: another one for each place or device.")
        batches = read.choice(
            "batches", default: BatchForm.fields,
            "Values of batches: a topic for each feature (fields), all as JSON under one topic (record), or none.")
        map = read.text("map", example: "topics.yaml", "Field map of topics, a file, instead of the topics below the prefix.")
        interval = read.milliseconds(
            "every_ms", default: 1000, in: 0...3_600_000, "Time between two publications of values; 0: every batch.")
        qualityOfService = read.integer(
            "qos", default: 0, in: 0...2, "Quality of service: 0 at most once, 1 at least once, 2 exactly once.")
        retains = read.boolean("retain", default: false, "The broker keeps the last message of each topic for later subscribers.")
        isDiscovered = read.boolean(
            "discovery", default: true, "Home Assistant shows level, tempo, key and sound of the run, and has beats as triggers.")
        user = read.text("user", "User name. Default: the variable HEMIOLA_MQTT_USER, if it is set.")
        passwordFile = read.text(
            "password_file", "File with the password in its first line. Default: the variable HEMIOLA_MQTT_PASSWORD, if it is set.")
        tls = read.boolean("tls", default: false, "Encrypt the connection, and check the broker's certificate.")
        authorities = read.text("ca_file", "File with the certificates of authorities (PEM). Default: those of the system.")
        certificate = read.text("cert_file", "File with the certificate of this client (PEM).")
        key = read.text("key_file", "File with the key of this client (PEM).")
    }

    /// The files of an encrypted connection that are set, with their keys.
    var files: [(key: String, path: String)] {
        [("ca_file", authorities), ("cert_file", certificate), ("key_file", key)].compactMap { key, path in path.map { (key, $0) } }
    }

    /// A topic below the prefix: the type of a record, the name of a feature, or `status`.
    func topic(_ name: String) -> String { "\(prefix)/\(name)" }

    /// Validates the settings.
    ///
    /// - Returns: The broker.
    func check() throws(Problem) -> NetworkEndpoint {
        let port = tls ? Self.defaultPort.encrypted : Self.defaultPort.plain
        let endpoint = try NetworkEndpoint(parsing: broker, defaultPort: port, at: "broker")
        if let fault = Self.fault(inTopic: prefix) { throw Problem(fault, at: "prefix") }
        if !tls, let name = files.first?.key { throw Problem("\(name) is for encrypted connections; set tls=true", at: name) }
        if (certificate == nil) != (key == nil) {
            throw Problem("cert_file and key_file belong together; set both", at: "cert_file")
        }
        if let map, map.isEmpty { throw Problem("the path is empty; is a variable of the shell unset?", at: "map") }
        return endpoint
    }

    /// Why a topic, or the prefix of all, is invalid; nil: it is valid. By MQTT 3.1.1, section 4.7.
    static func fault(inTopic topic: String) -> String? {
        if topic.isEmpty { return "the prefix is empty; write a topic, as in hemiola" }
        let isInvalid = topic.unicodeScalars.contains {
            $0 == "+" || $0 == "#" || $0.properties.generalCategory == .control || $0.properties.isNoncharacterCodePoint
        }
        if isInvalid { return "\"\(topic)\" is no topic: + and # are for subscribers, and control characters are not allowed" }
        if topic.hasPrefix("/") || topic.hasSuffix("/") { return "\"\(topic)\" begins or ends with a slash; remove it" }
        return topic.utf8.count > longestTopic ? "the topic is too long: \(topic.utf8.count) bytes, maximum \(longestTopic)" : nil
    }
}

/// What is published of a batch.
enum BatchForm: String, CaseIterable {
    /// `fields`: a topic for each feature. `record`: one topic with the record as JSON. `none`: nothing.
    case fields, record, none
}

/// The sink `mqtt`: encodes what is selected, and passes it to the connection.
final class MQTTPublisher: Sink {
    private let settings: MQTTSettings
    private let broker: NetworkEndpoint
    private var selection = Selection.all
    private var map: FieldMap?
    private var connection: MQTTConnection?
    private var encoder: MessageEncoder?

    init(_ settings: MQTTSettings, to broker: NetworkEndpoint) {
        self.settings = settings
        self.broker = broker
    }

    func open(_ context: SinkContext) throws(Problem) {
        let credentials = try Credentials(user: settings.user, passwordFile: settings.passwordFile, context)
        map = try settings.map.map { path throws(Problem) in try FieldMap.load(path) }
        selection = context.records.selection
        connection = try MQTTConnection(to: broker, settings, credentials, context)
    }

    func begin(_ stream: StreamHeader) throws(Problem) {
        encoder = try MessageEncoder(stream, settings, map: map, selection: selection)
        // With a map, nothing is published under the topics that are announced.
        if settings.isDiscovered, map == nil, let messages = HomeAssistant(settings).messages(for: stream, selection) {
            connection?.announce(messages)
        }
        try add { $0.header() }
    }

    func write(_ batches: BatchBlock) throws(Problem) {
        for index in 0..<batches.count { try add { $0.groups(of: batches[index]) } }
    }

    func write(_ events: [Event]) throws(Problem) {
        // The records of events without a batch have their own time as `emitted_t`.
        for event in events { try add { $0.groups(of: event, batchEnd: event.time) } }
    }

    func end(_ summary: StreamSummary) throws(Problem) {
        try add { $0.end(summary) }
    }

    func close() throws(Problem) {
        defer { connection = nil }
        try connection?.close()
    }

    private func add(_ encode: (inout MessageEncoder) -> [MessageGroup]) throws(Problem) {
        for group in encode(&encoder!) { try connection?.add(group) }
    }
}
