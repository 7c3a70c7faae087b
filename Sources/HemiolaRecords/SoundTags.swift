/// The tags of a sound file. Each is nil where the file has none.
public struct SoundTags: Sendable, Hashable {
    /// The title of the piece.
    public var title: String?
    /// The artist or composer.
    public var artist: String?
    /// The album.
    public var album: String?
    /// The track as the file states it: `7`, `7/12`, `A1`.
    public var track: String?
    /// The genre.
    public var genre: String?
    /// The year of the file's date.
    public var year: Int?

    /// The longest text in bytes of UTF-8. The rest of a longer one is dropped.
    public static let longestText = 1024

    /// No tags.
    public init() {}

    /// Adds the tags of another set that are missing here.
    public mutating func fill(from other: SoundTags) {
        title = title ?? other.title
        artist = artist ?? other.artist
        album = album ?? other.album
        track = track ?? other.track
        genre = genre ?? other.genre
        year = year ?? other.year
    }

    /// Whether there is none.
    public var isEmpty: Bool { self == SoundTags() }

    /// The text of a tag: at most ``longestText`` bytes, without white space at its ends, U+FFFD for what is not UTF-8.
    ///
    /// - Parameter bytes: The bytes in the file, up to the first zero.
    /// - Returns: The text; nil when it is empty.
    public static func text(of bytes: some Sequence<UInt8>) -> String? {
        let whitespace: Set<UInt8> = [0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x20]
        var bytes = Array(bytes.prefix { $0 != 0 }.drop { whitespace.contains($0) }.prefix(longestText + 1))
        if bytes.count > longestText {
            // A scalar that the limit divides is dropped as a whole: its bytes after the first one begin with the bits 10.
            var end = longestText
            while end > longestText - 4, bytes[end] & 0xc0 == 0x80 { end -= 1 }
            bytes.removeLast(bytes.count - end)
        }
        while let last = bytes.last, whitespace.contains(last) { bytes.removeLast() }
        return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }

    /// The year of a date: its first four digits in a row.
    ///
    /// - Returns: The year, as in 1998 for `1998-05-01`; nil when there are no four digits in a row.
    public static func year(of date: String) -> Int? {
        date.split { !("0"..."9").contains($0) }.first { $0.utf8.count >= 4 }.flatMap { Int($0.prefix(4)) }
    }
}
