/// The colour of a pixel: linear light, 0…1 each.
struct Color: Equatable {
    var red: Float
    var green: Float
    var blue: Float

    static let black = Color(red: 0, green: 0, blue: 0)

    init(red: Float, green: Float, blue: Float) {
        (self.red, self.green, self.blue) = (red, green, blue)
    }

    /// A saturated colour.
    ///
    /// - Parameters:
    ///   - hue: In turns: 0 red, 1/3 green, 2/3 blue, 1 red again.
    ///   - value: 0…1.
    init(hue: Float, value: Float) {
        let turn = (hue - hue.rounded(.down)) * 6
        /// 1 within a sixth of a turn of the colour, then linear to 0.
        func share(_ center: Float) -> Float {
            let distance = min(abs(turn - center), 6 - abs(turn - center))
            return value * min(max(2 - distance, 0), 1)
        }
        self.init(red: share(0), green: share(2), blue: share(4))
    }

    /// The largest component.
    var brightness: Float { max(red, green, blue) }

    /// Every component times a factor.
    static func * (color: Color, factor: Float) -> Color {
        Color(red: color.red * factor, green: color.green * factor, blue: color.blue * factor)
    }
}
