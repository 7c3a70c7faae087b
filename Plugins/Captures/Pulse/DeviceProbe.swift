internal import Hemiola
internal import HemiolaSignal

/// Asks a server once what it has.
final class DeviceProbe: ConnectionDelegate {
    private var answer: Result<Snapshot, CaptureError>?
    private let connection: Connection
    private let bell = Bell()

    private init(server: String?) throws(CaptureError) {
        connection = try Connection(server: server, watchesStreams: false)
        connection.delegate = self
    }

    /// Everything that a server has; waits for its answer for up to five seconds.
    ///
    /// - Parameter server: As in PULSE_SERVER; nil for what libpulse finds.
    static func devices(server: String?) throws(CaptureError) -> DeviceList {
        let probe = try DeviceProbe(server: server)
        let isStarted = probe.connection.start()
        defer { probe.connection.stop() }
        let start = Connection.now
        while isStarted, Connection.now - start < PulseCapture.patience {
            if let answer = probe.connection.locked({ probe.answer }) { return DeviceList(try answer.get()) }
            probe.bell.wait(milliseconds: 100)
        }
        throw CaptureError("the sound server at \(probe.connection.locked { probe.connection.address }) does not answer; restart it")
    }

    func connectionDidOpen() {}

    func connectionDidFail(_ reason: String) {
        answer = answer ?? .failure(CaptureError("no sound server answers at \(connection.address): \(reason); \(PulseCapture.remedy)"))
        bell.ring()
    }

    func connectionDidSee(_ snapshot: Snapshot) {
        answer = .success(snapshot)
        bell.ring()
    }

    func connectionDidTick() {}
}
