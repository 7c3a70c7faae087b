/// How the files of a ``DocumentFile`` are written.
public struct FileOptions: Sendable {
    /// The parts from which a file is readable.
    public enum Kind: Sendable {
        /// Each line.
        case lines
        /// Each line. Line breaks between double quotes are part of a line, as in CSV.
        case table
        /// Only the complete file, which then appears at its path, also in real time.
        case whole
        /// The samples that the header states, which is written again. Neither compressed nor appended to.
        case sound
    }

    /// What one file can hold.
    public enum Capacity: Sendable {
        /// Any number of inputs.
        case inputs
        /// One input. A live run is one, whatever the devices and formats of its streams.
        case input
        /// One stream. A recording continues in a further file when its device or its format changes.
        case stream
    }

    /// The parts from which a file is readable.
    public var kind: Kind
    /// What one file can hold.
    public var capacity: Capacity
    /// Whether to append to existing files; nil: the sink has no setting `append`, which messages then do not suggest.
    public var appends: Bool?
    /// When lines are written.
    public var flush: FlushPolicy
    /// Which files are compressed. In real time none can be, unless they are whole.
    public var compression: CompressionChoice
    /// The zstd level of compressed files.
    public var level: Int
    /// When a recording continues in a new file.
    public var rotation: FileRotation

    /// Options; by default for lines that are not compressed unless the path ends in `.zst`, and not rotated.
    public init(
        _ kind: Kind = .lines, capacity: Capacity = .inputs, appends: Bool? = nil, flush: FlushPolicy = .auto,
        compression: CompressionChoice = .auto, level: Int = Compression.standardLevel, rotation: FileRotation = FileRotation()
    ) {
        self.kind = kind
        self.capacity = capacity
        self.appends = appends
        self.flush = flush
        self.compression = compression
        self.level = level
        self.rotation = rotation
    }
}
