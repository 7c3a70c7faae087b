internal import FoundationEssentials

/// Names of presets from a file or folder.
enum PresetList {
    struct Fault: Error {
        var message: String
    }

    /// Presets of MilkDrop and projectM, and of Butterchurn.
    private static let endings = [".milk", ".json"]

    /// Reads a list: a text file with a name on every line, or a folder of presets.
    ///
    /// Empty lines and those that begin with `#` are passed over, and a name counts once. A folder's presets are named after
    /// their files, those of its subfolders too, in the order of their paths.
    static func names(at path: String) throws(Fault) -> [String] {
        var isFolder = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            throw Fault(message: "cannot read the presets of \(path): there is no such file or folder")
        }
        do {
            return unique(isFolder ? try folder(path) : lines(try Data(contentsOf: URL(filePath: path))))
        } catch {
            throw Fault(message: "cannot read the presets of \(path): may you read it?")
        }
    }

    private static func lines(_ data: Data) -> [String] {
        // By scalars: a combining mark at the start of a line would join the line's end.
        let text = String(decoding: data, as: UTF8.self).unicodeScalars
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

    private static func folder(_ path: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: path).sorted().compactMap { path in
            guard let ending = endings.first(where: { path.lowercased().hasSuffix($0) }) else { return nil }
            let name = path.split(separator: "/").last.map(String.init) ?? path
            return name.hasPrefix(".") ? nil : String(name.dropLast(ending.count))
        }
    }

    /// Each name once, where it comes first.
    static func unique(_ names: [String]) -> [String] {
        var known: Set<String> = []
        return names.filter { known.insert($0).inserted }
    }
}
