internal import Hemiola

/// The files of some types in a folder and the folders below it, in the order of their names.
///
/// Hidden files and folders are skipped. Links to files are followed. A link to a folder is followed if the folder lies outside of the
/// walk; every folder is read once, so that the walk ends also where links form a loop.
struct FolderWalk: Sendable {
    /// A file, or a folder or link that cannot be read.
    enum Item: Sendable, Hashable {
        /// - relative: The path below the folder of the walk.
        case file(path: String, relative: String)
        /// - problem: One line that names the path.
        case failure(path: String, problem: Problem)

        fileprivate static func failure(_ path: String, _ message: String) -> Item {
            .failure(path: path, problem: Problem("\(PathText.shown(path).onOneLine): \(message)"))
        }
    }

    /// A folder that is being read: its remaining entries, in reverse order.
    private struct Level {
        var path: String
        var relative: String
        var entries: [(name: String, kind: FileKind)]
    }

    private let types: FileTypes
    /// The folder of the walk with all links resolved, and a slash.
    private let realRoot: String
    private var levels: [Level] = []
    private var visited: Set<FileStatus.Identity> = []
    /// A failure that comes next.
    private var pending: Item?

    /// - Parameters:
    ///   - root: The folder.
    ///   - types: The files to find.
    ///   - skipped: A folder that is not read: the one that the results are written to; nil: none.
    init(_ root: String, types: FileTypes, skipping skipped: FileStatus.Identity? = nil) {
        self.types = types
        realRoot = Self.withSlash(FileSystem.realPath(root) ?? root)
        if let skipped { visited.insert(skipped) }
        open(root, relative: "")
    }

    /// The next file or failure; nil at the end.
    mutating func next() -> Item? {
        while true {
            if let item = pending {
                pending = nil
                return item
            }
            guard let last = levels.indices.last else { return nil }
            guard let entry = levels[last].entries.popLast() else {
                levels.removeLast()
                continue
            }
            if entry.name.hasPrefix(".") { continue }
            let path = Self.withSlash(levels[last].path) + entry.name
            let relative = levels[last].relative.isEmpty ? entry.name : levels[last].relative + "/" + entry.name
            switch entry.kind {
            case .file: if isWanted(path, entry.name) { return .file(path: path, relative: relative) }
            case .folder: open(path, relative: relative)
            case .link, .unknown: if let item = follow(path, entry.name, relative: relative, isLink: entry.kind == .link) { return item }
            case .pipe, .socket, .device, .other: break
            }
        }
    }

    private mutating func follow(_ path: String, _ name: String, relative: String, isLink: Bool) -> Item? {
        let status: FileStatus
        do {
            status = try FileSystem.status(of: path)
        } catch {
            guard types.extensions.contains(Self.fileExtension(of: name)) else { return nil }
            return .failure(path, "cannot be opened (\(error)); the link leads to no file")
        }
        switch status.kind {
        case .file: return isWanted(path, name) ? .file(path: path, relative: relative) : nil
        case .folder:
            if isLink {
                guard let target = FileSystem.realPath(path).map(Self.withSlash) else { return nil }
                // The walk reaches a folder within by its own path; a folder above would lead back.
                if target.hasPrefix(realRoot) || realRoot.hasPrefix(target) { return nil }
            }
            open(path, relative: relative)
            return nil
        case .link, .pipe, .socket, .device, .other, .unknown: return nil
        }
    }

    private mutating func open(_ path: String, relative: String) {
        do {
            guard visited.insert(try FileSystem.status(of: path).identity).inserted else { return }
            let entries = try FileSystem.entries(of: path).sorted { $0.name > $1.name }
            levels.append(Level(path: path, relative: relative, entries: entries))
        } catch {
            pending = .failure(path, "the folder cannot be read (\(error)); show its owner and mode: ls -ld")
        }
    }

    private func isWanted(_ path: String, _ name: String) -> Bool {
        let ending = Self.fileExtension(of: name)
        if types.extensions.contains(ending) { return true }
        if types.otherExtensions.contains(ending) { return false }
        guard let head = try? FileSystem.bytes(of: path, count: types.signatureLength), !head.isEmpty else { return false }
        return types.matches(head)
    }

    /// The extension in lower case, without its dot; empty: there is none.
    private static func fileExtension(of name: String) -> String {
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return "" }
        return name[name.index(after: dot)...].lowercased()
    }

    private static func withSlash(_ path: String) -> String { path.hasSuffix("/") ? path : path + "/" }
}
