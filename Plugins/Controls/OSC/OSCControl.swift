public import Hemiola
internal import HemiolaFieldMaps
internal import HemiolaNetwork

extension ControlPlugin {
    /// Receives OSC messages and submits them as controls.
    public static let osc = ControlPlugin(
        PluginDescription(
            "osc", "Receives Open Sound Control (OSC) messages as controls: tap, nudge, presets, speed, blackout.", primary: "address",
            uses: .network),
        settings: OSCControlSettings.self,
        make: { settings throws(Problem) in OSCControl(settings, at: try settings.check()) })
}

/// The settings of the control source `osc`.
struct OSCControlSettings: PluginSettings {
    var address: String
    var map: String?
    var prefix: String

    init(_ read: inout SettingReader) {
        address = read.text(
            "address", default: "127.0.0.1:9001", example: "0.0.0.0:9001",
            "UDP port to receive on: PORT or HOST:PORT; 127.0.0.1 for programs of this computer, 0.0.0.0 for all.")
        map = read.text("map", example: "faders.yaml", "Field map of controls, a file. Default: PREFIX/CONTROL with its values.")
        prefix = read.text("prefix", default: "/hemiola", "First part of the default addresses PREFIX/CONTROL.")
    }

    /// Validates the settings.
    ///
    /// - Returns: Where messages are received.
    func check() throws(Problem) -> NetworkEndpoint {
        if let fault = OSCAddress.fault(in: prefix) { throw Problem(fault, at: "prefix") }
        if let map, map.isEmpty { throw Problem("the path is empty; is a variable of the shell unset?", at: "map") }
        // A number alone is a port.
        let isPort = !address.isEmpty && address.utf8.allSatisfy { (0x30...0x39).contains($0) }
        return try NetworkEndpoint(parsing: isPort ? "127.0.0.1:\(address)" : address, defaultPort: 9001, at: "address")
    }
}

/// Receives packets on a UDP port. The keys of its warnings are addresses of the map, names of controls, and three more.
final class OSCControl: ControlSource {
    /// Packets that are handled together: of the values of a fader among them, the last counts.
    private static let blockSize = 64
    /// Controls in a second, beyond which they are discarded: people and programs send far fewer.
    private static let rateLimit = 1000

    private let endpoint: NetworkEndpoint
    private let map: String?
    private let prefix: String
    /// nil: the last part of an address is the name of a control.
    private var routes: ControlRoutes?
    private var listener: DatagramListener?

    init(_ settings: OSCControlSettings, at endpoint: NetworkEndpoint) {
        self.endpoint = endpoint
        map = settings.map
        prefix = settings.prefix + "/"
    }

    func open(_ input: ControlInput) throws(Problem) {
        routes = try map.map { path throws(Problem) in
            try ControlRoutes(
                FieldMap.load(path, .input), controls: input.context.records.catalog.controls, checkingMessages: OSCAddress.fault)
        }
        do {
            listener = try DatagramListener(endpoint)
        } catch {
            throw Problem("\(input.context.name): \(error.message)")
        }
    }

    func run(_ input: ControlInput) {
        guard let listener else { return }
        var buffer = [UInt8](repeating: 0, count: DatagramListener.maxByteCount)
        var (second, count) = (0.0, 0)
        while input.wait(for: listener.descriptor) {
            var messages: [OSCMessage] = []
            for _ in 0..<Self.blockSize {
                guard let packet = listener.receive(&buffer) else { break }
                do {
                    messages += try OSCDecoder.messages(of: packet)
                } catch {
                    input.warn("a packet that is not OSC 1.0 was ignored", once: "packet")
                }
            }
            let now = input.context.timing.clock.now
            if now - second >= 1 { (second, count) = (now, 0) }
            for control in controls(of: messages, input) {
                count += 1
                if count > Self.rateLimit {
                    input.warn("more than \(Self.rateLimit) controls in a second; the others are discarded", once: "rate")
                    break
                }
                input.submit(control)
            }
        }
    }

    func close() { listener = nil }

    private func controls(of messages: [OSCMessage], _ input: ControlInput) -> [Control] {
        guard let routes else { return messages.compactMap { control(of: $0, input) } }
        return routes.controls(for: messages.map { ReceivedMessage($0.address, $0.values) }).compactMap { address, result in
            switch result {
            case .success(let control): return control
            case .failure(let refusal):
                input.warn("\(address): \(refusal.message)", once: address)
                return nil
            }
        }
    }

    /// The control of a message without a map: the last part of the address is its name, the arguments are its fields in their order.
    private func control(of message: OSCMessage, _ input: ControlInput) -> Control? {
        // Other addresses are for other receivers of the same messages.
        guard message.address.hasPrefix(prefix) else { return nil }
        let name = String(message.address.dropFirst(prefix.count))
        guard let type = input.context.records.catalog.control(name) else {
            let hint = name.nearest(in: input.context.records.catalog.controls.map(\.name)).map { "; did you mean \($0)?" } ?? ""
            input.warn("there is no control \"\(name.onOneLine)\"\(hint)", once: "unknown")
            return nil
        }
        do {
            return try Control(type) { field in
                let place = type.fields.firstIndex(of: field) ?? 0
                guard place < message.values.count else { return nil }
                return field.converted(message.values[place], message.values)
            }
        } catch {
            input.warn("\(name): \(error.message)", once: name)
            return nil
        }
    }
}
