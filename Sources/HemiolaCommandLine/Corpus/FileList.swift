internal import HemiolaSignal
internal import HemiolaSystem

/// Reads lists of file names, as `find` and text editors write them.
enum FileList {
    /// Reads a list.
    ///
    /// - Parameters:
    ///   - path: The file with the list; `-` is standard input.
    ///   - isNullSeparated: Whether NUL ends a name, as with `find -print0`; false: a line break ends it.
    /// - Returns: At least one name, as `PathText` writes it.
    static func names(in path: String, isNullSeparated: Bool) throws(Failure) -> [String] {
        let title = path == "-" ? "the list on standard input" : "the list \"\(path)\""
        let bytes: [UInt8]
        do {
            bytes = try System.contents(of: path)
        } catch {
            throw Failure("cannot read \(title): \(error)")
        }
        let names = try names(in: bytes, isNullSeparated: isNullSeparated, title: title)
        guard !names.isEmpty else { throw Failure("\(title) is empty: no input files") }
        return names
    }

    /// Splits a list into names.
    ///
    /// In a list of lines, empty lines and a byte order mark are ignored and CR LF ends a line too. In a list with NULs, all bytes
    /// between two NULs are the name, so that any name is possible.
    static func names(in bytes: [UInt8], isNullSeparated: Bool, title: String) throws(Failure) -> [String] {
        let hasNull = bytes.contains(0)
        if isNullSeparated {
            if !hasNull, bytes.contains(UInt8(ascii: "\n")) {
                throw Failure("\(title) has lines and no NUL characters; remove --null")
            }
            return bytes.split(separator: 0).map { PathText.text(of: $0) }
        }
        if hasNull { throw Failure("\(title) has NUL characters; for a list from find -print0, add --null") }
        return bytes.withoutByteOrderMark.split(separator: UInt8(ascii: "\n")).compactMap { line in
            let name = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            return name.isEmpty ? nil : PathText.text(of: name)
        }
    }
}

extension [UInt8] {
    /// The bytes without the UTF-8 byte order mark that Windows editors write.
    var withoutByteOrderMark: ArraySlice<UInt8> {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        return starts(with: mark) ? dropFirst(mark.count) : self[...]
    }
}
