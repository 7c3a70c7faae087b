internal import HemiolaPictures

/// A choice of colours, by its name in settings.
enum ViewTheme: String, CaseIterable, Sendable {
    /// For a dark room, for daylight, and the colours that the terminal's user has chosen.
    case dark, light, terminal

    var colors: ViewColors {
        switch self {
        case .dark: .dark
        case .light: .light
        case .terminal: .terminal
        }
    }
}

/// The colours of the view.
struct ViewColors: Sendable {
    let background: ScreenColor
    let text: ScreenColor
    /// Labels, axes, and what is not there.
    let dim: ScreenColor
    /// Values, and the selected layout.
    let accent: ScreenColor
    /// A beat when it sounds.
    let beat: ScreenColor
    /// The bars, from the bottom to the top.
    let gradient: [ScreenColor]
    /// The levels of the spectrogram from low to high; nil: heights of blocks stand for them.
    let map: [ScreenColor]?

    fileprivate static let dark = ViewColors(
        background: .rgb(0x0B0E14), text: .rgb(0xD5D9E2), dim: .rgb(0x5B6472), accent: .rgb(0x7FD1FF), beat: .rgb(0xFFD166),
        gradient: [0x2B6CB0, 0x2C9FC7, 0x2FC6A3, 0x9BD34A, 0xF6C945, 0xF2734A].map { .rgb($0) },
        map: ColorMap.magma.colors.map { .rgb($0) })
    fileprivate static let light = ViewColors(
        background: .rgb(0xFAFAF7), text: .rgb(0x22262E), dim: .rgb(0x8A919C), accent: .rgb(0x0B63A5), beat: .rgb(0xC2410C),
        gradient: [0x1D4E89, 0x1F7A8C, 0x2A8F62, 0x6F9D1B, 0xB98309, 0xB93815].map { .rgb($0) },
        map: ColorMap.magma.colors.reversed().map { .rgb($0) })
    fileprivate static let terminal = ViewColors(
        background: .standard, text: .standard, dim: .ansi(8), accent: .ansi(6), beat: .ansi(11),
        gradient: [4, 6, 2, 2, 3, 1].map { .ansi($0) }, map: nil)

    /// The colour of the bars at a height, 0…1.
    func color(at height: Float) -> ScreenColor {
        let place = height.clamped(to: 0...1) * Float(gradient.count - 1)
        let index = min(Int(place), gradient.count - 2)
        return gradient[index].mixed(with: gradient[index + 1], share: place - Float(index))
    }
}
