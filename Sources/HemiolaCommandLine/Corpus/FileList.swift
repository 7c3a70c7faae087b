internal import HemiolaSystem

/// Reads lists of file names, as `find` and text editors write them: each name as soon as it arrives. Used by one thread at a time.
///
/// In a list of lines, empty lines and a byte order mark are ignored and CR LF ends a line too. In a list with NULs, all bytes between
/// two NULs are the name, so that any name is possible.
struct FileList: ~Copyable {
    /// Bytes of the longest name.
    private static let longestName = 1 << 20
    /// Names of a list, and empty names in succession, from which on it is no list of names.
    private static let (mostNames, mostEmptyNames) = (1 << 24, 1 << 20)

    /// The list, for messages.
    private let title: String
    private let file: FileDescriptor
    private let isNullSeparated: Bool
    private let wakeUp: WakeUp?
    private var lines: LineSplitter
    private var isAtEnd = false
    /// Names that were returned.
    private var count = 0
    /// Empty names since the last other one.
    private var emptyCount = 0

    /// Opens a list.
    ///
    /// - Parameters:
    ///   - path: The file with the list; `-` is standard input.
    ///   - isNullSeparated: Whether NUL ends a name, as with `find -print0`; false: a line break ends it.
    ///   - wakeUp: Ends a call of `next` that waits; nil: nothing does.
    init(_ path: String, isNullSeparated: Bool, wakeUp: WakeUp? = nil) throws(Failure) {
        let title = path == "-" ? "the list on standard input" : "the list \"\(path)\""
        let file: FileDescriptor
        do { file = try path == "-" ? .standardInput : .open(path) } catch {
            throw Failure("cannot read \(title): \(error)")
        }
        (self.title, self.file, self.isNullSeparated, self.wakeUp) = (title, file, isNullSeparated, wakeUp)
        lines = LineSplitter(limit: Self.longestName, separator: isNullSeparated ? 0 : UInt8(ascii: "\n"))
    }

    deinit {
        if file != .standardInput { file.close() }
    }

    /// All names of a list: one at least.
    static func names(in path: String, isNullSeparated: Bool) throws(Failure) -> [String] {
        var list = try FileList(path, isNullSeparated: isNullSeparated)
        var names: [String] = []
        while let name = try list.next() { names.append(name) }
        return names
    }

    /// Waits for the next name.
    ///
    /// - Returns: The name as `PathText` writes it; nil at the end, or when the caller was woken.
    /// - Throws: The list cannot be read, is empty, is separated in the other way, or is no list of names.
    mutating func next() throws(Failure) -> String? {
        while true {
            while let line = lines.next() {
                if let name = try name(line, hasSeparator: !line.isCut) { return name }
            }
            if isAtEnd {
                if let line = lines.finish(), let name = try name(line, hasSeparator: false) { return name }
                if count == 0 { throw Failure("\(title) is empty: no input files") }
                return nil
            }
            if let wakeUp, wakeUp.wait(seconds: nil, for: file.number).isSignalled { return nil }
            do {
                let bytes = try file.next(atMost: 1 << 16)
                isAtEnd = bytes.isEmpty
                lines.append(bytes)
            } catch {
                throw Failure("cannot read \(title): \(error)")
            }
        }
    }

    /// The text of a name; nil for an empty one.
    private mutating func name(_ line: LineSplitter.Line, hasSeparator: Bool) throws(Failure) -> String? {
        if isNullSeparated, !hasSeparator, lines.lineNumber == 1, line.bytes.contains(UInt8(ascii: "\n")) {
            throw Failure("\(title) has lines and no NUL characters; remove --null")
        }
        guard !line.isCut else {
            throw Failure("\(title) has a name of more than \(Self.longestName >> 20) MiB; this is not a list of names")
        }
        var bytes = line.bytes[...]
        if !isNullSeparated {
            if bytes.contains(0) { throw Failure("\(title) has NUL characters; for a list from find -print0, add --null") }
            if lines.lineNumber == 1 { bytes = line.bytes.withoutByteOrderMark }
            if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        }
        guard !bytes.isEmpty else {
            emptyCount += 1
            guard emptyCount <= Self.mostEmptyNames else {
                throw Failure("\(title) has more than \(Self.mostEmptyNames) empty names in succession; this is not a list of names")
            }
            return nil
        }
        emptyCount = 0
        count += 1
        guard count <= Self.mostNames else { throw Failure("\(title) has more than \(Self.mostNames) names; analyse a part of them") }
        return PathText.text(of: bytes)
    }
}

extension [UInt8] {
    /// Whether the bytes of a text are in these. `firstRange(of:)` takes 0.4 s a megabyte.
    func containsText(_ text: String) -> Bool {
        let text = Array(text.utf8)
        guard let first = text.first else { return true }
        return indices.dropLast(text.count - 1).contains { self[$0] == first && self[$0...].starts(with: text) }
    }

    /// The bytes without the UTF-8 byte order mark that Windows editors write.
    var withoutByteOrderMark: ArraySlice<UInt8> {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        return starts(with: mark) ? dropFirst(mark.count) : self[...]
    }
}
