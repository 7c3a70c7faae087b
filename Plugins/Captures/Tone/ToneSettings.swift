internal import Hemiola
internal import HemiolaRecords
internal import HemiolaSignal
internal import HemiolaSystem

/// The kinds of signals.
enum ToneSignal: String, Sendable, CaseIterable, SettingChoice {
    case sine, clicks, sweep, noise, loop, silence
}

/// The spectrum of noise.
enum NoiseColor: String, Sendable, CaseIterable, SettingChoice {
    case white, pink
}

/// The settings of this capture.
struct ToneSettings: Sendable {
    private static let frequencies = 0.001...192_000

    private static let signal = Setting("signal", default: ToneSignal.sine, "Kind of signal.")
    private static let frequency = Setting(
        "hz", default: 440.0, in: frequencies, unit: .hertz, "Frequency of the sine.")
    private static let lowest = Setting(
        "from_hz", default: 20.0, in: frequencies, unit: .hertz, "Start frequency of the sweep.")
    private static let highest = Setting<Double?>(
        "to_hz", in: frequencies, unit: .hertz, "End frequency of the sweep; unset: 20 kHz, or half of the sample rate where that is lower."
    )
    private static let tempo = Setting(
        "bpm", default: 120.0, in: 1.0...1_000, unit: .beatsPerMinute, "Tempo of the clicks and of the loop.")
    private static let beatsPerBar = Setting(
        "beats_per_bar", default: 4, in: 1...64, "Clicks per bar; the first of each bar is accented.")
    private static let color = Setting("color", default: NoiseColor.white, "Spectrum of the noise.")
    private static let seed = Setting(
        "seed", default: 0, in: 0...Int(Int32.max), "Seed of the noise and of the loop; equal seeds give equal samples.")
    private static let level = Setting(
        "level_db", default: -12.0, in: -120.0...0, unit: .decibels, "Peak level of the signal.")
    private static let seconds = Setting(
        "seconds", default: 10.0, in: 0.0...1_000_000, unit: .seconds, "Duration; 0: endless (not for a sweep).")
    private static let rate = Setting<Int?>(
        "rate", in: StreamFormat.sampleRates, unit: .hertz, "Sample rate; unset: that of --rate, or 44100.")
    private static let channels = Setting(
        "channels", default: 2, in: StreamFormat.channelCounts, "Number of channels; all equal, except for the noise and the loop.")

    static let declared = [
        signal.declared, frequency.declared, lowest.declared, highest.declared, tempo.declared, beatsPerBar.declared,
        color.declared, seed.declared, level.declared, seconds.declared, rate.declared, channels.declared,
    ]

    var signal: ToneSignal
    var frequency: Double
    var lowest: Double
    var highest: Double?
    var tempo: Double
    var beatsPerBar: Int
    var color: NoiseColor
    var seed: UInt64
    /// Peak amplitude, linear, 1 at full scale.
    var amplitude: Double
    var seconds: Double
    var sampleRate: Int?
    var channelCount: Int

    init(_ settings: SettingValues) throws(Problem) {
        signal = settings[Self.signal]
        frequency = settings[Self.frequency]
        lowest = settings[Self.lowest]
        highest = settings[Self.highest]
        tempo = settings[Self.tempo]
        beatsPerBar = settings[Self.beatsPerBar]
        color = settings[Self.color]
        seed = UInt64(settings[Self.seed])
        // 10^(dB/20) = 2^(dB/20 · log₂10).
        amplitude = PortableMath.powerOfTwo(settings[Self.level] / 20 * 3.321_928_094_887_362)
        seconds = settings[Self.seconds]
        sampleRate = settings[Self.rate]
        channelCount = settings[Self.channels]
        if signal == .sweep, seconds == 0 {
            throw Problem("a sweep needs a duration above 0", at: Self.seconds.key)
        }
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
        case .sine: check(Self.frequency.key, frequency)
        case .sweep: check(Self.lowest.key, lowest) ?? highest.flatMap { check(Self.highest.key, $0) }
        case .clicks, .noise, .loop, .silence: nil
        }
    }
}
