internal import HemiolaFiles
internal import HemiolaRecords
internal import HemiolaSystem

/// The lines of a file that a command needs, one at a time: a large recording, or a file without an end, needs no memory.
enum TextLines {
    /// Passes on the lines of a file, plain or compressed with zstd; `-` is standard input.
    ///
    /// - Parameters:
    ///   - option: The beginning of a message: the option that names the file.
    ///   - body: Receives a line and its number, from 1.
    static func read(
        _ path: String, option: String = "", _ body: (_ line: [UInt8], _ number: Int) throws(Failure) -> Void
    ) throws(Failure) {
        let reader = try failing(option) { () throws(Problem) in try LineReader(path) }
        while true {
            switch try failing(option, { () throws(Problem) in try reader.next() }) {
            case .line(let line), .unterminated(let line):
                try body(reader.lineNumber == 1 ? Array(line.withoutByteOrderMark) : line, reader.lineNumber)
            case .idle: continue
            case .end: return
            }
        }
    }

    private static func failing<Result>(_ option: String, _ body: () throws(Problem) -> Result) throws(Failure) -> Result {
        do { return try body() } catch { throw Failure(option + error.message) }
    }
}

extension [UInt8] {
    /// Reads the record of a line, if it is one of this type.
    ///
    /// - Parameter place: The file and the number of the line, for messages.
    func readRecord(_ type: String, at place: String, _ body: (JSONValue) throws(Problem) -> Void) throws(Failure) {
        // Avoids decoding the batches, which are most lines of a recording.
        let start = Array(#"{"type":""#.utf8)
        if starts(with: start), last == UInt8(ascii: "}"), !dropFirst(start.count).starts(with: Array("\(type)\"".utf8)) { return }
        do {
            let record = try JSONValue(self)
            if try record.text("type") == type { try body(record) }
        } catch {
            throw Failure("\(place): \(error.message)")
        }
    }
}
