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
    /// The audio track of a film that is read, where it has several; nil for every other source.
    public var audioTrack: AudioTrack?
    /// The tags of a sound file, such as its title and its artist; empty for every other source.
    public var tags: SoundTags

    /// One of the audio tracks of a film.
    public struct AudioTrack: Sendable, Hashable {
        /// 1…, in the order of the file.
        public var number: Int
        /// How many the file has.
        public var count: Int

        /// A track by its number.
        public init(number: Int, count: Int) { (self.number, self.count) = (number, count) }
    }

    /// A source from its parts.
    public init(
        format: StreamFormat, kind: String, name: String, nameBytes: [UInt8]? = nil, duration: Double? = nil, start: Double? = nil,
        audioTrack: AudioTrack? = nil, tags: SoundTags = SoundTags()
    ) {
        (self.audioTrack, self.tags) = (audioTrack, tags)
        self.format = format
        self.kind = kind
        self.name = name
        self.nameBytes = nameBytes
        self.duration = duration
        self.start = start
    }

    /// A source that is named by a path, whose text is as `PathText` makes it.
    public init(
        format: StreamFormat, kind: String, path: String, duration: Double? = nil, start: Double? = nil,
        audioTrack: AudioTrack? = nil, tags: SoundTags = SoundTags()
    ) {
        self.init(
            format: format, kind: kind, name: PathText.shown(path), nameBytes: PathText.nonUTF8Bytes(of: path), duration: duration,
            start: start, audioTrack: audioTrack, tags: tags)
    }
}
