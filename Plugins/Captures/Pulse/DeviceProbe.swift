internal import Hemiola

/// Requests the list of devices from a sound server once.
final class DeviceProbe: ConnectionDelegate {
    private var result: Result<ServerSnapshot, Problem>?
    private let connection: Connection
    private let wakeUp: WakeUp

    private init(server: String?) throws(Problem) {
        wakeUp = try PulseCapture.makeWakeUp()
        connection = try Connection(server: server, watchesStreams: false)
        connection.delegate = self
    }

    /// The devices of a sound server. Blocks for up to five seconds.
    ///
    /// - Parameter server: The address, as in PULSE_SERVER; nil: libpulse's default.
    static func devices(server: String?) throws(Problem) -> DeviceList {
        let probe = try DeviceProbe(server: server)
        defer { probe.connection.stop() }
        try probe.connection.start()
        let deadline = Deadline(after: PulseCapture.responseTimeout)
        while !deadline.hasPassed {
            if let result = probe.connection.locked({ probe.result }) { return DeviceList(try result.get()) }
            probe.wakeUp.wait(seconds: 0.1)
        }
        throw Problem("the sound server at \(probe.connection.locked { probe.connection.address }) does not respond; restart it")
    }

    func connectionDidOpen() {}

    func connectionDidFail(_ reason: String) {
        result =
            result ?? .failure(Problem("no sound server answers at \(connection.address): \(reason); \(PulseCapture.startServerHint)"))
        wakeUp.signal()
    }

    func connectionDidUpdate(_ snapshot: ServerSnapshot) {
        result = .success(snapshot)
        wakeUp.signal()
    }

    func connectionDidTick() {}
}
