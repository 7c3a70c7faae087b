internal import Hemiola
internal import HemiolaFiles

/// The table of an earlier run of `--summary -o FILE`, to which `--resume` adds rows.
struct SummaryTable {
    private let path: String
    private let isCSV: Bool

    /// - Throws: The path does not name one file to which rows can be added.
    init(_ path: String?) throws(Failure) {
        guard let path, !OutputTarget(path).isSpecial else {
            throw Failure("--resume with --summary needs --output FILE, the table of the earlier run")
        }
        let ending = PathTemplate.ending(of: path).lowercased()
        guard !path.contains("{"), !ending.hasSuffix(".zst") else {
            throw Failure("--output \(path): --resume adds rows to one table that is not compressed; leave out {} and .zst")
        }
        self.path = path
        isCSV = ending == ".csv"
    }

    /// The files whose rows stay: they have no error, and are not newer than the table. All other rows are removed from the table.
    ///
    /// - Parameter columns: Those of this run; nil: not known yet.
    /// - Throws: The table has other columns, or cannot be read or written.
    func currentFiles(columns: [String]?) throws(Failure) -> Set<String> {
        guard let table = try? FileSystem.status(of: path), table.kind == .file else { return [] }
        var (files, kept, row, rowCount): (Set<String>, [UInt8], [UInt8], Int) = ([], [], [], 0)
        var last: (file: String?, start: Int) = (nil, 0)
        try TextLines.read(path) { line, _ throws(Failure) in
            row += line + [UInt8(ascii: "\n")]
            // A cell of a table can have line breaks, between quotes.
            if isCSV, !row.count(where: { $0 == UInt8(ascii: "\"") }).isMultiple(of: 2) { return }
            defer { row = [] }
            rowCount += 1
            last = (nil, kept.count)
            if isCSV, rowCount == 1 {
                if let columns { try check(row, columns) }
                kept += row
            } else if let file = Self.completeFile(row, isCSV: isCSV), !isNewer(file, than: table), files.insert(file).inserted {
                kept += row
                last.file = file
            }
        }
        if (try? FileSystem.bytes(of: path, from: -1, count: 1)) != [UInt8(ascii: "\n")] {
            // The run was killed while it wrote the last row.
            kept.removeSubrange(last.start...)
            if let file = last.file { files.remove(file) }
        }
        guard kept.count != table.size else { return files }
        do { try PartialFile.write(kept, to: FileSystem.realPath(path) ?? path) } catch {
            throw Failure("cannot write \(path): \(error)", status: .outputFailed)
        }
        return files
    }

    private func check(_ row: [UInt8], _ columns: [String]) throws(Failure) {
        var header = JSONBuffer(capacity: 1024)
        header.append(row: columns)
        guard header.withUnsafeBytes({ row.elementsEqual($0) }) else {
            throw Failure("\(path): the table has other columns than this run; give the --select with which it was made, or another file")
        }
    }

    private func isNewer(_ file: String, than table: FileStatus) -> Bool {
        (try? FileSystem.status(of: file))?.isNewer(than: table) ?? false
    }

    /// The file of a row without an error: the first cell, where the last one is empty.
    static func completeFile(_ row: [UInt8], isCSV: Bool) -> String? {
        guard isCSV else {
            guard let record = try? JSONValue(Array(row.dropLast())), record["error"] == .null else { return nil }
            return record["file"]?.string
        }
        guard row.dropLast().last == UInt8(ascii: ",") else { return nil }
        guard row.first == UInt8(ascii: "\"") else {
            return String(decoding: row.prefix { $0 != UInt8(ascii: ",") }, as: UTF8.self)
        }
        var (name, rest): ([UInt8], ArraySlice<UInt8>) = ([], row.dropFirst())
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\"") {
                guard rest.first == byte else { break }
                rest = rest.dropFirst()
            }
            name.append(byte)
        }
        return String(decoding: name, as: UTF8.self)
    }
}
