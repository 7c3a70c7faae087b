internal import Glibc
internal import HemiolaSignal

/// A mark of an axis at a round value.
struct Tick: Equatable {
    var value: Double
    /// Empty for a mark between two labels.
    var label: String
}

/// The marks of an axis, and the quantity and unit of their labels.
struct Ticks: Equatable {
    var ticks: [Tick]
    /// `Time (s)`, `Frequency (kHz)`.
    var title: String
}

extension Ticks {
    /// Marks at multiples of 1, 2 or 5 times a power of ten.
    ///
    /// - Parameters:
    ///   - length: The length of the axis, in pixels.
    ///   - spacing: The smallest distance of two labels, in pixels.
    static func linear(_ range: ClosedRange<Double>, length: Double, spacing: Double, divisor: Double = 1, title: String) -> Ticks {
        let span = range.upperBound - range.lowerBound
        guard span > 0, length > 0, span.isFinite else { return Ticks(ticks: [], title: title) }
        let step = roundStep(atLeast: span * spacing / length / divisor)
        let decimals = Self.decimals(of: step)
        let multiples = Self.multiples(of: step, in: range.lowerBound / divisor...range.upperBound / divisor)
        return Ticks(ticks: multiples.map { Tick(value: $0 * divisor, label: $0.text(decimals: decimals)) }, title: title)
    }

    /// Marks of a time axis, at multiples of round numbers of seconds, minutes or hours.
    ///
    /// - Parameter widthOf: The width of a text, in pixels.
    static func time(_ range: ClosedRange<Double>, length: Double, gap: Double, widthOf: (String) -> Double) -> Ticks {
        let span = range.upperBound - range.lowerBound
        guard span > 0, length > 0, span.isFinite else { return Ticks(ticks: [], title: "Time (s)") }
        var steps: [Double] = []
        var small = roundStep(atLeast: span / length)
        while small < 1 {
            steps.append(small)
            small = roundStep(atLeast: small * 1.5)
        }
        steps += [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400]
        while steps[steps.count - 1] < span { steps.append(steps[steps.count - 1] * 2) }
        for step in steps {
            let style = TimeStyle(end: range.upperBound, step: step)
            let widest = max(widthOf(style.text(range.upperBound)), widthOf(style.text(range.lowerBound)))
            guard step / span * length >= widest + gap else { continue }
            let multiples = multiples(of: step, in: range)
            return Ticks(ticks: multiples.map { Tick(value: $0, label: style.text($0)) }, title: "Time (\(style.unit))")
        }
        return Ticks(ticks: [], title: "Time (s)")
    }

    /// Marks of a frequency axis, in hertz, on a linear axis in kilohertz. Logarithmic axes have marks at 1, 2 and 5 times the powers of
    /// ten and marks without labels at the other multiples; labels that would overlap are left out.
    static func frequency(_ axis: FrequencyAxis, length: Double, spacing: Double) -> Ticks {
        let range = axis.minimum...axis.maximum
        if axis.scale == .linear {
            let isLarge = axis.maximum >= 2000
            return linear(
                range, length: length, spacing: spacing * 1.4, divisor: isLarge ? 1000 : 1,
                title: isLarge ? "Frequency (kHz)" : "Frequency (Hz)")
        }
        var labelled: [(tick: Tick, place: Double)] = []
        var candidates: [(value: Double, rank: Int)] = []
        var marks: [Double] = []
        for power in 0...6 {
            for digit in 1...9 {
                let value = Double(digit) * pow(10, Double(power))
                guard range.contains(value) else { continue }
                if let rank = [1, 5, 2].firstIndex(of: digit) { candidates.append((value, rank)) }
                if axis.scale == .log { marks.append(value) }
            }
        }
        for candidate in candidates.sorted(by: { ($0.rank, -$0.value) < ($1.rank, -$1.value) }) {
            let place = axis.fraction(of: candidate.value) * length
            if labelled.allSatisfy({ abs($0.place - place) >= spacing }) {
                labelled.append((Tick(value: candidate.value, label: hertz(candidate.value)), place))
            }
        }
        // A narrow range contains few such numbers.
        if labelled.count < 3 {
            let all = linear(range, length: length, spacing: spacing * 2, title: "").ticks
            var kept: [(tick: Tick, place: Double)] = []
            for tick in all where tick.value > 0 {
                let place = axis.fraction(of: tick.value) * length
                if kept.allSatisfy({ abs($0.place - place) >= spacing }) {
                    kept.append((Tick(value: tick.value, label: hertz(tick.value)), place))
                }
            }
            if kept.count > labelled.count { (labelled, marks) = (kept, []) }
        }
        // Marks without labels need a pixel between them.
        if axis.scale == .log, length / (log10(axis.maximum / axis.minimum)) < 3.5 * spacing { marks = [] }
        let plain = marks.filter { mark in !labelled.contains { $0.tick.value == mark } }.map { Tick(value: $0, label: "") }
        return Ticks(ticks: (labelled.map(\.tick) + plain).sorted { $0.value < $1.value }, title: "Frequency (Hz)")
    }

    /// `500`, `1k`, `2.5k`.
    static func hertz(_ value: Double) -> String {
        if value < 1000 { return value.text(decimals: value == value.rounded() ? 0 : 1) }
        let thousands = value / 1000
        for decimals in 0...2 where abs((thousands * pow(10, Double(decimals))).rounded() - thousands * pow(10, Double(decimals))) < 1e-6 {
            return thousands.text(decimals: decimals) + "k"
        }
        return thousands.text(decimals: 3) + "k"
    }

    /// 1, 2 or 5 times a power of ten.
    static func roundStep(atLeast least: Double) -> Double {
        guard least > 0, least.isFinite else { return 1 }
        let power = pow(10, log10(least).rounded(.down))
        for factor in [1.0, 2, 5] where factor * power >= least * (1 - 1e-9) { return factor * power }
        return 10 * power
    }

    /// The decimals that a multiple of the step needs.
    static func decimals(of step: Double) -> Int {
        max(0, Int(clamping: (-log10(step) - 1e-9).rounded(.up)))
    }

    private static func multiples(of step: Double, in range: ClosedRange<Double>) -> [Double] {
        let first = (range.lowerBound / step - 1e-6).rounded(.up)
        let last = (range.upperBound / step + 1e-6).rounded(.down)
        guard last >= first, last - first < 10_000 else { return [] }
        return (0...Int(last - first)).map { (first + Double($0)) * step + 0 }
    }
}

/// The format of times: seconds up to a minute, minutes and seconds up to an hour, else hours.
struct TimeStyle {
    private let decimals: Int
    private let hasMinutes: Bool
    private let hasHours: Bool
    private let hasSeconds: Bool

    /// - Parameters:
    ///   - end: The largest time, in seconds.
    ///   - step: The distance of two times, in seconds.
    init(end: Double, step: Double) {
        decimals = Ticks.decimals(of: step)
        hasMinutes = end >= 60
        hasHours = end >= 3600
        hasSeconds = !hasHours || step < 60
    }

    var unit: String {
        hasHours ? (hasSeconds ? "h:mm:ss" : "h:mm") : hasMinutes ? "m:ss" : "s"
    }

    func text(_ seconds: Double) -> String {
        guard hasMinutes else { return seconds.text(decimals: decimals) }
        let scale = pow(10, Double(decimals))
        // Rounded first, so that 59.96 becomes 1:00.0.
        let units = (seconds * scale).rounded()
        let whole = Int64(clamping: units / scale)
        let rest = units - Double(whole) * scale
        let fraction = decimals == 0 ? "" : "." + padded(Int64(clamping: rest), decimals)
        let (hours, minutes, second) = (whole / 3600, whole / 60 % 60, whole % 60)
        if !hasHours { return "\(whole / 60):\(padded(second, 2))\(fraction)" }
        return "\(hours):\(padded(minutes, 2))" + (hasSeconds ? ":\(padded(second, 2))\(fraction)" : "")
    }

    private func padded(_ number: Int64, _ width: Int) -> String {
        let text = "\(number)"
        return String(repeating: "0", count: max(0, width - text.count)) + text
    }
}

extension Double {
    /// With exactly so many decimals; the minus sign is U+2212, and zero has none.
    func text(decimals: Int) -> String {
        let scale = pow(10, Double(decimals))
        // Below, a double has all of the digits.
        guard isFinite, magnitude * scale < 1e15 else { return "\(self)" }
        let units = Int64((magnitude * scale).rounded())
        let digits = "\(units)"
        let padded = String(repeating: "0", count: max(0, decimals + 1 - digits.count)) + digits
        let text = decimals == 0 ? padded : "\(padded.dropLast(decimals)).\(padded.suffix(decimals))"
        return self < 0 && units > 0 ? "\u{2212}\(text)" : text
    }
}
