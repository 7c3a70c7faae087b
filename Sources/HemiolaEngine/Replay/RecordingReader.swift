internal import Hemiola
internal import HemiolaFiles

/// Reads the records of a recording. Used by one thread at a time.
final class RecordingReader {
    enum Item: Sendable {
        /// A record, and the length of its line.
        case record(RecordDecoder.Record, byteCount: Int)
        /// No record is available yet.
        case idle
        case end
    }

    /// Empty lines between two records from which on a file is no recording. A program that writes to a pipe may write empty lines while
    /// it waits, but a small compressed file can contain billions.
    private static let mostEmptyLines = 1 << 20

    var name: String { lines.name }

    private let lines: LineReader
    private var decoder: RecordDecoder
    private let liveCaptures: Set<String>
    /// A header that is read again.
    private var header: StreamHeader?
    /// Warnings that were not reported yet.
    private var warnings: [String] = []
    private var warnedTypes = 0
    /// Empty lines since the last record.
    private var emptyLines = 0

    /// - Parameter liveCaptures: The ids of the captures whose streams are live.
    init(_ path: String, catalog: RecordCatalog, liveCaptures: Set<String>) throws(Problem) {
        lines = try LineReader(path)
        decoder = RecordDecoder(catalog: catalog)
        self.liveCaptures = liveCaptures
    }

    /// The next record, which is not that of an input that failed. Waits at most 100 ms.
    ///
    /// - Throws: Why no further record can be read.
    func next() throws(Problem) -> Item {
        if let header = header.take() { return .record(.header(header), byteCount: 0) }
        while true {
            switch try lines.next() {
            case .line(let line):
                // No record precedes it.
                let hint = lines.lineNumber == 1 ? "; a recording is the output of hemiola analyze or listen" : ""
                if let item = try item(line, hint: hint) { return item }
            case .unterminated(let line):
                // The last newline was removed, or a part of the line.
                if let item = try item(line, fault: "the last line is cut off; the records before it were replayed") { return item }
            case .idle: return .idle
            case .end:
                if lines.isTruncated { throw Problem("\(name): the compressed data is cut off; the records before were replayed") }
                return .end
            }
        }
    }

    /// The next record, and the warnings since the last call.
    func next(warn: (String) -> Void) throws(Problem) -> Item {
        defer {
            for warning in warnings { warn(warning) }
            warnings = []
        }
        return try next()
    }

    /// Returns a header, which `next` returns again.
    func putBack(_ header: StreamHeader) {
        self.header = header
    }

    /// A message about the last line.
    func message(_ text: String) -> String { "\(name):\(lines.lineNumber): \(text)" }

    private func item(_ line: [UInt8], hint: String = "", fault: String? = nil) throws(Problem) -> Item? {
        // An empty line, also with the line ends of Windows.
        if line.isEmpty || line == [UInt8(ascii: "\r")] {
            emptyLines += 1
            guard emptyLines <= Self.mostEmptyLines else {
                throw Problem(message("more than \(Self.mostEmptyLines) empty lines in succession; this is not a recording"))
            }
            return nil
        }
        emptyLines = 0
        let record: RecordDecoder.Record
        do { record = try decoder.decode(line) } catch { throw Problem(message(fault ?? error.message + hint)) }
        for type in decoder.undeclared.dropFirst(warnedTypes) {
            warnings.append("\(name): no plugin of this program declares \"\(type.prefix(40))\"; its records are replayed as they are")
        }
        warnedTypes = decoder.undeclared.count
        switch record {
        case .failure(let input):
            warnings.append(message("the recording has no records of this input: \(input.error ?? input.file)"))
            return nil
        case .header(var header):
            header.isLive = liveCaptures.contains(header.source.kind)
            return .record(.header(header), byteCount: line.count)
        case .batch, .event, .end: return .record(record, byteCount: line.count)
        }
    }
}
