/// A colour with opacity, each component 0…1.
struct Color: Equatable {
    var red: Double
    var green: Double
    var blue: Double
    var alpha = 1.0

    /// - Parameter rgb: 0xRRGGBB.
    init(_ rgb: UInt32, alpha: Double = 1) {
        red = Double(rgb >> 16 & 255) / 255
        green = Double(rgb >> 8 & 255) / 255
        blue = Double(rgb & 255) / 255
        self.alpha = alpha
    }
}

/// The colours of everything but the spectrogram.
struct Palette {
    let background: Color
    let panel: Color
    let text: Color
    let faintText: Color
    let frame: Color
    let grid: Color
    /// Parts without audio.
    let gap: Color
    let envelope: Color
    let rms: Color
    let zeroLine: Color
    let beat: Color
    let bar: Color
    let tempo: Color
    /// Beats, bars and notes above the spectrogram: white, or black where the lowest level is white.
    let overlay: UInt32
    /// The fundamental frequency above the spectrogram: a hue that the colour map does not have.
    let pitch: Color
    /// The opacity of the labels' backgrounds.
    let labelAlpha: Double

    init(_ theme: PictureOptions.Theme, _ map: ColorMap) {
        overlay = map == .grayReversed ? 0x000000 : 0xFFFFFF
        pitch =
            switch map {
            case .magma, .inferno, .gray: Color(0x5CE6FF)
            case .viridis, .cividis: Color(0xFF6FB5)
            case .grayReversed: Color(0xD6006E)
            }
        switch theme {
        case .light:
            labelAlpha = 0.55
            background = Color(0xFFFFFF)
            panel = Color(0xFFFFFF)
            text = Color(0x1F2328)
            faintText = Color(0x5B636D)
            frame = Color(0x6E7781)
            grid = Color(0xE4E7EB)
            gap = Color(0xD0D5DB)
            envelope = Color(0x8FB4E3)
            rms = Color(0x2F64B5)
            zeroLine = Color(0x2F64B5, alpha: 0.6)
            beat = Color(0x1F2328, alpha: 0.13)
            bar = Color(0xC2410C, alpha: 0.6)
            tempo = Color(0xB4470B)
        case .dark:
            labelAlpha = 0.4
            background = Color(0x14161A)
            panel = Color(0x0D0F12)
            text = Color(0xE3E6EA)
            faintText = Color(0x9AA3AE)
            frame = Color(0x7D8590)
            grid = Color(0x262B32)
            gap = Color(0x3A4149)
            envelope = Color(0x33619E)
            rms = Color(0x8FBEF7)
            zeroLine = Color(0x8FBEF7, alpha: 0.6)
            beat = Color(0xFFFFFF, alpha: 0.13)
            bar = Color(0xFFA657, alpha: 0.6)
            tempo = Color(0xFFB26B)
        }
    }
}
