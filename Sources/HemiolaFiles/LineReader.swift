public import Hemiola

/// Reads the lines of a file, a pipe or standard input, plain or compressed with zstd, in bounded memory.
///
/// Whether the bytes are compressed depends on their first four, not on the name. Used by one thread at a time.
public final class LineReader {
    /// The result of a read.
    public enum Result: Sendable, Equatable {
        /// The next line, without its newline.
        case line([UInt8])
        /// The last bytes of the input, which do not end with a newline.
        case unterminated([UInt8])
        /// No line is available yet.
        case idle
        /// The end of the input.
        case end
    }

    /// Maximum length of a line in bytes. Hemiola writes shorter lines only.
    public static let longestLine = 16 << 20

    /// The path as people read it; `standard input` for `-`.
    public let name: String
    /// The number of the line that was returned last, from 1.
    public var lineNumber: Int { lines.lineNumber }

    /// Whether compressed data ended inside of a frame.
    public var isTruncated: Bool { isAtEnd && decompressor?.isInFrame == true }

    private let file: FileDescriptor
    private var decompressor: ZstdReader?
    /// The first bytes, until it is known whether they are compressed; nil: that is known.
    private var firstBytes: [UInt8]? = []
    /// Bytes that were read but not decompressed.
    private var compressed: ArraySlice<UInt8> = []
    private var lines = LineSplitter(limit: longestLine)
    private var isAtEnd = false

    /// Opens a file.
    ///
    /// - Parameter path: The path, in the form of `PathText`; `-` is standard input.
    /// - Throws: The file cannot be opened.
    public init(_ path: String) throws(Problem) {
        name = path == "-" ? "standard input" : PathText.shown(path)
        do { file = try path == "-" ? .standardInput : .open(path) } catch {
            throw Problem("cannot read \(name): \(error)")
        }
    }

    deinit {
        if file != .standardInput { file.close() }
    }

    /// The next line. Waits at most 100 ms for further bytes.
    ///
    /// - Throws: The input cannot be read or decompressed, or a line is longer than ``longestLine``. No further line can be read.
    public func next() throws(Problem) -> Result {
        while true {
            if let line = lines.next() {
                guard !line.isCut else {
                    throw Problem(
                        "\(name):\(lineNumber): the line is longer than \(Self.longestLine >> 20) MiB; this is not a recording")
                }
                return .line(line.bytes)
            }
            if isAtEnd {
                return lines.finish().map { .unterminated($0.bytes) } ?? .end
            }
            guard try readMore() else { return .idle }
        }
    }

    /// Reads and decompresses further bytes.
    ///
    /// - Returns: Whether there are further bytes, or the end was reached; false: none is available yet.
    private func readMore() throws(Problem) -> Bool {
        if let decompressor, !compressed.isEmpty {
            return try decompress(with: decompressor)
        }
        guard file.isReadable(within: 0.1) else { return false }
        let bytes: [UInt8]
        do { bytes = try file.read(atMost: 65_536) } catch {
            if error.code == .wouldBlock { return false }
            throw Problem("cannot read \(name): \(error)")
        }
        isAtEnd = bytes.isEmpty
        if let decompressor {
            compressed = bytes[...]
            guard isAtEnd else { return try decompress(with: decompressor) }
            // The decompressor may have more output than fits into one piece.
            while try decompress(with: decompressor) {}
            return true
        }
        guard let first = firstBytes.map({ $0 + bytes }) else {
            lines.append(bytes)
            return true
        }
        if first.starts(with: ZstdReader.signature) {
            do {
                decompressor = try ZstdReader()
            } catch {
                throw Problem("\(name): \(error.message)")
            }
            (firstBytes, compressed, isAtEnd) = (nil, first[...], false)
        } else if !isAtEnd, ZstdReader.signature.starts(with: first) {
            firstBytes = first
        } else {
            lines.append(first)
            firstBytes = nil
        }
        return true
    }

    /// - Returns: Whether bytes were read or written.
    private func decompress(with decompressor: ZstdReader) throws(Problem) -> Bool {
        let before = compressed.count
        let bytes: [UInt8]
        do {
            bytes = try decompressor.decompress(&compressed)
        } catch {
            throw Problem("\(name): cannot decompress: \(error.message)")
        }
        lines.append(bytes)
        return !bytes.isEmpty || compressed.count < before
    }
}
