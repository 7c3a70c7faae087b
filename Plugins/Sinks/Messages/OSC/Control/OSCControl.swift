internal import Glibc
public import Hemiola
internal import HemiolaFieldMaps
internal import HemiolaNetwork
internal import HemiolaRecords
internal import HemiolaSystem
internal import Synchronization

extension SinkPlugin {
    /// Receives OSC messages and submits them as controls.
    public static let oscControl = SinkPlugin(
        "osc-control", "Receives Open Sound Control (OSC) messages as controls: tap, nudge, presets, speed, blackout.",
        settings: OSCControlSettings.self, primary: "address", usesNetwork: true, needs: { _ in Needs(realTime: true) },
        make: { settings throws(Problem) in OSCControlReader(settings, at: try settings.check()) })
}

/// The settings of the sink `osc-control`.
struct OSCControlSettings: PluginSettings {
    var address = Setting.text(
        "address", default: "127.0.0.1:9001", example: "0.0.0.0:9001",
        "UDP port to receive on: PORT or HOST:PORT; 127.0.0.1 for programs of this computer, 0.0.0.0 for all.")
    var map = Setting.text(
        "map", example: "faders.yaml", "Field map of controls, a file. Default: PREFIX/CONTROL with its values.")
    var prefix = Setting.text("prefix", default: "/hemiola", "First part of the default addresses PREFIX/CONTROL.")

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

/// The sink `osc-control`: writes nothing. A thread of its own receives packets and submits controls.
final class OSCControlReader: Sink {
    private let settings: OSCControlSettings
    private let endpoint: NetworkEndpoint
    private var running: (loop: OSCControlLoop, thread: pthread_t)?

    init(_ settings: OSCControlSettings, at endpoint: NetworkEndpoint) {
        self.settings = settings
        self.endpoint = endpoint
    }

    func open(_ context: SinkContext) throws(Problem) {
        var routes: ControlRoutes?
        routes = try settings.map.map { path throws(Problem) in
            try ControlRoutes(
                FieldMap.load(path, .input), controls: context.catalog.controls, checkingMessages: OSCAddress.fault)
        }
        let listener: DatagramListener
        do throws(Problem) {
            listener = try DatagramListener(endpoint)
        } catch {
            throw Problem("osc-control: \(error.message)")
        }
        let loop = OSCControlLoop(listener, routes: routes, prefix: settings.prefix, wakeUp: try WakeUp.forSink(), context: context)
        let (thread, code) = startJoinableThread { loop.run() }
        guard code == 0, let thread else {
            throw Problem("osc-control: cannot create a thread: \(SystemCallError(number: code)); raise the limit: ulimit -u")
        }
        running = (loop, thread)
    }

    func begin(_ stream: StreamHeader) {}
    func write(_ batches: BatchBlock) {}
    func end(_ summary: StreamSummary) {}

    func close() {
        guard let (loop, thread) = running else { return }
        loop.stop()
        pthread_join(thread, nil)
        running = nil
    }
}

/// The thread of ``OSCControlReader``.
final class OSCControlLoop: Sendable {
    /// Packets that are handled together: of the values of a fader among them, the last counts.
    private static let blockSize = 64
    /// Controls in a second, beyond which they are discarded: people and programs send far fewer.
    private static let rateLimit = 1000

    private let listener: DatagramListener
    /// nil: the last part of an address is the name of a control.
    private let routes: ControlRoutes?
    private let prefix: String
    private let wakeUp: WakeUp
    private let context: SinkContext
    private let isStopped = Atomic(false)
    /// Warnings that were given, without their details.
    private let given = Mutex<Set<String>>([])

    init(_ listener: consuming DatagramListener, routes: ControlRoutes?, prefix: String, wakeUp: WakeUp, context: SinkContext) {
        self.listener = listener
        self.routes = routes
        self.prefix = prefix + "/"
        self.wakeUp = wakeUp
        self.context = context
    }

    func stop() {
        isStopped.store(true, ordering: .relaxed)
        wakeUp.signal()
    }

    func run() {
        var buffer = [UInt8](repeating: 0, count: DatagramListener.maxByteCount)
        var (second, count) = (0.0, 0)
        while !isStopped.load(ordering: .relaxed) {
            guard wakeUp.wait(seconds: nil, for: listener.descriptor).isReadable else { continue }
            var messages: [OSCMessage] = []
            for _ in 0..<Self.blockSize {
                guard let packet = listener.receive(&buffer) else { break }
                do throws(Problem) {
                    messages += try OSCDecoder.messages(of: packet)
                } catch {
                    warnOnce("packet", "a packet that is not OSC 1.0 was ignored")
                }
            }
            let now = MonotonicTime.now
            if now - second >= 1 { (second, count) = (now, 0) }
            for control in controls(of: messages) {
                count += 1
                if count > Self.rateLimit {
                    warnOnce("rate", "more than \(Self.rateLimit) controls in a second; the others are discarded")
                    break
                }
                context.controls.submit(control, from: context.name) { [self] reply, _ in
                    if case .refused(let reason) = reply { warnOnce(control.name, "\(control.name): \(reason)") }
                }
            }
        }
    }

    private func controls(of messages: [OSCMessage]) -> [Control] {
        guard let routes else { return messages.compactMap { control(of: $0) } }
        return routes.controls(for: messages.map { ReceivedMessage($0.address, $0.values) }).compactMap { address, result in
            switch result {
            case .success(let control): return control
            case .failure(let refusal):
                warnOnce(address, "\(address): \(refusal.message)")
                return nil
            }
        }
    }

    /// The control of a message without a map: the last part of the address is its name, the arguments are its fields in their order.
    private func control(of message: OSCMessage) -> Control? {
        // Other addresses are for other receivers of the same messages.
        guard message.address.hasPrefix(prefix) else { return nil }
        let name = String(message.address.dropFirst(prefix.count))
        guard let type = context.catalog.control(name) else {
            let hint = name.nearest(in: context.catalog.controls.map(\.name)).map { "; did you mean \($0)?" } ?? ""
            warnOnce("unknown", "there is no control \"\(name.onOneLine)\"\(hint)")
            return nil
        }
        do throws(Problem) {
            return try Control(type) { field in
                let place = type.fields.firstIndex(of: field) ?? 0
                guard place < message.values.count else { return nil }
                return field.converted(message.values[place], message.values)
            }
        } catch {
            warnOnce(name, "\(name): \(error.message)")
            return nil
        }
    }

    private func warnOnce(_ key: String, _ text: String) {
        // The keys are addresses of a map, names of controls, and three more: their number is bounded.
        if given.withLock({ $0.insert(key).inserted }) { context.warn("\(context.name): \(text)") }
    }
}
