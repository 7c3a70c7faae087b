public import Hemiola
internal import HemiolaSignal

extension CapturePlugin {
    /// What a sound server plays or records: PulseAudio, or PipeWire in its place.
    public static let pulse = CapturePlugin(
        "pulse", "What the sound server plays, or a microphone, an output or an application by name.",
        settings: PulseSettings.declared, primary: "device",
        devices: { () throws(CaptureError) in try DeviceProbe.devices(server: nil) },
        loopback: { () throws(CaptureError) in try ClickStage() },
        make: { settings throws(ConfigurationError) in PulseCapture(try PulseSettings(settings)) })
}

/// Hears one device of a sound server, and only that one, through whatever befalls the server.
///
/// The server's fragments arrive on a thread of libpulse's and wait in a `Feed`; the reader never waits for the server, nor it for
/// the reader.
final class PulseCapture: Capture {
    static let remedy = "start one (pulseaudio --start, or log in to a desktop session), or set PULSE_SERVER"
    /// So long a server may take to answer.
    static let patience: Int64 = 5_000_000_000

    let isLive = true

    private let settings: PulseSettings
    private(set) var session: Session?
    private var feed: Feed?

    init(_ settings: PulseSettings) {
        self.settings = settings
    }

    func open(_ wish: FormatWish) throws(CaptureError) -> StreamSource {
        let bell = Bell()
        let terms = Session.Terms(
            sampleRate: wish.sampleRate, channelCount: wish.channelCount, batchFrames: wish.batchFrames, waits: settings.waits)
        let session = try Session(settings.device, terms: terms, server: settings.server, bell: bell)
        guard session.connection.start() else {
            session.stop()
            throw CaptureError("there is no thread to be had for it")
        }
        do {
            let opening = try Self.outcome(of: session, bell, wish, waits: settings.waits)
            self.session = session
            feed = opening.feed
            return opening.source
        } catch {
            session.stop()
            throw error
        }
    }

    private static func outcome(
        of session: Session, _ bell: Bell, _ wish: FormatWish, waits: Bool
    ) throws(CaptureError) -> Session.Opening {
        let start = Connection.now
        var isReported = false
        while true {
            let (outcome, waitReason) = session.connection.locked { (session.outcome, session.waitReason) }
            if let outcome { return try outcome.get() }
            if let waitReason, !isReported {
                wish.warn("waiting for \(session.wish): \(waitReason)")
                isReported = true
            }
            if wish.isCancelled() {
                throw CaptureError("the run ended before \(session.wish) was there", remedy: .finish)
            }
            if !waits, Connection.now - start > patience {
                let address = session.connection.locked { session.connection.address }
                throw CaptureError("the sound server at \(address) does not answer; restart it")
            }
            bell.wait(milliseconds: 100)
        }
    }

    func read(into samples: inout MutableSpan<Float>) throws(CaptureError) -> Delivery {
        guard let feed else { preconditionFailure("a capture is opened before it is read") }
        return samples.withUnsafeMutableBufferPointer { feed.next(into: $0, waiting: 100) }
    }

    func close() {
        session?.stop()
        session = nil
        feed = nil
    }
}
