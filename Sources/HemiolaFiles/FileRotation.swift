public import Hemiola

/// The setting `rotate_s`: when a recording continues in a new file.
public struct FileRotation: PluginSettings, Hashable {
    private static let key = "rotate_s"

    /// Stream time per file, in seconds; nil: no limit.
    public var seconds: Double?

    public init(_ read: inout SettingReader) {
        seconds = read.seconds(
            Self.key, in: 0.1...31_536_000,
            "Start a new file after this stream time; the file's number replaces {n} in the path, else it precedes the extension (.0001).")
    }

    /// A rotation by stream time, in seconds; by default none.
    public init(seconds: Double? = nil) {
        self.seconds = seconds
    }

    /// Whether there is a limit.
    public var isOn: Bool { seconds != nil }

    /// The template of the rotated files: with `{n}` if there is a limit, else unchanged.
    ///
    /// - Throws: The path is a file descriptor, or `appends` is set; neither can be combined with rotation.
    public func template(_ template: PathTemplate, appends: Bool) throws(Problem) -> PathTemplate {
        guard isOn else { return template }
        if appends { throw Problem("files are either added to or rotated; leave out append or \(Self.key)", at: Self.key) }
        if template.target.descriptor != nil { throw Problem("standard output cannot be rotated; give a path", at: Self.key) }
        return template.numbered()
    }
}

/// Decides when a rotated file is full.
struct RotationMeter {
    /// Stream time per file; nil: no limit.
    private let seconds: Double?
    /// The stream time at which the current file was due to start; negative if it started in an earlier stream.
    private var origin = 0.0
    private var position = 0.0

    /// Creates a meter at the start of the first file.
    init(_ rotation: FileRotation) {
        seconds = rotation.seconds
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
    mutating func isFull(at start: Double, end: Double) -> Bool {
        position = start
        defer { position = end }
        // Tolerance of half a microsecond: the time of a frame is rounded.
        let elapsed = start - origin + 5e-7
        guard let seconds, elapsed >= seconds else { return false }
        // Whole periods, so that the lengths of the batches do not add up to a drift.
        origin += (elapsed / seconds).rounded(.down) * seconds
        return true
    }
}
