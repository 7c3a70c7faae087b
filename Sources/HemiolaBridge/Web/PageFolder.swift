public import HemiolaSystem

/// The folder of the user's page.
///
/// Only regular files inside the folder are served: symbolic links are resolved, and their target must be inside too. Files and folders
/// whose name begins with a dot are not served.
public struct PageFolder: Sendable {
    /// Maximum size of a file in bytes.
    private static let fileLimit = 256 << 20

    /// The folder, without symbolic links.
    let root: String
    /// The name of the page in the folder; nil: there is none.
    private let index: String?

    /// A page that is a folder with an `index.html`, or an HTML file, whose folder is served.
    ///
    /// - Throws: A ``/HemiolaSystem/Problem`` with the setting `page` if the path does not exist, cannot be read, or is a folder without
    ///   `index.html`.
    public init(_ path: String) throws(Problem) {
        guard let resolved = FileSystem.realPath(path) else { throw Problem("\(path): \(SystemCallError.last)", at: "page") }
        var index = "index.html"
        if FileSystem.isFolder(resolved) {
            root = resolved
        } else {
            let slash = resolved.lastIndex(of: "/") ?? resolved.startIndex
            (root, index) = (String(resolved[..<slash]), String(resolved[resolved.index(after: slash)...]))
            guard MediaType(ofFile: index).isHTML else {
                throw Problem("\(path): not an HTML file; name a folder with an index.html, or a .html file", at: "page")
            }
        }
        self.index = index
        guard root != "" else { throw Problem("\(path): the root folder is not served; use a folder of its own", at: "page") }
        guard open([Substring(index)]) != nil else {
            throw Problem("\(path): no readable \(index) in this folder; name a folder with an index.html, or a .html file", at: "page")
        }
    }

    /// A folder of files, without a page.
    ///
    /// - Returns: nil if there is no such folder.
    init?(files path: String) {
        guard let resolved = FileSystem.realPath(path), FileSystem.isFolder(resolved) else { return nil }
        (root, index) = (resolved, nil)
    }

    /// The names of the files in the folder itself, in alphabetical order. Blocks.
    func names(withExtensions extensions: Set<String>) -> [String] {
        let files = ((try? FileSystem.entries(of: root)) ?? []).filter { [.file, .unknown].contains($0.kind) && !$0.name.hasPrefix(".") }
        let names = files.map(\.name).filter { name in
            name.lastIndex(of: ".").map { extensions.contains(name[name.index(after: $0)...].lowercased()) } == true
        }
        return names.sorted()
    }

    /// Opens a file. Blocks.
    ///
    /// - Parameter names: The names of the path below the folder, none of them hidden. An empty last name stands for `index.html`.
    /// - Returns: nil if there is no such regular file inside the folder.
    func open(_ names: [Substring]) -> PageFile? {
        var names = names
        if names.last == "" {
            guard let index else { return nil }
            names[names.count - 1] = names.count == 1 ? Substring(index) : "index.html"
        }
        guard let file = try? PageFile(RegularFile(opening: "\(root)/\(names.joined(separator: "/"))", atMost: Self.fileLimit)) else {
            return nil
        }
        let isInside = file.path.hasPrefix("\(root)/")
        return isInside && file.path.dropFirst(root.count).split(separator: "/").allSatisfy { !$0.hasPrefix(".") } ? file : nil
    }
}

/// An open file of the user's page, or one that a page imports.
final class PageFile: Sendable {
    private let file: RegularFile

    /// Takes ownership of an open file.
    init(_ file: RegularFile) {
        self.file = file
    }

    deinit {
        file.descriptor.close()
    }

    var path: String { file.path }
    var size: Int { file.size }
    /// Changes whenever the file changes.
    var tag: String { "\(String(file.size, radix: 16))-\(String(file.modificationTime, radix: 16))" }

    /// Reads bytes. Blocks.
    ///
    /// - Returns: Fewer bytes than requested only at the end of the file; nil after an error.
    func read(at offset: Int, count: Int) -> [UInt8]? {
        try? file.descriptor.bytes(at: Int64(offset), count: count)
    }
}
