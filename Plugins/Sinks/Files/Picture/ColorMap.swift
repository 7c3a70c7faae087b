/// A colour map: 256 colours from the lowest to the highest level.
///
/// Perceptually uniform: equal differences of level are equal differences of lightness, also for colour-blind readers and in print.
public enum ColorMap: String, CaseIterable, Sendable {
    /// Dark violet, green, yellow.
    case viridis
    /// Black, violet, orange, pale yellow.
    case magma
    /// Black, violet, red, yellow.
    case inferno
    /// Dark blue, grey, yellow; nearly the same for readers with red-green colour blindness.
    case cividis
    /// Black to white.
    case gray
    /// White to black, for paper.
    case grayReversed = "gray-reversed"

    /// The colours as 0xRRGGBB, 256 of them.
    ///
    /// - Complexity: O(1): 256 interpolations.
    public var colors: [UInt32] {
        switch self {
        case .gray: return (0..<256).map { $0 * 0x010101 }
        case .grayReversed: return (0..<256).map { (255 - $0) * 0x010101 }
        case .viridis, .magma, .inferno, .cividis: break
        }
        let entries = Self.bytes(of: table)
        return (0..<256).map { index in
            // The last of the 52 entries has the index 51.
            let (entry, rest) = (index / 5, index % 5)
            var color: UInt32 = 0
            for channel in 0..<3 {
                let low = entries[entry * 3 + channel]
                let high = rest == 0 ? low : entries[(entry + 1) * 3 + channel]
                color = color << 8 | UInt32((low * (5 - rest) + high * rest + 2) / 5)
            }
            return color
        }
    }

    private static func bytes(of text: StaticString) -> [Int] {
        let digits = text.withUTF8Buffer { $0.map { $0 >= 0x61 ? Int($0) - 0x61 + 10 : Int($0) - 0x30 } }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] * 16 + digits[$0 + 1] }
    }

    /// Every fifth colour, RRGGBB in hexadecimal digits. The colours between are interpolated: at most 2 of 255 from the published tables
    /// (cividis: 4).
    ///
    /// viridis, magma and inferno: N. Smith, S. van der Walt and E. Firing, 2015. cividis: J. Nuñez, C. Anderton and R. Renslow, PLOS ONE
    /// 13(7), 2018. All are in the public domain (CC0).
    private var table: StaticString {
        switch self {
        case .viridis:
            """
            44015446085c471063481769481d6f482475472a7a46307e453781433d844142873f48893d4e8a3a538b38598c355e8d33638d31688e\
            2e6d8e2c718e2a768e297b8e27808e25848e23898e218e8d20928c1f978b1e9c891fa18821a58524aa8328ae802eb37c35b7793dbc74\
            46c06f50c46a5ac86465cb5e70cf577cd25089d54895d840a2da37b0dd2fbddf26cae11fd8e219e5e419f1e51dfde725
            """
        case .magma:
            """
            00000402020b0504160907200e0b2b140e361a104221114e29115a311165390f6e420f754a107952137c5a167e6219806a1c81721f81\
            792282812581892881912b81992d80a1307eaa337db2357bba3878c23b75ca3e72d2426fd9466be04c67e75263ec5860f1605df4695c\
            f7725cf97b5dfb8560fc8e64fd9869fea16efeaa74feb47bfebd82fec68afecf92fed89afde2a3fdebacfcf4b6fcfdbf
            """
        case .inferno:
            """
            00000402020c0504170a072210092d160b391e0c45260c512f0a5b380962400a67490b6a510e6c59106e61136e69166e71196e781c6d\
            801f6c88226a902568982766a02a63a82e5fb0315bb73557bf3952c63d4dcc4248d34743d94d3ddf5337e45a31e9612bed6925f1711f\
            f47918f78212f98b0bfa9407fb9d07fca60cfcb014fbba1ffac42af8cd37f6d746f4e156f2ea69f2f27df5f992fcffa4
            """
        case .cividis:
            """
            00224e002656002a5f002d68003070083370163770203a6f273e6e2e416d34456c3a486c3f4c6c444f6c49536c4e566c535a6d575d6d\
            5c616e60646f656870696b716d6f727272747676767a7a787e7d788381798885788d8878928c789690779b9476a09875a59c74aaa073\
            afa471b5a86fbaac6dbfb06bc4b468c9b965cfbd62d4c15fdac65bdfca57e5cf52ead34cf0d846f6dd3ffce236fee838
            """
        case .gray, .grayReversed: ""
        }
    }
}
