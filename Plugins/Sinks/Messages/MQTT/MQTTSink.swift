public import Hemiola
internal import HemiolaFieldMaps
internal import HemiolaNetwork
internal import HemiolaRecords
internal import HemiolaSystem

extension SinkPlugin {
    private static let defaultPort = (plain: 1883, encrypted: 8883)

    private static let broker = Setting(
        "broker", default: "localhost", "Broker: HOST, HOST:PORT or [IPv6]:PORT; without a port 1883, with TLS 8883.")
    private static let prefix = Setting("prefix", default: "hemiola", "First level of all topics: another one for each place or device.")
    private static let batches = Setting(
        "batches", default: BatchForm.fields,
        "Values of batches: a topic for each feature (fields), all as JSON under one topic (record), or none.")
    private static let map = Setting<String?>(
        "map", default: nil, example: "topics.yaml", "Field map of topics, a file, instead of the topics below the prefix.")
    private static let interval = Setting(
        "every_ms", default: 1000.0, in: 0...3_600_000, unit: .milliseconds, "Time between two publications of values; 0: every batch.")
    private static let qualityOfService = Setting(
        "qos", default: 0, in: 0...2, "Quality of service: 0 at most once, 1 at least once, 2 exactly once.")
    private static let retains = Setting(
        "retain", default: false, "The broker keeps the last message of each topic for later subscribers.")
    private static let user = Setting<String?>("user", default: nil, "User name. Default: the variable HEMIOLA_MQTT_USER, if it is set.")
    private static let passwordFile = Setting<String?>(
        "password_file", default: nil,
        "File with the password in its first line. Default: the variable HEMIOLA_MQTT_PASSWORD, if it is set.")
    private static let tls = Setting("tls", default: false, "Encrypt the connection, and check the broker's certificate.")
    private static let authorities = Setting<String?>(
        "ca_file", default: nil, "File with the certificates of authorities (PEM). Default: those of the system.")
    private static let certificate = Setting<String?>("cert_file", default: nil, "File with the certificate of this client (PEM).")
    private static let key = Setting<String?>("key_file", default: nil, "File with the key of this client (PEM).")

    /// Publishes values and records to an MQTT broker.
    public static let mqtt = SinkPlugin(
        "mqtt", "Publishes values and records to an MQTT broker, for home automation and dashboards.",
        settings: [
            broker.declared, prefix.declared, batches.declared, map.declared, interval.declared, qualityOfService.declared,
            retains.declared,
            user.declared, passwordFile.declared, tls.declared, authorities.declared, certificate.declared, key.declared,
        ],
        primary: "broker", libraries: [.mosquitto], usesNetwork: true, needs: { _ in Needs(realTime: true) },
        make: { settings throws(Problem) in
            let port = settings[tls] ? defaultPort.encrypted : defaultPort.plain
            let endpoint = try NetworkEndpoint(parsing: settings[broker], defaultPort: port, at: broker.key)
            if let fault = Topics.fault(inPrefix: settings[prefix]) { throw Problem(fault, at: prefix.key) }
            for file in [authorities, certificate, key] where settings[file] != nil && !settings[tls] {
                throw Problem("\(file.key) is for encrypted connections; set tls=true", at: file.key)
            }
            if (settings[certificate] == nil) != (settings[key] == nil) {
                throw Problem("cert_file and key_file belong together; set both", at: certificate.key)
            }
            if let map = settings[map], map.isEmpty {
                throw Problem("the path is empty; is a variable of the shell unset?", at: Self.map.key)
            }
            let topics = Topics(prefix: settings[prefix])
            return MQTTPublisher(
                BrokerSettings(
                    endpoint: endpoint, user: settings[user], password: nil,
                    encryption: settings[tls]
                        ? .init(authorities: settings[authorities], certificate: settings[certificate], key: settings[key]) : nil,
                    qualityOfService: settings[qualityOfService], will: .init(topic: topics.status, payload: "offline")),
                topics, settings[batches], map: settings[map], interval: settings[interval] / 1000, retains: settings[retains],
                passwordFile: settings[passwordFile])
        })
}

/// The sink `mqtt`: encodes what is selected, and passes it to the connection.
final class MQTTPublisher: Sink {
    private let settings: BrokerSettings
    private let topics: Topics
    private let form: BatchForm
    private let map: String?
    private let interval: Double
    private let retains: Bool
    private let passwordFile: String?
    private var selection = Selection.all
    private var fields: FieldMap?
    private var connection: MQTTConnection?
    private var encoder: MessageEncoder?

    init(
        _ settings: BrokerSettings, _ topics: Topics, _ form: BatchForm, map: String?, interval: Double, retains: Bool,
        passwordFile: String?
    ) {
        self.settings = settings
        self.topics = topics
        self.form = form
        self.map = map
        self.interval = interval
        self.retains = retains
        self.passwordFile = passwordFile
    }

    func open(_ context: SinkContext) throws(Problem) {
        var settings = settings
        let credentials = try Credentials(user: settings.user, passwordFile: passwordFile, context)
        (settings.user, settings.password) = (credentials.user, credentials.password)
        do throws(Problem) {
            fields = try map.map { path throws(Problem) in try FieldMap.load(path) }
        } catch {
            throw Problem(error.description)
        }
        selection = context.selection
        connection = try MQTTConnection(settings, retains: retains, context)
    }

    func begin(_ stream: StreamHeader) throws(Problem) {
        do throws(Problem) {
            encoder = try MessageEncoder(stream, topics, form, map: fields, interval: interval, selection: selection)
        } catch {
            throw Problem(error.description)
        }
        try publish { $0.encodeHeader($1) }
    }

    func write(_ batches: BatchBlock) throws(Problem) {
        for index in 0..<batches.count { try publish { $0.encode(batches[index], $1) } }
    }

    func write(_ events: [Event]) throws(Problem) {
        // The records of events without a batch have their own time as `emitted_t`.
        for event in events { try publish { $0.encode(event, batchEnd: event.time, $1) } }
    }

    func end(_ summary: StreamSummary) throws(Problem) {
        try publish { $0.encodeEnd(summary, $1) }
    }

    func close() throws(Problem) {
        let fault = connection?.close()
        connection = nil
        if let fault { throw Problem(fault) }
    }

    /// Passes messages to the connection. Throws once if the broker has refused the first connection.
    private func publish(_ encode: (inout MessageEncoder, (MessageGroup) -> Void) -> Void) throws(Problem) {
        guard let connection, encoder != nil else { return }
        if let fault = connection.takeFault() { throw Problem(fault) }
        encode(&encoder!) { connection.add($0) }
    }
}
