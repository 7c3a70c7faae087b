internal import Hemiola

/// What a row of lights shows.
enum LightEffect: String, CaseIterable {
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

    /// A beat that is known later than this, in seconds, is shown as far as its flash would have faded.
    private static let tolerance = 0.1

    private let effect: LightEffect
    private let brightness: Float
    private var soundLevel: SoundLevel?
    private var barsHandle: FeatureHandle?
    /// The level and the bars, 0…1 each: the highest values since the last frame.
    private var level: Float = 0
    private var bars: [Float] = []
    /// Whether a frame has shown them.
    private var areShown = true
    /// The times of beats to come.
    private var beats: [Double] = []
    /// The time of the last beat that was shown, and that at which its flash began.
    private var lastBeat = -Double.infinity
    private var flashStart = -Double.infinity
    private var hue: Float = 0
    /// The colour of each light at full brightness, and its bar; computed with the first frame.
    private var palette: [(color: Color, bar: Int)] = []

    init(_ effect: LightEffect, brightness: Float) {
        self.effect = effect
        self.brightness = brightness
    }

    mutating func begin(_ header: StreamHeader) {
        soundLevel = SoundLevel(of: header)
        barsHandle = header.layout.handle("visualizer", "bars")
        (level, bars) = (0, [Float](repeating: 0, count: barsHandle?.count ?? 0))
        (beats, lastBeat, flashStart, palette) = ([], -.infinity, -.infinity, [])
    }

    mutating func add(_ batch: borrowing Batch) {
        let row = batch.row
        level = max(areShown ? 0 : level, currentLevel(row))
        if let barsHandle {
            for index in bars.indices {
                let value = row[barsHandle.offset + index]
                bars[index] = max(areShown ? 0 : bars[index], value.isFinite ? min(value, 1) : 0)
            }
        }
        areShown = false
    }

    /// Adds an event that occurs at a time.
    mutating func add(_ event: Event, at time: Double) {
        if effect == .pulse, event.type == .beat, beats.count < 1000 { beats.append(time) }
    }

    /// The time of the next beat that is shown; infinite: none is known.
    var nextEvent: Double { beats.min() ?? .infinity }

    /// Computes a frame. All times are in seconds of one clock.
    mutating func render(at now: Double, into colors: inout [Color]) {
        if let beat = beats.filter({ $0 <= now }).max() {
            if beat > lastBeat {
                // A flash begins with the first frame that shows it, so that it is as bright as any other.
                (lastBeat, flashStart, hue) = (beat, now - beat < Self.tolerance ? now : beat, hue + Self.hueStep)
            }
            beats.removeAll { $0 <= now }
        }
        areShown = true
        if effect != .pulse, palette.count != colors.count { preparePalette(count: colors.count) }
        switch effect {
        case .spectrum:
            for index in colors.indices {
                let bar = palette[index].bar
                colors[index] = palette[index].color * (brightness * (bar < bars.count ? bars[bar] : 0))
            }
        case .level:
            let length = level * Float(colors.count)
            for index in colors.indices {
                colors[index] = palette[index].color * (brightness * min(max(length - Float(index), 0), 1))
            }
        case .pulse:
            let age = max(0, now - flashStart)
            let flash = age < 10 * Self.decay ? Self.exponential(-age / Self.decay) : 0
            let color = Color(hue: hue, value: brightness * max(flash, Self.glow * level))
            for index in colors.indices { colors[index] = color }
        }
    }

    private func currentLevel(_ row: Span<Float>) -> Float {
        guard let decibels = soundLevel?.decibels(row), decibels.isFinite else { return 0 }
        return min(max((decibels - Self.lowestLevel) / -Self.lowestLevel, 0), 1)
    }

    private mutating func preparePalette(count: Int) {
        let barCount = bars.count
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
