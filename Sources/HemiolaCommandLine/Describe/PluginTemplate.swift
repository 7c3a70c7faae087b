internal import CPluginExamples
internal import Hemiola

/// The package of `hemiola plugins new`: one of the examples, with another name.
struct PluginTemplate {
    private let name: String
    private let files: [(path: String, text: String)]

    /// - Throws: The name cannot be that of a package.
    init(_ name: String, isSink: Bool) throws(Failure) {
        let allowed = name.allSatisfy { $0 >= "a" && $0 <= "z" || $0 >= "0" && $0 <= "9" || $0 == "-" }
        guard allowed, let first = name.first, first.isLetter, name.last != "-", name.count <= 60, !name.contains("--") else {
            throw Failure("\(PathText.shown(name)): a name has lower-case letters, digits and - between them, as in my-meter")
        }
        self.name = name
        let example = isSink ? "my-printer" : "my-meter"
        let names = Array(zip(Self.spellings(of: example), Self.spellings(of: name)))
        files = Self.files(of: example).map { (Self.renamed($0, names[...]), Self.renamed($1, names[...])) }
    }

    /// The files of an example, which are compiled into the program.
    private static func files(of example: String) -> [(path: Substring, text: Substring)] {
        var files: [(path: Substring, text: Substring)] = []
        var number: UInt32 = 0
        while case let file = cpluginexamples_file_at(number), let path = file.path.map({ String(cString: $0) }) {
            number += 1
            guard path.hasPrefix("\(example)/") else { continue }
            let text = String(decoding: UnsafeBufferPointer(start: file.bytes, count: file.count), as: UTF8.self)
            files.append((path.dropFirst(example.count + 1), text[...]))
        }
        return files
    }

    /// The name of a package, then as a type, as a value and in records: `my-meter`, `MyMeter`, `myMeter`, `my_meter`.
    private static func spellings(of name: String) -> [String] {
        let words = name.split(separator: "-")
        let type = words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
        return [name, type, type.prefix(1).lowercased() + type.dropFirst(), words.joined(separator: "_")]
    }

    /// Replaces names. No name is looked for in what replaces another one.
    private static func renamed(_ text: Substring, _ names: ArraySlice<(String, String)>) -> String {
        guard let (old, new) = names.first else { return String(text) }
        let parts = text.split(separator: old, omittingEmptySubsequences: false)
        return parts.map { renamed($0, names.dropFirst()) }.joined(separator: new)
    }

    /// Makes the folder and its files.
    ///
    /// - Throws: A file of the user's own is in the way, and nothing was written; or a file cannot be written.
    func write() throws(Failure) {
        if let status = try? FileSystem.status(of: name), status.kind != .folder {
            throw Failure("\(name): a file has this name; choose another name")
        }
        if let (path, _) = files.first(where: { FileSystem.exists("\(name)/\($0.path)") }) {
            throw Failure("\(name): the folder has a file \(path) already; choose another name")
        }
        for (path, text) in files {
            let path = "\(name)/\(path)"
            do {
                try FileSystem.createFolder(FileSystem.folder(of: path))
                try PartialFile.write(Array(text.utf8), to: path)
            } catch {
                throw Failure("\(path): \(error)", status: .outputFailed)
            }
        }
    }

    /// What to do with the new package: the first commands of its README, and with what it is built.
    var instructions: String {
        let readme = files.first { $0.path == "README.md" }?.text.split(separator: "\n") ?? []
        let commands = readme.drop { $0 != "```sh" }.dropFirst().prefix { $0 != "```" }
        let lines = ["made \(name); to build and run it:", "  cd \(name)"] + commands.map { "  \($0)" }
        return (lines + readme.filter { $0.contains("HEMIOLA_SOURCE") }.map(String.init)).joined(separator: "\n")
    }
}
