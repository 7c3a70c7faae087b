/// The limits of a picture on a tab. The picture is checked before it is decoded.
public enum TabIcon {
    /// Maximum size of the file in bytes.
    public static let sizeLimit = 1 << 20
    /// Maximum width and height of a PNG image in pixels: the decoder holds all of them in memory.
    public static let sideLimit = 1024
    /// The width and height of the picture on the tab, in logical pixels.
    public static let side = 16

    private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    private static let headerLength = 24
    /// An SVG file has its root element within this number of bytes.
    private static let startLength = 4096

    /// Why a file is not decoded; nil: it is a PNG image within the limits, or an SVG image.
    ///
    /// - Parameter bytes: The file, at most ``sizeLimit`` bytes of it and one more.
    public static func problem(of bytes: [UInt8]) -> String? {
        if bytes.count > sizeLimit { return "larger than \(sizeLimit >> 20) MiB" }
        if bytes.starts(with: signature) {
            guard bytes.count >= headerLength, bytes[12..<16].elementsEqual("IHDR".utf8) else { return "damaged PNG file" }
            let (width, height) = (number(bytes[16..<20]), number(bytes[20..<24]))
            guard width > 0, height > 0 else { return "damaged PNG file" }
            return max(width, height) > sideLimit ? "\(width)×\(height) pixels; the maximum is \(sideLimit)×\(sideLimit)" : nil
        }
        let start = String(decoding: bytes.prefix(startLength), as: UTF8.self)
        let isMarkup = start.drop { $0.isWhitespace || $0 == "\u{FEFF}" }.hasPrefix("<")
        return isMarkup && start.contains("<svg") ? nil : "not a PNG or SVG file"
    }

    /// A number of four bytes, the most significant first.
    private static func number(_ bytes: ArraySlice<UInt8>) -> Int {
        bytes.reduce(0) { $0 << 8 | Int($1) }
    }
}
