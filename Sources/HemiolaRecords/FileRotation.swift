package import Hemiola
package import HemiolaOutput
internal import HemiolaSignal

/// When a recording goes on in a new file.
package struct FileRotation: Sendable, Hashable {
    /// Seconds of stream time that a file holds; nil: no limit.
    package var seconds: Double?
    /// Bytes after which a file is full; nil: no limit.
    package var bytes: Int64?

    package init(seconds: Double? = nil, bytes: Int64? = nil) {
        self.seconds = seconds
        self.bytes = bytes
    }

    /// The setting `rotate_s`.
    package static let secondsSetting = Setting<Double?>(
        "rotate_s", in: 0.1...31_536_000, unit: .seconds,
        "Begin a new file after this much stream time; {n} in the path is its number, else .0001 before the ending.")
    /// The setting `rotate_mb`.
    package static let megabytesSetting = Setting<Int?>(
        "rotate_mb", in: 1...1_048_576, unit: "MiB", "Begin a new file when one has reached this size.")

    package init(_ settings: SettingValues) {
        self.init(
            seconds: settings[Self.secondsSetting], bytes: settings[Self.megabytesSetting].map { Int64($0) << 20 })
    }

    package var isOn: Bool { seconds != nil || bytes != nil }

    /// A path with the number of the file.
    ///
    /// - Throws: That it is no path of a file, or that files are added to.
    package func template(_ template: PathTemplate, appends: Bool) throws(ConfigurationError) -> PathTemplate {
        guard isOn else { return template }
        let key = seconds == nil ? Self.megabytesSetting.key : Self.secondsSetting.key
        if appends { throw ConfigurationError("files are either added to or rotated; leave out append or \(key)", at: key) }
        if template.target.descriptor != nil { throw ConfigurationError("standard output cannot be rotated; give a path", at: key) }
        return template.numbered()
    }
}

/// How much of a file that is rotated is full.
package struct RotationMeter: Sendable {
    private let rotation: FileRotation
    /// The stream time at which the file was due to begin; negative when it began in an earlier stream.
    private var origin = 0.0
    private var position = 0.0

    package init(_ rotation: FileRotation) {
        self.rotation = rotation
    }

    /// A stream begins, whose time starts at 0 again.
    package mutating func beginStream() {
        origin -= position
        position = 0
    }

    /// A file begins.
    package mutating func beginFile() {
        origin = position
    }

    /// Whether a batch belongs into a new file.
    ///
    /// - Parameters:
    ///   - start: Its time in its stream, in seconds.
    ///   - end: The time after it.
    ///   - size: Bytes of the file.
    package mutating func isFull(at start: Double, end: Double, size: Int64) -> Bool {
        position = start
        defer { position = end }
        // Half a microsecond: the time of a frame is rounded.
        let elapsed = start - origin + 5e-7
        if let seconds = rotation.seconds, elapsed >= seconds {
            // Of whole periods, so that the length of a batch does not add up.
            origin += (elapsed / seconds).rounded(.down) * seconds
            return true
        }
        guard let bytes = rotation.bytes, size >= bytes else { return false }
        origin = start
        return true
    }
}
