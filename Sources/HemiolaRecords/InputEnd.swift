/// The end of an input of a run, after the ends of its streams.
public struct InputEnd: Sendable, Hashable {
    /// The path as given, or the name of another source.
    public var file: String
    /// The bytes of the path, where they are not UTF-8.
    public var fileBytes: [UInt8]?
    /// Why the input failed, or was incomplete or damaged, one line; nil: it was complete.
    public var error: String?
    /// Streams that were begun; 0: nothing of the input was analysed.
    public var streamCount: Int
    /// Whether the run was stopped before the end of the input.
    public var wasInterrupted: Bool

    /// The end of an input; by default of a complete one.
    public init(
        file: String, fileBytes: [UInt8]? = nil, error: String? = nil, streamCount: Int = 1, wasInterrupted: Bool = false
    ) {
        self.file = file
        self.fileBytes = fileBytes
        self.error = error
        self.streamCount = streamCount
        self.wasInterrupted = wasInterrupted
    }
}
