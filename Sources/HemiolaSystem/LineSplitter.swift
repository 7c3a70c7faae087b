internal import Glibc

/// Divides bytes that arrive in pieces into lines of bounded length.
///
///     var lines = LineSplitter(limit: 1 << 20)
///     lines.append(bytes)                         // for each piece
///     while let line = lines.next() { … }
///     if let line = lines.finish() { … }          // at the end of the bytes
public struct LineSplitter: Sendable {
    /// A line without its separator.
    public struct Line: Sendable, Hashable {
        /// The line; of a line above the limit, the first bytes.
        public var bytes: [UInt8]
        /// Whether the line is longer than the limit. It is returned as soon as the limit is exceeded, and its rest is skipped.
        public var isCut = false

        /// A line.
        public init(_ bytes: [UInt8], isCut: Bool = false) {
            self.bytes = bytes
            self.isCut = isCut
        }

        /// Whether the line has nothing but the white space of JSON.
        package var isBlank: Bool {
            bytes.allSatisfy { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: "\r") }
        }
    }

    /// The number of the line that was returned last, from 1.
    package private(set) var lineNumber = 0

    private let limit: Int
    private let separator: UInt8
    private var bytes: [UInt8] = []
    /// Where the next line begins in `bytes`, and where the search for its end goes on.
    private var start = 0
    private var searched = 0
    /// Whether the bytes up to the next separator are the rest of a line above the limit.
    private var isSkipping = false

    /// A splitter without bytes.
    ///
    /// - Parameters:
    ///   - limit: The largest length of a line in bytes.
    ///   - separator: The byte that ends a line.
    public init(limit: Int = .max, separator: UInt8 = UInt8(ascii: "\n")) {
        self.limit = limit
        self.separator = separator
    }

    /// Bytes that were added and not returned.
    package var pendingCount: Int { bytes.count - start }

    /// Adds bytes.
    public mutating func append(_ more: some Collection<UInt8>) {
        if start > 0 {
            bytes.removeSubrange(..<start)
            (searched, start) = (searched - start, 0)
        }
        bytes.append(contentsOf: more)
    }

    /// The next line that is complete or longer than the limit; nil: there is none yet.
    public mutating func next() -> Line? {
        while let end = nextSeparator() {
            let line = bytes[start..<end]
            (start, searched) = (end + 1, end + 1)
            if isSkipping {
                isSkipping = false
            } else {
                return makeLine(line)
            }
        }
        searched = bytes.count
        guard isSkipping || pendingCount > limit else { return nil }
        let line = bytes[start...]
        (bytes, start, searched) = ([], 0, 0)
        if isSkipping { return nil }
        isSkipping = true
        return makeLine(line)
    }

    /// The bytes after the last separator, at the end of all bytes; nil: there are none. Call when ``next()`` has returned nil.
    public mutating func finish() -> Line? {
        let rest = bytes[start...]
        (bytes, start, searched) = ([], 0, 0)
        defer { isSkipping = false }
        return isSkipping || rest.isEmpty ? nil : makeLine(rest)
    }

    private mutating func makeLine(_ line: ArraySlice<UInt8>) -> Line {
        lineNumber += 1
        return Line(Array(line.prefix(limit)), isCut: line.count > limit)
    }

    private func nextSeparator() -> Int? {
        // Safe: the search ends at the end of the array.
        bytes.withUnsafeBytes { bytes in
            guard searched < bytes.count, let base = bytes.baseAddress,
                let found = memchr(base + searched, Int32(separator), bytes.count - searched)
            else { return nil }
            return UnsafeRawPointer(found) - base
        }
    }
}
