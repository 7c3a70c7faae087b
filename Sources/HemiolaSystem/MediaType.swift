/// The media type of a file, by the extension of its name.
public struct MediaType: Sendable, Hashable {
    private static let types: [String: String] = [
        "html": "text/html", "htm": "text/html", "css": "text/css", "js": "text/javascript", "mjs": "text/javascript",
        "json": "application/json", "map": "application/json", "wasm": "application/wasm", "txt": "text/plain", "md": "text/plain",
        "csv": "text/plain", "ts": "text/plain", "glsl": "text/plain", "frag": "text/plain", "vert": "text/plain", "milk": "text/plain",
        "xml": "application/xml", "svg": "image/svg+xml", "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg",
        "gif": "image/gif", "webp": "image/webp", "avif": "image/avif", "ico": "image/x-icon", "woff": "font/woff",
        "woff2": "font/woff2", "ttf": "font/ttf", "otf": "font/otf", "mp3": "audio/mpeg", "ogg": "audio/ogg", "oga": "audio/ogg",
        "wav": "audio/wav", "flac": "audio/flac", "mp4": "video/mp4", "m4v": "video/mp4", "webm": "video/webm",
        "webmanifest": "application/manifest+json",
    ]

    /// The type, without a character set: `text/html`.
    public let text: String

    /// The type of a file of this name; `application/octet-stream` for an unknown extension.
    public init(ofFile name: some StringProtocol) {
        let dot = name.lastIndex(of: ".")
        let suffix = dot.map { name[name.index(after: $0)...].lowercased() } ?? ""
        text = Self.types[suffix] ?? "application/octet-stream"
    }

    /// Whether it is the type of an HTML page.
    public var isHTML: Bool { text == "text/html" }

    /// The type with the character set of text that is UTF-8.
    public var withCharacterSet: String { text.hasPrefix("text/") ? "\(text); charset=utf-8" : text }
}
