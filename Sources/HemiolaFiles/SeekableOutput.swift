internal import Hemiola
public import HemiolaSystem

/// An open file whose bytes can be written at any offset, for formats with a header that is completed at the end, such as sound files.
/// Opened by `OutputOpener.openSeekable`, ended by `OutputOpener.finish`.
///
/// A file that is deallocated before that is closed: one that is not at its path yet is removed, a live one stays.
public struct SeekableOutput: ~Copyable {
    /// nil after `finish`.
    private var file: OutputFile?

    init(_ file: OutputFile) {
        self.file = file
    }

    /// The length of the file, in bytes.
    public var size: Int64 { file?.size ?? 0 }

    /// Writes all bytes at an offset. Blocks until the system has accepted them.
    ///
    /// - Throws: A write failed; the file has none of the bytes that lie beyond its old end. Later writes may succeed: bytes that replace
    ///   others need no space on the disk.
    public mutating func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(Problem) {
        try file?.write(bytes, at: offset)
    }

    /// Shortens the file. Does nothing if it is not longer.
    public mutating func truncate(to size: Int64) {
        file?.truncate(to: size)
    }

    /// Closes the file.
    ///
    /// - Parameter ending: Where the file goes.
    /// - Returns: Whether the file is at its path.
    @discardableResult
    public mutating func finish(_ ending: OutputEnding = .replace) throws(Problem) -> Bool {
        guard let file else { return false }
        self.file = nil
        return try file.finish(ending)
    }
}
