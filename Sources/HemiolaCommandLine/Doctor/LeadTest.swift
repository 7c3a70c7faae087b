internal import Glibc
internal import Hemiola

/// Plays a click track on the default output while another `hemiola listen` captures it and sends its beats to a sink: the user compares
/// clicks and flashes, and sets `lead_ms` and `delay_ms` of the sink.
struct LeadTest {
    /// Seconds between two clicks: 120 BPM.
    static let interval = 0.5
    /// Seconds of a click.
    private static let clickLength = 0.03
    /// Beats of a bar, of which the first is higher and louder.
    private static let beatsPerBar = 4
    /// Seconds until the capture has to run.
    private static let startTime = 15.0

    var sink: String
    /// nil: until it is cancelled.
    var clickCount: Int?
    /// Whether to stop before all clicks are played.
    var isCancelled: () -> Bool

    /// Plays and listens.
    ///
    /// - Returns: The beats that were detected.
    /// - Throws: The sink is unknown, no program plays, or no audio is captured.
    func run(with registry: PluginRegistry, print: (String) -> Void) throws(Failure) -> Int {
        let spec = try ConfigurationBuilder.spec(sink, of: "--lead \(sink)")
        if case .failure(let fault) = registry.find(spec.id, in: registry.sinks, role: "sink") {
            throw Failure("--lead \(sink): \(fault.message)")
        }
        guard let player = Player() else {
            throw Failure("no program that plays samples is installed; install one: apt install pulseaudio-utils", status: .inputFailed)
        }
        defer { player.stop() }
        let listener: ListeningProgram
        do {
            listener = try ListeningProgram(["--select", "beat,batch,levels.peak_db", "--sink", sink])
        } catch {
            throw Failure(error.message, status: .inputFailed)
        }
        defer { listener.stop() }
        guard listener.waitForLine(within: Self.startTime, where: { $0.hasPrefix(#"{"type":"batch""#) }) != nil else {
            throw Failure("no audio captured from the default output; see whether hemiola listen works", status: .inputFailed)
        }
        print(text)
        var beats = 0
        var click = 0
        while !isCancelled(), clickCount.map({ click < $0 }) ?? true, listener.isRunning {
            guard player.play(Self.samples(of: click)) else {
                throw Failure("\(player.name) does not play; see whether the default output works: hemiola devices", status: .inputFailed)
            }
            click += 1
            while listener.waitForLine(within: 0.001, where: { $0.hasPrefix(#"{"type":"beat""#) }) != nil { beats += 1 }
        }
        return beats
    }

    private var text: String {
        """
        A click every \(Self.interval) s. After some seconds, \(sink) receives a beat with each of them.
        The flash is late: add lead_ms=20, more or less, until click and flash coincide. It is early: add delay_ms=20.
        Ctrl-C ends.

        """
    }

    /// The samples of one interval: a decaying sine, then silence. The first of a bar is an octave higher.
    static func samples(of click: Int) -> [Int16] {
        let rate = Double(Player.sampleRate)
        let isFirst = click % beatsPerBar == 0
        let angle = 2 * Double.pi * (isFirst ? 2000 : 1000) / rate
        var samples = [Int16](repeating: 0, count: Int(interval * rate))
        let length = Int(clickLength * rate)
        for index in 0..<length {
            let decay = 1 - Double(index) / Double(length)
            samples[index] = Int16((sin(angle * Double(index)) * decay * decay * (isFirst ? 24_000 : 16_000)).rounded())
        }
        return samples
    }
}
