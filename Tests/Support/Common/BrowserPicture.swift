public import Foundation

/// The pixels of a screenshot or canvas.
public struct BrowserPicture: Sendable, Equatable {
    public var width: Int
    public var height: Int
    /// Red, green, blue and alpha of each pixel, row by row from the top, not premultiplied.
    public var bytes: [UInt8]

    /// The mean difference of red, green and blue to a picture of the same size: 0 (equal) to 255.
    public func difference(to other: BrowserPicture) -> Double {
        precondition(width == other.width && height == other.height, "pictures of different sizes")
        var sum = 0
        for index in bytes.indices where index % 4 < 3 { sum += abs(Int(bytes[index]) - Int(other.bytes[index])) }
        return Double(sum) / Double(max(1, bytes.count / 4 * 3))
    }

    /// The mean of red, green and blue: 0 (black) to 255.
    public var brightness: Double {
        var sum = 0
        for index in bytes.indices where index % 4 < 3 { sum += Int(bytes[index]) }
        return Double(sum) / Double(max(1, bytes.count / 4 * 3))
    }

    /// The number of different colours.
    public var colourCount: Int {
        var colours: Set<UInt32> = []
        for index in stride(from: 0, to: bytes.count, by: 4) {
            colours.insert(UInt32(bytes[index]) << 16 | UInt32(bytes[index + 1]) << 8 | UInt32(bytes[index + 2]))
        }
        return colours.count
    }

    /// The colour of a pixel as red, green, blue and alpha.
    public subscript(x: Int, y: Int) -> [UInt8] {
        let start = (y * width + x) * 4
        return Array(bytes[start..<start + 4])
    }
}

extension BrowserPage {
    /// A screenshot of the viewport as PNG.
    ///
    /// - Parameter isTransparent: Whether the page's background is transparent where it has no colour, instead of white.
    public func screenshot(isTransparent: Bool = false) throws -> Data {
        if isTransparent {
            try call("Emulation.setDefaultBackgroundColorOverride", ["color": ["r": 0, "g": 0, "b": 0, "a": 0]])
        }
        defer { if isTransparent { _ = try? call("Emulation.setDefaultBackgroundColorOverride") } }
        let result = try call("Page.captureScreenshot", ["format": "png"], timeout: 120)
        guard let text = result["data"] as? String, let data = Data(base64Encoded: text) else {
            throw Browser.Failure(description: "no screenshot")
        }
        return data
    }

    /// The pixels of the viewport.
    public func picture(isTransparent: Bool = false) throws -> BrowserPicture {
        let png = try screenshot(isTransparent: isTransparent)
        return try browser?.decode(png: png) ?? decode(png: png)
    }

    /// Decodes a PNG in this page, which must have no content security policy.
    func decode(png: Data) throws -> BrowserPicture {
        let decoded = try evaluate(
            """
            (async () => {
                const bytes = Uint8Array.from(atob('\(png.base64EncodedString())'), c => c.charCodeAt(0));
                const image = await createImageBitmap(new Blob([bytes], {type: 'image/png'}), {premultiplyAlpha: 'none'});
                const canvas = new OffscreenCanvas(image.width, image.height);
                const context = canvas.getContext('2d', {willReadFrequently: true});
                context.drawImage(image, 0, 0);
                const pixels = context.getImageData(0, 0, image.width, image.height).data;
                let text = '';
                for (let i = 0; i < pixels.length; i += 8192) text += String.fromCharCode(...pixels.subarray(i, i + 8192));
                return {width: image.width, height: image.height, pixels: btoa(text)};
            })()
            """, as: Decoded.self)
        guard let pixels = Data(base64Encoded: decoded.pixels) else { throw Browser.Failure(description: "no pixels") }
        return BrowserPicture(width: decoded.width, height: decoded.height, bytes: Array(pixels))
    }

    private struct Decoded: Decodable {
        var width: Int
        var height: Int
        var pixels: String
    }
}
