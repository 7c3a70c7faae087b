import Glibc
import Hemiola

extension CapturePlugin {
    /// A click track of constant tempo.
    public static let metronome = CapturePlugin(
        PluginDescription("metronome", "Clicks at a constant tempo.", primary: "bpm"), settings: MetronomeSettings.self
    ) { settings throws(Problem) in Metronome(settings) }
}

struct MetronomeSettings: PluginSettings {
    var tempo: Double
    var duration: Double

    init(_ read: inout SettingReader) {
        tempo = read.number("bpm", default: 120, in: 30...300, unit: .beatsPerMinute, "The tempo.")
        duration = read.seconds("seconds", default: 10, in: 0.1...86_400, "The duration.")
    }
}

final class Metronome: RewindableCapture {
    private let settings: MetronomeSettings
    private var sampleRate = 44_100
    /// The next frame, and the frame after the last.
    private var (next, end) = (0, 0)

    init(_ settings: MetronomeSettings) { self.settings = settings }

    /// False: nothing is dropped when the pipeline is slower than real time.
    var isLive: Bool { false }

    func open(_ request: FormatRequest) throws(Problem) -> StreamSource {
        sampleRate = request.sampleRate ?? 44_100
        (next, end) = (0, Int(settings.duration * Double(sampleRate)))
        return StreamSource(
            format: StreamFormat(sampleRate: sampleRate, channelCount: 1), kind: "metronome", name: "\(settings.tempo) BPM",
            duration: settings.duration)
    }

    func read(into samples: inout MutableSpan<Float>) throws(Problem) -> ReadResult {
        let count = min(samples.count, end - next)
        guard count > 0 else { return .end }
        let period = 60 / settings.tempo
        for index in 0..<count {
            // Seconds since the last click: a decaying tone of 1 kHz.
            let time = (Double(next + index) / Double(sampleRate)).truncatingRemainder(dividingBy: period)
            samples[index] = Float(exp(-time / 0.004) * cos(2 * .pi * 1000 * time))
        }
        next += count
        return .frames(count)
    }

    func rewind() throws(Problem) { next = 0 }

    func close() {}
}
