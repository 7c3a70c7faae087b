internal import HemiolaSignal

/// The names in a list of files, as `find` and text editors write it.
enum FileList {
    /// Reads a list.
    ///
    /// - Parameters:
    ///   - path: The file with the list; `-` is standard input.
    ///   - isNullSeparated: Whether NUL ends a name, as with `find -print0`; else the end of a line does.
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
        guard !names.isEmpty else { throw Failure("\(title) is empty: there is nothing to analyse") }
        return names
    }

    /// Takes a list apart.
    ///
    /// Between lines, empty ones and a byte order mark do not count, and lines may end as on Windows. Between NULs every byte
    /// counts, so that any name can be written.
    static func names(in bytes: [UInt8], isNullSeparated: Bool, title: String) throws(Failure) -> [String] {
        let hasNull = bytes.contains(0)
        if isNullSeparated {
            if !hasNull, bytes.contains(UInt8(ascii: "\n")) {
                throw Failure("\(title) has lines and no NUL characters; leave --null out")
            }
            return bytes.split(separator: 0).map { PathText.text(of: $0) }
        }
        if hasNull { throw Failure("\(title) has NUL characters; is it from find -print0? Then add --null") }
        return bytes.withoutByteOrderMark.split(separator: UInt8(ascii: "\n")).compactMap { line in
            let name = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            return name.isEmpty ? nil : PathText.text(of: name)
        }
    }
}

extension [UInt8] {
    /// What follows the byte order mark with which Windows editors begin UTF-8; everything where there is none.
    var withoutByteOrderMark: ArraySlice<UInt8> {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        return starts(with: mark) ? dropFirst(mark.count) : self[...]
    }
}
