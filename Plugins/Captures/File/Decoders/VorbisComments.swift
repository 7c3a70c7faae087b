internal import HemiolaRecords

/// A comment of FLAC, Vorbis, Opus or Speex: a key, "=" and a value.
struct VorbisComment<Value: Collection<UInt8>> {
    /// In upper case, because upper and lower case mean the same.
    let key: String
    /// UTF-8, unless the file is wrong.
    let value: Value

    /// Longer than every key that is looked for.
    private static var longestKey: Int { 64 }

    /// Divides a comment; nil when it has no "=" after a key.
    init?<Comment: Collection<UInt8>>(_ comment: Comment) where Comment.SubSequence == Value {
        guard let separator = comment.prefix(Self.longestKey + 1).firstIndex(of: UInt8(ascii: "=")) else { return nil }
        key = String(decoding: comment[..<separator], as: UTF8.self).uppercased()
        value = comment[comment.index(after: separator)...]
    }
}

extension SoundTags {
    /// The tags that Vorbis comments state. Of several comments with the same key, the first that is not empty counts.
    ///
    /// - Parameter comments: "KEY=value", as in the file.
    init(vorbisComments comments: some Sequence<some Collection<UInt8>>) {
        self.init()
        for comment in comments {
            guard let comment = VorbisComment(comment) else { continue }
            var text: String? { Self.text(of: comment.value) }
            switch comment.key {
            case "TITLE": title = title ?? text
            case "ARTIST": artist = artist ?? text
            case "ALBUM": album = album ?? text
            case "TRACKNUMBER": track = track ?? text
            case "GENRE": genre = genre ?? text
            case "DATE", "YEAR": year = year ?? text.flatMap(Self.year)
            default: break
            }
        }
    }
}
