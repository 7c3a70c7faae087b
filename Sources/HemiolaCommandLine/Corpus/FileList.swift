internal import HemiolaSystem

/// Divides lists of file names, as `find` and text editors write them, into names.
///
/// In a list of lines, empty lines and a byte order mark are ignored and CR LF ends a line too. In a list with NULs, all bytes between
/// two NULs are the name, so that any name is possible.
struct FileList {
    /// Bytes of the longest name.
    private static let longestName = 1 << 20
    /// Names of a list that is read as a whole, and empty names in succession, from which on it is no list of names.
    private static let (mostNames, mostEmptyNames) = (1 << 24, 1 << 20)

    /// The list, for messages.
    let title: String
    private let isNullSeparated: Bool
    private var lines: LineSplitter
    /// Names that were returned.
    private(set) var count = 0
    /// Empty names since the last other one.
    private var emptyCount = 0

    /// - Parameter isNullSeparated: Whether NUL ends a name, as with `find -print0`; false: a line break ends it.
    init(title: String, isNullSeparated: Bool) {
        self.title = title
        self.isNullSeparated = isNullSeparated
        lines = LineSplitter(limit: Self.longestName, separator: isNullSeparated ? 0 : UInt8(ascii: "\n"))
    }

    /// Adds bytes of the list.
    mutating func append(_ bytes: [UInt8]) { lines.append(bytes) }

    /// The next name, as `PathText` writes it; nil: none is complete.
    ///
    /// - Throws: The list is separated in the other way, or is no list of names.
    mutating func next() throws(Failure) -> String? {
        while let line = lines.next() {
            if let name = try name(line, hasSeparator: !line.isCut) { return name }
        }
        return nil
    }

    /// The name after the last separator, at the end of the list; nil: there is none.
    mutating func finish() throws(Failure) -> String? {
        guard let line = lines.finish() else { return nil }
        return try name(line, hasSeparator: false)
    }

    /// The fault of a list without names.
    static func empty(_ title: String) -> Failure { Failure("\(title) is empty: no input files") }

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

extension FileList {
    /// Reads a list.
    ///
    /// - Parameters:
    ///   - path: The file with the list; `-` is standard input.
    ///   - isNullSeparated: Whether NUL ends a name.
    /// - Returns: At least one name, as `PathText` writes it.
    static func names(in path: String, isNullSeparated: Bool) throws(Failure) -> [String] {
        let title = path == "-" ? "the list on standard input" : "the list \"\(path)\""
        var list = FileList(title: title, isNullSeparated: isNullSeparated)
        var names: [String] = []
        let file: FileDescriptor
        do { file = try path == "-" ? .standardInput : .open(path) } catch {
            throw Failure("cannot read \(title): \(error)")
        }
        defer { if path != "-" { file.close() } }
        while true {
            let bytes: [UInt8]
            do { bytes = try file.next(atMost: 1 << 16) } catch {
                throw Failure("cannot read \(title): \(error)")
            }
            if bytes.isEmpty { break }
            list.append(bytes)
            while let name = try list.next() { names.append(name) }
        }
        if let name = try list.finish() { names.append(name) }
        guard !names.isEmpty else { throw empty(title) }
        return names
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
