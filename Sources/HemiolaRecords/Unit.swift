/// The unit of a feature. It also settles how many digits are written.
public struct Unit: RawRepresentable, Sendable, Hashable, ExpressibleByStringLiteral {
    /// As the header prints it.
    public let rawValue: String
    /// Whether numbers are written with all digits, whatever the unit. Units are equal without regard to it.
    public private(set) var hasAllDigits = false

    /// The same unit for numbers that are written with all digits: those of programs that are compared with others.
    public var withAllDigits: Unit {
        var unit = self
        unit.hasAllDigits = true
        return unit
    }

    public static func == (one: Unit, other: Unit) -> Bool { one.rawValue == other.rawValue }

    public func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }

    public init(rawValue: String) { self.rawValue = rawValue }
    public init(stringLiteral value: String) { rawValue = value }

    /// Decibels relative to full scale: 0 is an amplitude of 1, so that a sine of full scale has a peak of 0 and an RMS level of −3.01.
    /// The floor is −120.
    public static let decibels: Unit = "dBFS"
    /// Decibels relative to full scale of the power per hertz. The floor is −120.
    public static let decibelsPerHertz: Unit = "dBFS/Hz"
    /// LUFS: loudness relative to full scale (EBU R 128, ITU-R BS.1770).
    public static let loudness: Unit = "LUFS"
    /// Difference between two loudnesses, in loudness units; 1 LU is 1 dB.
    public static let loudnessUnits: Unit = "LU"
    /// Decibels relative to full scale, of the true peak: the peak of the signal between its samples.
    public static let truePeak: Unit = "dBTP"
    /// Hertz: cycles or frames per second.
    public static let hertz: Unit = "Hz"
    /// Seconds.
    public static let seconds: Unit = "s"
    /// Milliseconds.
    public static let milliseconds: Unit = "ms"
    /// Beats per minute.
    public static let beatsPerMinute: Unit = "BPM"
    /// Linear amplitude; 1 is full scale.
    public static let amplitude: Unit = "amplitude"
    /// A quotient or a share without a unit of its own.
    public static let ratio: Unit = "ratio"
    /// A number without a unit.
    public static let none: Unit = ""

    /// How many digits of a number are written.
    public enum Digits: Sendable, Hashable {
        /// Rounded to so many decimals: 2, 3 or 6.
        case decimals(Int)
        /// Rounded to six significant digits.
        case significant
        /// The fewest digits that read back as the same 32-bit number: at most nine.
        case all
    }

    /// dB, LUFS, LU and dBTP three decimals, Hz two, seconds six, BPM two, everything else six significant digits; or all digits.
    public var digits: Digits {
        if hasAllDigits { return .all }
        return switch self {
        case .decibels, .decibelsPerHertz, .loudness, .loudnessUnits, .truePeak, "dB": .decimals(3)
        case .hertz, .beatsPerMinute: .decimals(2)
        case .seconds: .decimals(6)
        default: .significant
        }
    }
}
