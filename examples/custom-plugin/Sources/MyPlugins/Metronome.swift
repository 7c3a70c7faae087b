import Glibc
import Hemiola
import HemiolaRecords
import HemiolaSignal

extension CapturePlugin {
    /// A click track of constant tempo.
    public static let metronome = CapturePlugin(
        "metronome", "Clicks at a constant tempo.", settings: [Metronome.tempo.declared, Metronome.seconds.declared], primary: "bpm"
    ) { settings throws(Problem) in
        Metronome(tempo: settings[Metronome.tempo], seconds: settings[Metronome.seconds])
    }
}

final class Metronome: RewindableCapture {
    static let tempo = Setting("bpm", default: 120.0, in: 30...300, unit: .beatsPerMinute, "The tempo.")
    static let seconds = Setting("seconds", default: 10.0, in: 0.1...86_400, unit: .seconds, "The duration.")

    private let tempo: Double
    private let seconds: Double
    private var sampleRate = 44_100
    /// The next frame, and the frame after the last.
    private var (next, end) = (0, 0)

    init(tempo: Double, seconds: Double) {
        (self.tempo, self.seconds) = (tempo, seconds)
    }

    /// False: nothing is dropped when the pipeline is slower than real time.
    var isLive: Bool { false }

    func open(_ request: FormatRequest) throws(Problem) -> StreamSource {
        sampleRate = request.sampleRate ?? 44_100
        (next, end) = (0, Int(seconds * Double(sampleRate)))
        return StreamSource(
            format: StreamFormat(sampleRate: sampleRate, channelCount: 1), kind: "metronome", name: "\(tempo) BPM", duration: seconds)
    }

    func read(into samples: inout MutableSpan<Float>) throws(Problem) -> ReadResult {
        let count = min(samples.count, end - next)
        guard count > 0 else { return .end }
        let period = 60 / tempo
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
