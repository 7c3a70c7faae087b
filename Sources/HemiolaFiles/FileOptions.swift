public import Hemiola

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
    public var compression: Compression
    /// The zstd level of compressed files.
    public var level: Int
    /// Stream time per file in seconds, after which a recording continues in a new one; nil: no limit.
    public var rotation: Double?

    /// Options; by default for lines that are not compressed unless the path ends in `.zst`, and not rotated.
    public init(
        _ kind: Kind = .lines, capacity: Capacity = .inputs, appends: Bool? = nil, flush: FlushPolicy = .auto,
        compression: Compression = .auto, level: Int = Compression.standardLevel, rotation: Double? = nil
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

extension FileOptions {
    private static let rotationKey = "rotate_s"

    /// The settings of a sink that writes lines: `append`, `flush`, `compress`, `level` and `rotate_s`.
    ///
    /// - Parameters:
    ///   - kind: The parts from which a file is readable.
    ///   - read: Reads the settings, in this order.
    ///   - line: The sink's word for a line, in the singular: `line`, `row`.
    ///   - append: What `append` does, in one sentence for the help.
    ///   - compress: What `compress` does, in one sentence for the help; it depends on whether the sink writes one file or several.
    public init(_ kind: Kind, _ read: inout SettingReader, each line: String, append: String, compress: String) {
        self.init(
            kind, appends: read.boolean("append", default: false, append),
            flush: read.choice(
                "flush", default: FlushPolicy.auto,
                "Write after each \(line) (line) or in blocks of 64 KiB (block); auto: line when live, else block."),
            compression: read.compression(compress), level: read.compressionLevel(), rotation: Self.rotation(&read))
    }

    /// The setting `rotate_s`, by default none.
    public static func rotation(_ read: inout SettingReader) -> Double? {
        read.seconds(
            rotationKey, in: 0.1...31_536_000,
            "Start a new file after this stream time; the file's number replaces {n} in the path, else it precedes the extension (.0001).")
    }

    /// Whether a file is live: at its path from the start, after what is there, where every write is kept, also when the run fails. Any other is
    /// whole: beside its path, as `.NAME.XXXXXX.partial`, until it is complete.
    ///
    /// - Parameter isLive: Whether the run takes place in real time (`SinkTiming.isLive`).
    func growsAtPath(isLive: Bool) -> Bool { appends == true || isLive && kind != .whole }

    /// Whether a complete file replaces the one that is at its path.
    public var replacesFile: Bool { appends != true && rotation == nil }

    /// The template of a path of these files: with `{n}` if they are rotated.
    ///
    /// - Parameters:
    ///   - path: The path with placeholders.
    ///   - key: The key of its setting, for errors.
    ///   - isNumbered: Whether `{n}` is a placeholder.
    /// - Throws: The path is no template, or it and the options exclude each other.
    public func template(_ path: String, at key: String, isNumbered: Bool = true) throws(Problem) -> PathTemplate {
        let template = try PathTemplate(path, at: key, isNumbered: isNumbered)
        if rotation != nil {
            if appends == true {
                throw Problem("files are either added to or rotated; leave out append or \(Self.rotationKey)", at: Self.rotationKey)
            }
            if template.target.descriptor != nil {
                throw Problem("standard output cannot be rotated; give a path", at: Self.rotationKey)
            }
        }
        if appends == true, compression.isOn(for: path) {
            throw Problem(
                "nothing can be added to a compressed file: readers stop at the incomplete end of an interrupted run; write to a new file"
                    + (kind == .lines ? " and join them: cat NEW.zst >> OLD.zst" : ""), at: "append")
        }
        return rotation == nil ? template : template.numbered()
    }
}
