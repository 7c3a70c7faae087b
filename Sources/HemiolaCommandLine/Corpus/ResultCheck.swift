internal import HemiolaFiles
internal import HemiolaSystem

/// Finds out whether a result of an earlier run can be kept. Thread-safe.
struct ResultCheck: Sendable {
    /// Everything that determines a result besides the input.
    let settings: String
    /// The fingerprints of results that have no header; nil: they have one.
    let list: ResultList?

    /// Identifies the settings and the state of an input: its size and its times. 16 hexadecimal digits.
    func fingerprint(of input: String) -> String {
        let text = String(Self.hash("\(settings)\0\((try? FileSystem.status(of: input))?.version ?? "")"), radix: 16)
        return String(repeating: "0", count: 16 - text.count) + text
    }

    /// The hash FNV-1a of 64 bits, which is the same in every process.
    private static func hash(_ text: String) -> UInt64 {
        text.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }

    /// Whether a result is complete, and has this fingerprint.
    ///
    /// - Parameters:
    ///   - name: The name of its input below the analysed folder.
    /// - Complexity: Reads all of a result with a header: every line has to be there.
    func isCurrent(_ result: String, of name: String, _ fingerprint: String) -> Bool {
        guard let status = try? FileSystem.status(of: result), status.kind == .file else { return false }
        if let list { return list.contains(name, fingerprint, size: status.size) }
        guard let reader = try? LineReader(result) else { return false }
        var (last, count): ([UInt8], Int) = ([], 0)
        while true {
            switch try? reader.next() {
            case .line(let line):
                if count == 0, !isHeader(line, fingerprint) { return false }
                (last, count) = (line, count + 1)
            case .idle: continue
            case .end: return !reader.isTruncated && isEnd(last, count)
            case .unterminated, nil: return false
            }
        }
    }

    /// Notes how an input has ended whose result has no header.
    ///
    /// - Parameter fingerprint: That of its result; nil: the result is not complete.
    func note(_ result: String, of name: String, _ fingerprint: String?) {
        guard let list else { return }
        list.set(name, fingerprint ?? "", size: (try? FileSystem.status(of: result).size) ?? 0)
    }

    /// Whether a line is a header that has this fingerprint. Quotes within texts are escaped, so that the bytes occur as a key only.
    private func isHeader(_ line: [UInt8], _ fingerprint: String) -> Bool {
        line.starts(with: Array(#"{"type":"header","#.utf8))
            && line.containsText(#","fingerprint":"\#(fingerprint)","#)
    }

    /// Whether a line is the end of an input that was read completely, with so many lines: without an error.
    private func isEnd(_ line: [UInt8], _ count: Int) -> Bool {
        let ending = Array(#","lines":\#(count),"reason":"end-of-input"}"#.utf8)
        return line.starts(with: Array(#"{"type":"end","#.utf8)) && line.suffix(ending.count).elementsEqual(ending)
    }
}
