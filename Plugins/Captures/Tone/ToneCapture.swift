public import Hemiola

extension CapturePlugin {
    /// Generates sines, clicks, sweeps, noise, a drum and bass loop, and silence.
    public static let tone = CapturePlugin(
        PluginDescription(
            "tone", "Generates test signals: sines, clicks, sweeps, noise, a drum and bass loop, and silence.", primary: "signal"),
        settings: ToneSettings.self
    ) { settings throws(Problem) in
        settings.seconds > 0 ? try FiniteToneCapture(settings) : try ToneCapture(settings)
    }
}

/// Generates a signal. The samples are the same on every machine and for every buffer size.
///
/// - Complexity: O(samples), no allocation after `open`.
class ToneCapture: Capture {
    private static let defaultSampleRate = 44_100

    private let settings: ToneSettings
    private var generator = Generator.silence
    private var channelCount = 1
    /// Length in frames; nil: endless.
    private var frameCount: Int64?
    private var frame: Int64 = 0

    private enum Generator {
        case sine(Sine)
        case clicks(Clicks)
        case sweep(Sweep)
        case noise
        case loop
        case silence
    }
    /// Not part of `Generator`, because they have mutable state.
    private var noise: Noise?
    private var loop: DrumLoop?

    init(_ settings: ToneSettings) throws(Problem) {
        try settings.check()
        self.settings = settings
    }

    var isLive: Bool { false }

    func open(_ request: FormatRequest) throws(Problem) -> StreamSource {
        let sampleRate = settings.sampleRate ?? request.sampleRate ?? Self.defaultSampleRate
        if let problem = settings.problem(at: sampleRate) { throw Problem("tone: \(problem)") }
        let format = StreamFormat(sampleRate: sampleRate, channelCount: settings.channelCount)
        channelCount = settings.channelCount
        frameCount = settings.seconds > 0 ? format.frame(at: settings.seconds) : nil
        frame = 0
        makeGenerator(sampleRate)
        return StreamSource(
            format: format, kind: "tone", name: name, duration: frameCount.map { format.seconds(at: $0) })
    }

    private func makeGenerator(_ sampleRate: Int) {
        let amplitude = settings.amplitude
        switch settings.signal {
        case .sine:
            generator = .sine(Sine(frequency: settings.frequency, amplitude: amplitude, sampleRate: sampleRate))
        case .clicks:
            generator = .clicks(
                Clicks(tempo: settings.tempo, beatsPerBar: settings.beatsPerBar, amplitude: amplitude, sampleRate: sampleRate))
        case .sweep:
            generator = .sweep(
                Sweep(
                    from: settings.lowest, to: settings.highest ?? min(20_000, Double(sampleRate) / 2),
                    frameCount: frameCount ?? 1, amplitude: amplitude, sampleRate: sampleRate))
        case .noise:
            generator = .noise
            noise = Noise(settings.color, seed: UInt64(settings.seed), amplitude: amplitude, channelCount: channelCount)
        case .loop:
            generator = .loop
            loop = DrumLoop(
                tempo: settings.tempo, seed: UInt64(settings.seed), amplitude: amplitude, sampleRate: sampleRate, channelCount: channelCount
            )
        case .silence:
            generator = .silence
        }
    }

    private var name: String {
        switch settings.signal {
        case .sine: "sine \(ParameterValue.number(settings.frequency).text) Hz"
        case .clicks: "clicks \(ParameterValue.number(settings.tempo).text) BPM"
        case .sweep: "sweep from \(ParameterValue.number(settings.lowest).text) Hz"
        case .noise: "\(settings.color.rawValue) noise \(settings.seed)"
        case .loop: "drum and bass \(ParameterValue.number(settings.tempo).text) BPM"
        case .silence: "silence"
        }
    }

    func read(into samples: inout MutableSpan<Float>) throws(Problem) -> ReadResult {
        let room = samples.count / channelCount
        precondition(room > 0, "the buffer holds no frame")
        let count = Int(min(Int64(room), frameCount.map { $0 - frame } ?? .max))
        guard count > 0 else { return .end }
        samples.withUnsafeMutableBufferPointer { write(count, to: $0.baseAddress!) }
        frame += Int64(count)
        return .frames(count)
    }

    fileprivate func restart() {
        frame = 0
        noise?.reset()
        loop?.reset()
    }

    func close() {}

    // MARK: - Samples

    private func write(_ count: Int, to samples: UnsafeMutablePointer<Float>) {
        switch generator {
        case .sine(let sine):
            spread(count, over: samples) { sine.sample(at: $0) }
        case .sweep(let sweep):
            spread(count, over: samples) { sweep.sample(at: $0) }
        case .clicks(let clicks):
            var click = clicks.click(at: frame)
            var start = clicks.position(of: click)
            var next = clicks.position(of: click + 1)
            spread(count, over: samples) { frame in
                if frame == next {
                    click += 1
                    (start, next) = (next, clicks.position(of: click + 1))
                }
                return clicks.sample(of: click, at: Int(frame - start))
            }
        case .noise:
            noise?.write(count, from: frame, to: samples)
        case .loop:
            loop?.write(count, from: frame, to: samples)
        case .silence:
            samples.update(repeating: 0, count: count * channelCount)
        }
    }

    /// Writes one value per frame to all channels.
    @inline(__always)
    private func spread(_ count: Int, over samples: UnsafeMutablePointer<Float>, _ value: (Int64) -> Float) {
        for index in 0..<count {
            let sample = value(frame + Int64(index))
            for channel in 0..<channelCount { samples[index * channelCount + channel] = sample }
        }
    }
}

/// A signal that ends, so that it can be read twice.
final class FiniteToneCapture: ToneCapture, RewindableCapture {
    func rewind() throws(Problem) {
        restart()
    }
}
