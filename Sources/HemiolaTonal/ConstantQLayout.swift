internal import Glibc

/// The bins of a constant-Q transform: their frequencies, and the length and position of the window of each.
public struct ConstantQLayout: Sendable, Hashable {
    /// Where the windows of the bins lie in time.
    public enum Alignment: Sendable, Hashable {
        /// Each window ends with the newest frame: the delay of a bin is half its window, and short windows have a short delay.
        case newest
        /// All windows have the same centre, half the longest window before the newest frame.
        case centered
    }

    /// The frequency of bin 0, in hertz.
    public let lowest: Double
    /// Bins per octave.
    public let binsPerOctave: Int
    /// The number of bins.
    public let count: Int
    /// The quality factor: cycles of a bin's frequency under its window.
    public let quality: Double
    /// The longest window, in seconds. Bins whose windows would be longer have a lower quality factor.
    public let longestWindow: Double
    /// Where the windows lie in time.
    public let alignment: Alignment

    /// A layout.
    ///
    /// - Parameters:
    ///   - lowest: The frequency of bin 0, in hertz, above 0.
    ///   - binsPerOctave: Bins per octave, 1 or more.
    ///   - count: The number of bins.
    ///   - quality: The quality factor; nil: the width of the main lobe at −6 dB is about twice the distance of two bins, as in librosa.
    ///   - longestWindow: The longest window, in seconds.
    ///   - alignment: Where the windows lie in time.
    public init(
        lowest: Double, binsPerOctave: Int, count: Int, quality: Double? = nil, longestWindow: Double, alignment: Alignment = .newest
    ) {
        precondition(lowest > 0 && binsPerOctave > 0 && count >= 0 && longestWindow > 0, "a layout has positive frequencies and windows")
        self.lowest = lowest
        self.binsPerOctave = binsPerOctave
        self.count = count
        self.quality = quality ?? Self.quality(binsPerOctave: binsPerOctave)
        self.longestWindow = longestWindow
        self.alignment = alignment
    }

    /// librosa's quality factor for windows of full length: 1/α with α = (r² − 1)/(r² + 1), r being the ratio of neighbouring bins.
    public static func quality(binsPerOctave: Int) -> Double {
        let square = exp2(2 / Double(binsPerOctave))
        return (square + 1) / (square - 1)
    }

    /// The frequency of a bin, in hertz.
    public func frequency(of bin: Int) -> Double {
        lowest * exp2(Double(bin) / Double(binsPerOctave))
    }

    /// The length of a bin's window, in seconds.
    public func window(of bin: Int) -> Double {
        min(longestWindow, quality / frequency(of: bin))
    }

    /// The time from the centre of a bin's window to the newest frame, in seconds.
    public func delay(of bin: Int) -> Double {
        (alignment == .newest ? window(of: bin) : longestWindow) / 2
    }

    /// The number of bins whose pass band lies below a frequency: those that a stream with this Nyquist frequency can contain.
    public func count(below nyquist: Double) -> Int {
        (0..<count).first { frequency(of: $0) * (1 + 1 / quality) > nyquist } ?? count
    }
}
