/// The beats of a picture, and those of them that have room.
struct BeatLines: Equatable {
    /// The most beats that are kept: a week of music.
    static let limit = 1 << 20

    struct Beat: Equatable {
        /// In seconds.
        var time: Double
        var beatsPerMinute: Double
        /// 1 is the downbeat; nil: unknown.
        var position: Int?
    }

    /// A line across the panels.
    struct Line: Equatable {
        var time: Double
        /// The number of the bar, 1…; nil: the beat is not a downbeat.
        var bar: Int?
    }

    private(set) var beats: [Beat] = []

    mutating func append(_ beat: Beat) {
        if beats.count < Self.limit, beat.time.isFinite { beats.append(beat) }
    }

    /// Removes beats outside of the picture and orders the rest.
    mutating func trim(to duration: Double) {
        beats = beats.filter { (0...duration).contains($0.time) }.sorted { $0.time < $1.time }
    }

    /// The lines that are drawn: all beats, or where they are too dense all bars, or every 2nd, 4th, 8th … bar.
    ///
    /// - Parameters:
    ///   - pixelsPerSecond: The scale of the time axis.
    ///   - spacing: The smallest distance of two beats, in pixels. That of bars without beats between them is twice as large, that of every
    ///     2nd, 4th … bar five times.
    func lines(pixelsPerSecond: Double, spacing: Double) -> [Line] {
        var lines: [Line] = []
        var bar = 0
        for beat in beats {
            if beat.position == 1 { bar += 1 }
            lines.append(Line(time: beat.time, bar: beat.position == 1 ? bar : nil))
        }
        func isDense(_ times: [Double], _ spacing: Double) -> Bool {
            guard let interval = Self.median(zip(times, times.dropFirst()).map { $1 - $0 }) else { return false }
            return interval * pixelsPerSecond < spacing
        }
        if !isDense(lines.map(\.time), spacing) { return lines }
        var bars = lines.filter { $0.bar != nil }
        guard isDense(bars.map(\.time), 2 * spacing) else { return bars }
        var step = 1
        while bars.count > 1, isDense(bars.map(\.time), 5 * spacing) {
            step *= 2
            bars = bars.filter { (($0.bar ?? 0) - 1) % step == 0 }
        }
        return bars
    }

    /// Which bars have a number: every one, or every 2nd, 4th, 8th …
    static func labels(of lines: [Line], pixelsPerSecond: Double, spacing: Double) -> [Line] {
        let bars = lines.filter { $0.bar != nil }
        guard let interval = median(zip(bars, bars.dropFirst()).map { $1.time - $0.time }), interval > 0 else { return bars }
        let first = bars.count > 1 ? (bars[1].bar ?? 0) - (bars[0].bar ?? 0) : 1
        var step = max(1, first)
        var distance = interval * pixelsPerSecond
        // Not forever where the bars are at nearly one time.
        while distance < spacing, step <= bars.last?.bar ?? 0 {
            step *= 2
            distance *= 2
        }
        return bars.filter { (($0.bar ?? 0) - 1) % step == 0 }
    }

    static func median(_ values: [Double]) -> Double? {
        values.isEmpty ? nil : values.sorted()[values.count / 2]
    }
}
