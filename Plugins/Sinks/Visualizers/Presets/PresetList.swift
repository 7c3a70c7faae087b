internal import HemiolaSystem

/// Reads preset names from a file or folder.
enum PresetList {
    /// File name extensions of MilkDrop and projectM presets, and of Butterchurn presets.
    private static let extensions = [".milk", ".json"]

    /// Reads a text file with one name per line, or the file names in a folder of presets.
    ///
    /// Empty lines, lines that start with `#` and repeated names are skipped. The names from a folder are those of the preset files
    /// in it and its subfolders, without extension, in the order of their paths.
    ///
    /// - Parameter path: nil: there are no names.
    static func names(at path: String?) throws(Problem) -> [String] {
        guard let path else { return [] }
        guard FileSystem.exists(path) else { throw Problem("\(path): No such file or directory") }
        do {
            return unique(FileSystem.isFolder(path) ? try folder(path) : lines(try text(at: path)))
        } catch let error as Problem {
            throw error
        } catch {
            throw Problem("\(path): cannot read the list of presets; check its permissions")
        }
    }

    /// Maximum size of a list in bytes.
    static let sizeLimit = 16 << 20

    private static func text(at path: String) throws -> [UInt8] {
        let file = try FileDescriptor.open(path)
        defer { file.close() }
        let bytes = try file.readAll(atMost: sizeLimit + 1)
        guard bytes.count <= sizeLimit else {
            throw Problem("\(path): the list of presets is larger than \(sizeLimit >> 20) MiB")
        }
        if bytes.contains(0) {
            throw Problem("\(path): not a text file; a list of presets has one name per line")
        }
        return bytes
    }

    private static func lines(_ bytes: [UInt8]) -> [String] {
        // Unicode scalars and not characters: a combining mark at the start of a line would merge with the line feed before it.
        let text = String(decoding: bytes, as: UTF8.self).unicodeScalars
        return text.split { $0 == "\n" || $0 == "\r" }.compactMap { line in
            let name = trimmed(line)
            return name.isEmpty || name.hasPrefix("#") ? nil : name
        }
    }

    private static func trimmed(_ line: Substring.UnicodeScalarView) -> String {
        let isBlank: (Unicode.Scalar) -> Bool = { $0 == " " || $0 == "\t" || $0 == "\u{FEFF}" }
        var line = line.drop(while: isBlank)
        while let last = line.last, isBlank(last) { line.removeLast() }
        return String(line)
    }

    private static func folder(_ path: String) throws(SystemCallError) -> [String] {
        try paths(below: path).sorted().compactMap { path in
            let name = FileSystem.lastName(of: path)
            guard !name.hasPrefix("."), let suffix = extensions.first(where: { name.lowercased().hasSuffix($0) }) else { return nil }
            return String(name.dropLast(suffix.count))
        }
    }

    /// All paths below a folder. Links to folders are not followed.
    private static func paths(below folder: String) throws(SystemCallError) -> [String] {
        var paths: [String] = []
        for entry in try FileSystem.entries(of: folder) {
            let path = "\(folder)/\(entry.name)"
            paths.append(path)
            let kind = entry.kind == .unknown ? try FileSystem.status(of: path, followsLinks: false).kind : entry.kind
            if kind == .folder { paths += try Self.paths(below: path) }
        }
        return paths
    }

    /// The names without repetitions, in the order of their first occurrence.
    static func unique(_ names: [String]) -> [String] {
        var known: Set<String> = []
        return names.filter { known.insert($0).inserted }
    }
}
