public import Hemiola

/// The settings `rotate_s` and `rotate_mb`: when a recording continues in a new file.
public struct FileRotation: PluginSettings, Hashable {
    /// Stream time per file, in seconds; nil: no limit.
    public var seconds: Double?
    private var megabytes: Int?

    public init(_ read: inout SettingReader) {
        seconds = read.seconds(
            "rotate_s", in: 0.1...31_536_000,
            "Start a new file after this stream time; the file's number replaces {n} in the path, else it precedes the extension (.0001).")
        megabytes = read.integer("rotate_mb", in: 1...1_048_576, unit: "MiB", "Start a new file when the current one reaches this size.")
    }

    /// A rotation by stream time, in seconds, or by size, in MiB; by default none.
    public init(seconds: Double? = nil, megabytes: Int? = nil) {
        self.seconds = seconds
        self.megabytes = megabytes
    }

    /// Size from which a file is full, in bytes; nil: no limit.
    public var bytes: Int64? { megabytes.map { Int64($0) << 20 } }

    /// Whether there is a limit.
    public var isOn: Bool { seconds != nil || bytes != nil }

    /// The template of the rotated files: with `{n}` if there is a limit, else unchanged.
    ///
    /// - Throws: The path is a file descriptor, or `appends` is set; neither can be combined with rotation.
    public func template(_ template: PathTemplate, appends: Bool) throws(Problem) -> PathTemplate {
        guard isOn else { return template }
        let key = seconds == nil ? "rotate_mb" : "rotate_s"
        if appends { throw Problem("files are either added to or rotated; leave out append or \(key)", at: key) }
        if template.target.descriptor != nil { throw Problem("standard output cannot be rotated; give a path", at: key) }
        return template.numbered()
    }
}

/// Decides when a rotated file is full.
struct RotationMeter {
    private let rotation: FileRotation
    /// The stream time at which the current file was due to start; negative if it started in an earlier stream.
    private var origin = 0.0
    private var position = 0.0

    /// Creates a meter at the start of the first file.
    init(_ rotation: FileRotation) {
        self.rotation = rotation
    }

    /// Call when a stream begins, whose time starts at 0 again. The current file continues.
    mutating func beginStream() {
        origin -= position
        position = 0
    }

    /// Call when a file begins for another reason than `isFull`.
    mutating func beginFile() {
        origin = position
    }

    /// Whether a batch belongs into a new file. Call once per batch, in order.
    ///
    /// - Parameters:
    ///   - start: Time of the batch's first frame in its stream, in seconds.
    ///   - end: Time of the frame after its last, in seconds.
    ///   - size: Size of the current file in bytes.
    mutating func isFull(at start: Double, end: Double, size: Int64) -> Bool {
        position = start
        defer { position = end }
        // Tolerance of half a microsecond: the time of a frame is rounded.
        let elapsed = start - origin + 5e-7
        if let seconds = rotation.seconds, elapsed >= seconds {
            // Whole periods, so that the lengths of the batches do not add up to a drift.
            origin += (elapsed / seconds).rounded(.down) * seconds
            return true
        }
        guard let bytes = rotation.bytes, size >= bytes else { return false }
        origin = start
        return true
    }
}
