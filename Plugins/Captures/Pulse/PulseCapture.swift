public import Hemiola

extension CapturePlugin {
    /// Captures a monitor, an input or an application from a sound server: PulseAudio or PipeWire.
    public static let pulse = CapturePlugin(
        PluginDescription(
            "pulse", "Captures the default output, or an output, an input or an application by name.", primary: "device",
            uses: .init(libraries: [.pulse])),
        settings: PulseSettings.self,
        devices: { () throws(Problem) in try DeviceProbe.devices(server: nil) },
        loopback: { () throws(Problem) in try PulseLoopback() },
        make: { settings throws(Problem) in try PulseCapture(settings) })
}

/// Captures one device of a sound server, and reconnects to it after an outage of server or device.
///
/// Fragments arrive on libpulse's thread and are queued in a `DeliveryQueue`; reader and server never wait for each other.
final class PulseCapture: Capture {
    static let startServerHint = "start one (pulseaudio --start, or log in to a desktop session), or set PULSE_SERVER"
    /// Seconds that a server may take to respond.
    static let responseTimeout = 5.0

    let isLive = true

    private let settings: PulseSettings
    private let device: DeviceQuery
    private(set) var session: CaptureSession?
    private var queue: DeliveryQueue?

    init(_ settings: PulseSettings) throws(Problem) {
        device = try DeviceQuery(parsing: settings.device)
        if settings.server == "" {
            throw Problem("the address is empty; leave the setting out for the default server", at: "server")
        }
        self.settings = settings
    }

    func open(_ request: FormatRequest) throws(Problem) -> StreamSource {
        let wakeUp = try Self.makeWakeUp()
        let options = CaptureSession.Options(
            sampleRate: request.sampleRate, followsDeviceRate: request.followsDeviceRate, channelCount: request.channelCount,
            batchFrames: request.batchFrames, waits: settings.waits, warn: request.warn)
        let session = try CaptureSession(device, options: options, server: settings.server, wakeUp: wakeUp)
        do {
            try session.connection.start()
            let opening = try Self.outcome(of: session, wakeUp, request, waits: settings.waits)
            self.session = session
            queue = opening.queue
            return opening.source
        } catch {
            session.stop()
            throw error
        }
    }

    /// For a thread that waits for libpulse's.
    static func makeWakeUp() throws(Problem) -> WakeUp {
        do { return try WakeUp() } catch {
            throw Problem("cannot create a pipe: \(error); raise the limit on open files: ulimit -n")
        }
    }

    private static func outcome(
        of session: CaptureSession, _ wakeUp: WakeUp, _ request: FormatRequest, waits: Bool
    ) throws(Problem) -> CaptureSession.Opening {
        let deadline = Deadline(after: responseTimeout)
        var isReported = false
        while true {
            let (outcome, waitReason) = session.connection.locked { (session.outcome, session.waitReason) }
            if let outcome { return try outcome.get() }
            if let waitReason, !isReported {
                request.warn("waiting for \(session.query): \(waitReason)")
                isReported = true
            }
            if request.isCancelled() {
                throw Problem("interrupted while waiting for \(session.query)", remedy: .finish)
            }
            if !waits, deadline.hasPassed {
                let address = session.connection.locked { session.connection.address }
                throw Problem("the sound server at \(address) does not respond; restart it")
            }
            wakeUp.wait(seconds: 0.1)
        }
    }

    func read(into samples: inout MutableSpan<Float>) throws(Problem) -> ReadResult {
        guard let queue else { preconditionFailure("a capture is opened before it is read") }
        return samples.withUnsafeMutableBufferPointer { queue.next(into: $0, waiting: 100) }
    }

    func close() {
        session?.stop()
        session = nil
        queue = nil
    }
}

/// The settings of this capture.
struct PulseSettings: PluginSettings {
    var device: String
    var server: String?
    var waits: Bool

    init(_ read: inout SettingReader) {
        device = read.text(
            "device", default: "auto",
            "auto: monitor of the default output; auto-input: default input; app:NAME: one application; else a device's name.")
        server = read.text(
            "server", "Address of the sound server, as in PULSE_SERVER; unset: PULSE_SERVER or the session's default server.")
        waits = read.boolean("wait", default: false, "Wait for a server or a device that is not available yet.")
    }
}
