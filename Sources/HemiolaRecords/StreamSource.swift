public import HemiolaSignal
internal import HemiolaSystem

/// An open source and its format.
public struct StreamSource: Sendable, Hashable {
    /// The actual format.
    public var format: StreamFormat
    /// The id of the capture plugin: `file`, `pulse` …
    public var kind: String
    /// Its name for users: the path as given, the device's name.
    public var name: String
    /// The bytes of a path that is not UTF-8; nil for all other names.
    public var nameBytes: [UInt8]?
    /// Length in seconds as the source states it; nil when unknown or endless.
    public var duration: Double?
    /// Where in the source the stream begins, in seconds, when not at its start; nil: at its start.
    public var start: Double?
    /// The tags of a sound file, such as its title and its artist; empty for every other source.
    public var tags: SoundTags

    /// A source from its parts.
    public init(
        format: StreamFormat, kind: String, name: String, nameBytes: [UInt8]? = nil, duration: Double? = nil, start: Double? = nil,
        tags: SoundTags = SoundTags()
    ) {
        self.tags = tags
        self.format = format
        self.kind = kind
        self.name = name
        self.nameBytes = nameBytes
        self.duration = duration
        self.start = start
    }

    /// A source that is named by a path, whose text is as `PathText` makes it.
    public init(
        format: StreamFormat, kind: String, path: String, duration: Double? = nil, start: Double? = nil, tags: SoundTags = SoundTags()
    ) {
        self.init(
            format: format, kind: kind, name: PathText.shown(path), nameBytes: PathText.nonUTF8Bytes(of: path), duration: duration,
            start: start, tags: tags)
    }
}
