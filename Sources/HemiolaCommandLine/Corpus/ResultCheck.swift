internal import HemiolaFiles
internal import HemiolaSystem

/// Finds out whether a result of an earlier run can be kept.
struct ResultCheck: Sendable {
    /// Bytes from the beginning of a result in which the fingerprint is, behind a path of the greatest length.
    private static let headLength = 1 << 16
    /// Bytes up to the end of a result in which the whole `end` record is.
    private static let tailLength = 1 << 16

    /// The file with the version and settings of results that do not state them. It is written when these change, so that such results
    /// are of this run's settings if they are not older than it.
    private static let settingsName = ".hemiola-settings"

    /// The version and settings of this run.
    private let fingerprint: String
    /// The file with the settings, if results do not state theirs, and the inputs whose result was incomplete.
    private let settings: FileStatus?
    private let incomplete: Set<String>

    /// - Parameters:
    ///   - fingerprint: The version and settings of this run.
    ///   - folder: The folder of results that do not state theirs; nil: each has a header.
    /// - Throws: The folder cannot be written.
    init(fingerprint: String, headerless folder: String?) throws(Failure) {
        self.fingerprint = fingerprint
        guard let folder else {
            settings = nil
            incomplete = []
            return
        }
        let path = "\(folder)/\(Self.settingsName)"
        let bytes = Array("\(fingerprint)\n".utf8)
        do throws(SystemCallError) {
            if (try? FileSystem.bytes(of: path, count: bytes.count + 1)) != bytes { try PartialFile.write(bytes, to: path) }
            settings = try FileSystem.status(of: path)
        } catch {
            throw Failure("cannot write \(path): \(error); choose another --output-dir", status: .outputFailed)
        }
        incomplete = FailureList.files(in: folder)
    }

    /// Whether a result is complete, of this version and these settings, and not older than its input.
    ///
    /// - Complexity: Reads both ends of the result; all of it where it is compressed.
    func isCurrent(_ result: String, of input: String) -> Bool {
        guard let old = try? FileSystem.status(of: result), old.kind == .file, let new = try? FileSystem.status(of: input),
            !new.isNewer(than: old)
        else { return false }
        if let settings { return !settings.isNewer(than: old) && !incomplete.contains(PathText.shown(input)) }
        if Compression.isRequested(by: result) { return isCurrentCompressed(result) }
        guard let head = try? FileSystem.bytes(of: result, count: Self.headLength), isOurs(head),
            let tail = try? FileSystem.bytes(of: result, from: -Self.tailLength, count: Self.tailLength), tail.last == UInt8(ascii: "\n")
        else { return false }
        let last = tail.dropLast()
        return isEnd(last[(last.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? last.startIndex)...])
    }

    private func isCurrentCompressed(_ result: String) -> Bool {
        guard let reader = try? LineReader(result) else { return false }
        var last: [UInt8] = []
        while true {
            switch try? reader.next() {
            case .line(let line):
                if last.isEmpty, !isOurs(line) { return false }
                last = line
            case .idle: continue
            case .end: return !reader.isTruncated && isEnd(last[...])
            case .unterminated, nil: return false
            }
        }
    }

    /// Whether a result begins with a header that has this fingerprint. Quotes within texts are escaped, so that the bytes occur as a
    /// key only.
    private func isOurs(_ head: [UInt8]) -> Bool {
        head.starts(with: Array(#"{"type":"header","#.utf8))
            && head.firstRange(of: Array(#","fingerprint":"\#(fingerprint)","#.utf8)) != nil
    }

    /// Whether a line is the end of an input that was read completely: with the reason as its last key.
    private func isEnd(_ line: ArraySlice<UInt8>) -> Bool {
        let ending = Array(#","reason":"end-of-input"}"#.utf8)
        return line.starts(with: Array(#"{"type":"end","#.utf8)) && line.suffix(ending.count).elementsEqual(ending)
    }
}
