internal import Hemiola

/// The kinds of signals.
enum ToneSignal: String, CaseIterable {
    case sine, clicks, sweep, noise, loop, silence
}

/// The spectrum of noise.
enum NoiseColor: String, CaseIterable {
    case white, pink
}

/// The settings of this capture.
struct ToneSettings: PluginSettings {
    private static let frequencies = 0.001...192_000

    var signal: ToneSignal
    var frequency: Double
    var lowest: Double
    var highest: Double?
    var tempo: Double
    var beatsPerBar: Int
    var color: NoiseColor
    var seed: Int
    private var level: Double
    var seconds: Double
    var sampleRate: Int?
    var channelCount: Int

    init(_ read: inout SettingReader) {
        signal = read.choice("signal", default: ToneSignal.sine, "Kind of signal.")
        frequency = read.hertz("hz", default: 440, in: Self.frequencies, "Frequency of the sine.")
        lowest = read.hertz("from_hz", default: 20, in: Self.frequencies, "Start frequency of the sweep.")
        highest = read.hertz(
            "to_hz", in: Self.frequencies, "End frequency of the sweep; unset: 20 kHz, or half of the sample rate where that is lower.")
        tempo = read.number("bpm", default: 120, in: 1...1_000, unit: .beatsPerMinute, "Tempo of the clicks and of the loop.")
        beatsPerBar = read.integer("beats_per_bar", default: 4, in: 1...64, "Clicks per bar; the first of each bar is accented.")
        color = read.choice("color", default: NoiseColor.white, "Spectrum of the noise.")
        seed = read.integer(
            "seed", default: 0, in: 0...Int(Int32.max), "Seed of the noise and of the loop; equal seeds give equal samples.")
        level = read.number("level_db", default: -12, in: -120...0, unit: .decibels, "Peak level of the signal.")
        seconds = read.seconds("seconds", default: 10, in: 0...1_000_000, "Duration; 0: endless (not for a sweep).")
        sampleRate = read.integer("rate", in: StreamFormat.sampleRates, unit: .hertz, "Sample rate; unset: that of --rate, or 44100.")
        channelCount = read.integer(
            "channels", default: 2, in: StreamFormat.channelCounts, "Number of channels; all equal, except for the noise and the loop.")
    }

    /// Peak amplitude, linear, 1 at full scale.
    var amplitude: Double {
        // 10^(dB/20) = 2^(dB/20 · log₂10).
        PortableMath.powerOfTwo(level / 20 * 3.321_928_094_887_362)
    }

    /// - Throws: A setting that another one excludes.
    func check() throws(Problem) {
        if signal == .sweep, seconds == 0 { throw Problem("a sweep needs a duration above 0", at: "seconds") }
        if let sampleRate, let problem = problem(at: sampleRate) { throw Problem([problem]) }
    }

    /// The setting that is invalid at a sample rate; nil where all are valid.
    func problem(at sampleRate: Int) -> Problem? {
        let limit = Double(sampleRate) / 2
        func check(_ setting: String, _ frequency: Double) -> Problem? {
            if frequency <= limit { return nil }
            let text = ParameterValue.number(frequency).text
            return Problem(
                "\(text) Hz is above half of the sample rate, \(sampleRate) Hz; lower it or raise rate", at: .key(setting))
        }
        return switch signal {
        case .sine: check("hz", frequency)
        case .sweep: check("from_hz", lowest) ?? highest.flatMap { check("to_hz", $0) }
        case .clicks, .noise, .loop, .silence: nil
        }
    }
}
