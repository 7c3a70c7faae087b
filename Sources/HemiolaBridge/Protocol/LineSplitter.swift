/// Splits a byte stream that arrives in pieces into lines. A line above the length limit is skipped up to its end.
struct LineSplitter: Sendable {
    /// A line without its newline.
    enum Line: Sendable, Equatable {
        case line([UInt8])
        /// A line above the limit: reported once, as soon as the limit is exceeded.
        case tooLong

        var byteCount: Int {
            switch self {
            case .line(let bytes): bytes.count
            case .tooLong: LineSplitter.limit
            }
        }
    }

    /// Maximum length of a line in bytes.
    static let limit = 1 << 20

    private var rest: [UInt8] = []
    private var isSkipping = false

    /// Adds received bytes.
    ///
    /// - Returns: The lines that end in these bytes, in order, without blank lines.
    mutating func add(_ bytes: some Collection<UInt8>) -> [Line] {
        var lines: [Line] = []
        var start = bytes.startIndex
        while let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) {
            if let line = finish(bytes[start..<end]) { lines.append(line) }
            start = bytes.index(after: end)
        }
        guard start != bytes.endIndex, !isSkipping else { return lines }
        rest.append(contentsOf: bytes[start...])
        if rest.count > Self.limit {
            rest = []
            isSkipping = true
            lines.append(.tooLong)
        }
        return lines
    }

    /// Returns the bytes after the last newline as a line, at the end of the stream; nil if there are none.
    mutating func finish() -> Line? {
        finish(EmptyCollection())
    }

    private mutating func finish(_ tail: some Collection<UInt8>) -> Line? {
        if isSkipping {
            isSkipping = false
            return nil
        }
        var line = rest
        rest = []
        line.append(contentsOf: tail)
        if line.count > Self.limit { return .tooLong }
        let isBlank = line.allSatisfy { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: "\r") }
        return isBlank ? nil : .line(line)
    }
}
