internal import Hemiola

/// Copies presets of Butterchurn into the folder that the page of the sink `web` shows.
struct PresetCollection {
    /// What a file of a visualizer is.
    private enum Kind {
        /// A preset: a JSON object with `baseVals`.
        case preset
        /// A script: Butterchurn itself, or a pack of presets or pictures.
        case script
        /// A preset of MilkDrop, in another language.
        case milkDrop

        static let extensions: [String: Kind] = ["json": .preset, "js": .script, "mjs": .script, "milk": .milkDrop, "milk2": .milkDrop]

        init?(_ name: String) {
            let ending = name.split(separator: ".", omittingEmptySubsequences: false).dropFirst().last?.lowercased()
            guard let kind = ending.flatMap({ Self.extensions[$0] }) else { return nil }
            self = kind
        }

        /// The largest file in bytes; nil: its contents are not read.
        var limit: Int? { self == .milkDrop ? nil : self == .script ? 32 << 20 : 1 << 20 }
    }

    /// The largest size of all scripts together, which wait in memory until it is known which are needed.
    private static let mostScriptBytes = 256 << 20

    /// Errors of which the name of a new file is the cause, so that another name may be possible.
    private static let nameErrors: Set<SystemCallError.Code> = [.fileNameTooLong, .isDirectory, .illegalByteSequence, .invalidArgument]

    private let folder: String
    private(set) var presets: Set<String> = []
    /// The scripts by their names, until ``writeScripts()``: which are needed is known at the end.
    private var scripts: [String: [UInt8]] = [:]
    private var scriptBytes = 0
    private(set) var milkDropCount = 0
    private(set) var failures: [String] = []

    /// - Parameter folder: The folder of the presets, which is created.
    init(into folder: String) throws(Failure) {
        self.folder = folder
        do {
            try FileSystem.createFolder(folder)
        } catch {
            throw Failure("\(folder): \(error)", status: .outputFailed)
        }
    }

    var scriptNames: [String] { scripts.keys.sorted() }

    /// Adds a file, the files of a folder and its folders, or those of an archive.
    mutating func add(_ path: String) throws(Failure) {
        do {
            if FileSystem.isFolder(path) {
                try add(folder: path)
            } else if let kind = Kind(path) {
                let (count, name) = (milkDropCount + failures.count, FileSystem.lastName(of: path))
                try add(path, kind)
                // In folders, other files are expected.
                if count == milkDropCount + failures.count, !presets.contains(name), scripts[Self.scriptName(name)] == nil {
                    failures.append("\(path): not a preset of Butterchurn, nor a script of it")
                }
            } else {
                try Archive.read(
                    path, limit: { Kind($0)?.limit },
                    process: { name, bytes throws(Failure) in
                        // As in folders, hidden ones are skipped.
                        guard !name.split(separator: "/").contains(where: { $0.hasPrefix(".") && $0 != "." }) else { return }
                        try add(FileSystem.lastName(of: name), bytes, at: "\(path): \(name)")
                    })
            }
        } catch {
            guard error.status == .inputFailed else { throw error }
            failures += error.lines
        }
    }

    private mutating func add(folder: String) throws(Failure) {
        var walk = FolderWalk(folder, types: FileTypes(extensions: Set(Kind.extensions.keys), signatureLength: 0, matches: { _ in false }))
        while let item = walk.next() {
            switch item {
            case .file(let path, _): if let kind = Kind(path) { try add(path, kind) }
            case .failure(_, let problem): failures.append(problem.message)
            }
        }
    }

    private mutating func add(_ path: String, _ kind: Kind) throws(Failure) {
        var bytes: [UInt8]?
        do {
            let size = Int(try FileSystem.status(of: path).size)
            if let limit = kind.limit, size <= limit { bytes = try FileSystem.bytes(of: path, count: size) }
        } catch {
            return failures.append("\(path): \(error)")
        }
        try add(FileSystem.lastName(of: path), bytes, at: path)
    }

    /// - Parameters:
    ///   - bytes: nil: the file is too large, or its contents are not needed.
    ///   - place: For messages.
    private mutating func add(_ name: String, _ bytes: [UInt8]?, at place: String) throws(Failure) {
        guard let kind = Kind(name), !name.hasPrefix(".") else { return }
        guard let limit = kind.limit else {
            milkDropCount += 1
            return
        }
        guard let bytes else { return failures.append("\(place): larger than \(limit >> 20) MiB") }
        if kind == .script {
            // As a module of several files it would need a bundler.
            guard Self.isVisualizer(bytes) || Self.isPack(bytes), !Self.importsFiles(bytes) else { return }
            guard bytes.containsText("export") else {
                return failures.append("\(place): exports no preset; a pack is a CommonJS, UMD or ES module")
            }
            scriptBytes += bytes.count
            guard scriptBytes <= Self.mostScriptBytes else {
                return failures.append("\(place): left out: the scripts together are larger than \(Self.mostScriptBytes >> 20) MiB")
            }
            scripts[Self.scriptName(name)] = bytes
        } else if (try? JSONValue(bytes))?["baseVals"]?.members != nil {
            if try write(bytes, as: name, at: place) { presets.insert(name) }
        }
    }

    /// The page reads `.js` only.
    private static func scriptName(_ name: String) -> String { name.hasSuffix(".mjs") ? "\(name.dropLast(4)).js" : name }

    /// Writes the scripts, without those of which there is a smaller form: `NAME.js` beside `NAME.min.js`.
    mutating func writeScripts() throws(Failure) {
        scripts = scripts.filter { name, _ in name.hasSuffix(".min.js") || scripts["\(name.dropLast(3)).min.js"] == nil }
        for (name, bytes) in scripts.sorted(by: { $0.key < $1.key }) {
            if try !write(bytes, as: name, at: name) { scripts[name] = nil }
        }
    }

    /// Writes a file. A name that is not possible is a failure of its entry.
    ///
    /// - Returns: Whether it is written.
    /// - Throws: No other file could be written either.
    private mutating func write(_ bytes: [UInt8], as name: String, at place: String) throws(Failure) -> Bool {
        do {
            return try PartialFile.write(bytes, to: "\(folder)/\(name)")
        } catch {
            guard let code = error.code, Self.nameErrors.contains(code) else {
                throw Failure("\(folder)/\(name): \(error)", status: .outputFailed)
            }
            failures.append("\(place): \(error)")
            return false
        }
    }

    /// Whether the folder has a visualizer, without which no preset can be shown.
    var hasVisualizer: Bool {
        let entries = (try? FileSystem.entries(of: folder)) ?? []
        return entries.contains { entry in
            guard entry.name.hasSuffix(".js"), let limit = Kind.script.limit,
                let size = try? FileSystem.status(of: "\(folder)/\(entry.name)").size,
                let bytes = try? FileSystem.bytes(of: "\(folder)/\(entry.name)", count: min(limit, Int(size)))
            else { return false }
            return Self.isVisualizer(bytes)
        }
    }

    private static func isVisualizer(_ script: [UInt8]) -> Bool { script.containsText("createVisualizer") }

    private static func isPack(_ script: [UInt8]) -> Bool {
        script.containsText("baseVals") || script.containsText("data:image/")
    }

    private static func importsFiles(_ script: [UInt8]) -> Bool {
        script.containsText("\nimport ") || script.starts(with: "import ".utf8)
    }
}
