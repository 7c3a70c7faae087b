internal import Hemiola
internal import HemiolaSignal

/// What a row of lights shows.
enum LightEffect: String, SettingChoice {
    /// The bars of the spectrum side by side, bass first, in the colours of the rainbow.
    case spectrum
    /// A level meter: green, yellow, red.
    case level
    /// All lights flash with each beat, in another colour each time, and glow with the level between.
    case pulse
}

/// Computes the colours of a row of lights from the features and beats of a stream.
struct LightShow {
    /// Level in dBFS at which the meter is empty; it is full at 0 dBFS.
    private static let lowestLevel: Float = -48
    /// Seconds in which a flash falls to 37 %.
    private static let decay = 0.12
    /// The brightness of the glow between beats at full level.
    private static let glow: Float = 0.25
    /// Turns by which the colour changes with each beat: the golden section, so that neighbours differ and none repeats.
    private static let hueStep: Float = 0.618_034

    private let effect: LightEffect
    private let brightness: Float
    private let lead: Double
    private var level: FeatureHandle?
    private var bars: FeatureHandle?
    private var format = StreamFormat(sampleRate: 1, channelCount: 1)
    /// Times of beats to come, in seconds of stream time, less the lead.
    private var beats: [Double] = []
    private var lastBeat = -Double.infinity
    private var hue: Float = 0
    /// The colour of each light at full brightness, and its bar; computed with the first frame.
    private var palette: [(color: Color, bar: Int)] = []

    init(_ effect: LightEffect, brightness: Float, lead: Double) {
        self.effect = effect
        self.brightness = brightness
        self.lead = lead
    }

    mutating func begin(_ header: StreamHeader) {
        format = header.format
        level = header.layout.handle("levels", "rms_db")
        bars = header.layout.handle("visualizer", "bars")
        (beats, lastBeat, palette) = ([], -.infinity, [])
    }

    mutating func note(_ event: Event) {
        if event.type == .beat, beats.count < 1000 { beats.append(event.time - lead) }
    }

    /// Computes a frame.
    mutating func render(_ batch: borrowing Batch, into colors: inout [Color]) {
        let end = format.seconds(at: batch.endFrame)
        if let beat = beats.filter({ $0 <= end }).max() {
            if beat > lastBeat { (lastBeat, hue) = (beat, hue + Self.hueStep) }
            beats.removeAll { $0 <= end }
        }
        let row = batch.row
        if effect != .pulse, palette.count != colors.count { preparePalette(count: colors.count) }
        switch effect {
        case .spectrum:
            for index in colors.indices { colors[index] = palette[index].color * (brightness * value(ofBar: palette[index].bar, in: row)) }
        case .level:
            let length = self.level(of: row) * Float(colors.count)
            for index in colors.indices {
                colors[index] = palette[index].color * (brightness * min(max(length - Float(index), 0), 1))
            }
        case .pulse:
            // The flash begins with the batch in which the beat lies.
            let age = max(0, end - lastBeat)
            let flash = age < 10 * Self.decay ? Self.exponential(-age / Self.decay) : 0
            let color = Color(hue: hue, value: brightness * max(flash, Self.glow * self.level(of: row)))
            for index in colors.indices { colors[index] = color }
        }
    }

    private func level(of row: Span<Float>) -> Float {
        guard let level, row[level.offset].isFinite else { return 0 }
        return min(max((row[level.offset] - Self.lowestLevel) / -Self.lowestLevel, 0), 1)
    }

    private func value(ofBar bar: Int, in row: Span<Float>) -> Float {
        guard let bars, bars.count > 0 else { return 0 }
        let value = row[bars.offset + bar]
        return value.isFinite ? min(max(value, 0), 1) : 0
    }

    private mutating func preparePalette(count: Int) {
        let barCount = bars?.count ?? 0
        palette = (0..<count).map { index in
            let share = Float(index) / Float(count)
            let hue = effect == .spectrum ? share * 5 / 6 : (1 - share) / 3
            return (Color(hue: hue, value: 1), max(0, min(Int(share * Float(barCount)), barCount - 1)))
        }
    }

    /// eˣ for x ≤ 0, within 1 %: (1 + x/256)²⁵⁶, which needs no mathematical library.
    private static func exponential(_ x: Double) -> Float {
        var value = max(0, 1 + x / 256)
        for _ in 0..<8 { value *= value }
        return Float(value)
    }
}
