/// The size, the axes, the panels and the colours of a picture.
public struct PictureOptions: Sendable, Equatable {
    /// The format of the file.
    public enum Format: String, CaseIterable, Sendable {
        /// Pixels.
        case png
        /// Vectors, with the spectrogram as an image.
        case svg
        /// Vectors, with the spectrogram as an image; one page.
        case pdf
    }

    /// One of the parts of a picture, which lie below each other and share a time axis.
    public enum Panel: String, CaseIterable, Sendable {
        /// The level at each time and frequency, as colour.
        case spectrogram
        /// The strength of each pitch class at each time, as colour.
        case chroma
        /// The smallest and largest sample and the RMS level of each pixel column.
        case waveform
        /// The tempo at each beat.
        case tempo
    }

    /// The rows of labels between the last panel and the time axis.
    public enum LabelRow: String, CaseIterable, Sendable {
        /// The musical key.
        case key
        /// The chords.
        case chords
        /// The segments of the music's form.
        case segments
        /// The phrases, as braces with the number of their bars.
        case phrases
    }

    /// The colours of everything but the spectrogram.
    public enum Theme: String, CaseIterable, Sendable {
        /// Dark text on white.
        case light
        /// Bright text on a dark grey.
        case dark
    }

    /// Smallest and largest width and height.
    public static let sizes = 16...16_384
    /// The most pixels of a picture and of the image of a spectrogram: 32 Mi.
    public static let largestArea = 1 << 25
    /// Smallest and largest resolution.
    public static let resolutions = 24...1200

    /// The format of the file.
    public var format = Format.png
    /// In pixels, in points for vectors.
    public var width = 1600
    /// In pixels, in points for vectors.
    public var height = 900
    /// Pixels per inch; nil: 96 for PNG, 144 for the image of the spectrogram among vectors. The text of a PNG has 12 pixels at 96.
    public var resolution: Int?
    /// The colours of the spectrogram.
    public var colorMap = ColorMap.magma
    /// The spacing of the frequency axis.
    public var scale = FrequencyScale.log
    /// The lower end of the frequency axis in hertz; nil: 30 on a logarithmic axis, else 0.
    public var minimumFrequency: Double?
    /// The upper end of the frequency axis in hertz; nil: 20 000, or half the sample rate if that is lower.
    public var maximumFrequency: Double?
    /// The levels that the colours show, in decibels below the highest.
    public var range = 80.0
    /// From top to bottom; each at most once.
    public var panels: [Panel] = [.spectrogram, .waveform, .tempo]
    /// The rows of labels, from top to bottom; each at most once.
    public var labelRows: [LabelRow] = []
    /// The colours of everything but the spectrogram.
    public var theme = Theme.light
    /// Whether beats and bars are drawn.
    public var showsBeats = true

    /// The default options.
    public init() {}

    /// The factor of text sizes, margins and line widths, which are in units of 1/96 inch.
    var unit: Double { format == .png ? Double(resolution ?? 96) / 96 : 1 }
    /// Pixels of the spectrogram per pixel or point of the picture.
    var imageScale: Double { format == .png ? 1 : Double(resolution ?? 144) / 72 }

    /// Why a picture cannot have these options; nil if it can.
    public var fault: String? {
        guard Self.sizes.contains(width), Self.sizes.contains(height) else {
            return "the size \(width)x\(height) is outside of \(Self.sizes.lowerBound)...\(Self.sizes.upperBound)"
        }
        if let resolution, !Self.resolutions.contains(resolution) {
            return "the resolution \(resolution) is outside of \(Self.resolutions.lowerBound)...\(Self.resolutions.upperBound) dpi"
        }
        let pixels = Double(width * height) * imageScale * imageScale
        if pixels > Double(Self.largestArea) {
            return "the picture would have \(Int(pixels / 1e6)) million pixels, more than \(Self.largestArea / 1_000_000)"
        }
        if panels.isEmpty { return "there is no panel" }
        if Set(panels).count < panels.count { return "a panel is named twice" }
        if Set(labelRows).count < labelRows.count { return "a row of labels is named twice" }
        if !(5...200).contains(range) { return "the range \(range) is outside of 5...200 dB" }
        if let low = minimumFrequency, !(0...192_000).contains(low) { return "the frequency \(low) is outside of 0...192000 Hz" }
        if let high = maximumFrequency, !(20...192_000).contains(high) { return "the frequency \(high) is outside of 20...192000 Hz" }
        if scale == .log, let low = minimumFrequency, low < 1 { return "a logarithmic axis begins at 1 Hz or above" }
        if let low = minimumFrequency, let high = maximumFrequency, high < 2 * low {
            return "the upper end of the frequency axis, \(high) Hz, is less than twice the lower end, \(low) Hz"
        }
        return nil
    }
}
