internal import Hemiola
internal import HemiolaFiles

/// The files that the arguments name, and the sound files of the folders that they name, in order, each with its place below the common
/// folder.
struct CorpusInputs: Sendable {
    private struct Argument {
        var path: String
        /// The place below the common folder; empty for that folder itself.
        var relative: String
        var isFolder: Bool
    }

    private let arguments: [Argument]
    private let types: FileTypes
    /// A folder that is not read: the one that the results are written to; nil: none.
    var skipped: FileStatus.Identity?
    private var index = 0
    private var walk: FolderWalk?
    /// The places of the items so far, where an item could come twice.
    private var places: Set<String> = []

    /// - Parameters:
    ///   - paths: Files and folders, as given. The last `fileCount` are files: a folder among them is not walked.
    ///   - types: The files to find in folders.
    init(_ paths: [String], fileCount: Int = 0, types: FileTypes) {
        self.types = types
        let working = FileSystem.workingFolder
        let places = paths.enumerated().map { index, path in
            (names: Self.names(path, in: working), isFolder: index < paths.count - fileCount && FileSystem.isFolder(path))
        }
        var base = places.first.map { paths.count == 1 && $0.isFolder ? $0.names : $0.names.dropLast() } ?? []
        for place in places {
            let parent = paths.count == 1 && place.isFolder ? place.names : place.names.dropLast()
            base = ArraySlice(zip(base, parent).prefix { $0 == $1 }.map(\.0))
        }
        arguments = zip(paths, places).map { path, place in
            Argument(path: path, relative: place.names.dropFirst(base.count).joined(separator: "/"), isFolder: place.isFolder)
        }
    }

    /// Why there are no inputs, where there are none: none of the folders has a sound file.
    var emptyText: String {
        let folders = arguments.filter(\.isFolder).map { PathText.shown($0.path).onOneLine }
        return "\(folders.joined(separator: ", ")): no sound files; name the files themselves"
    }

    /// The number of inputs; nil: it is not known before the folders are read.
    var count: Int? { arguments.contains(where: \.isFolder) ? nil : arguments.count }

    /// The next item; nil at the end. An input that is given twice comes once.
    mutating func next() -> FolderWalk.Item? {
        while true {
            if let item = walk?.next() {
                guard case .file(let path, let relative) = item else { return item }
                let prefix = arguments[index - 1].relative
                if let item = unique(path, prefix.isEmpty ? relative : prefix + "/" + relative) { return item }
                continue
            }
            walk = nil
            guard index < arguments.count else { return nil }
            let argument = arguments[index]
            index += 1
            if argument.isFolder {
                walk = FolderWalk(argument.path, types: types, skipping: skipped)
            } else if let item = unique(argument.path, argument.relative) {
                return item
            }
        }
    }

    private mutating func unique(_ path: String, _ relative: String) -> FolderWalk.Item? {
        if arguments.count > 1, !places.insert(relative).inserted { return nil }
        return .file(path: path, relative: relative)
    }

    /// The names of an absolute path, without `.` and `..`.
    private static func names(_ path: String, in working: String) -> ArraySlice<String> {
        var names: ArraySlice<String> = []
        for name in (path.hasPrefix("/") ? path : working + "/" + path).split(separator: "/") where name != "." {
            if name == ".." { _ = names.popLast() } else { names.append(String(name)) }
        }
        return names
    }
}

extension PluginRegistry {
    /// The sound files among the files of a folder: those that the capture `file` reads; nil: there is no such capture.
    var soundFileTypes: FileTypes? { captures.first { $0.about.id == "file" }?.fileTypes }
}
