import CWebKit
import CWebPage
import FoundationEssentials
import HemiolaSystem

/// Where the files of a page come from.
nonisolated enum PageSource: Hashable, Sendable {
    /// The page of the web sink, which is compiled into the program.
    case builtIn
    /// A folder with index.html; the path has no symbolic links.
    case folder(String)
    /// A single file; the path has no symbolic links.
    case file(String)
    /// A page of an HTTP server that the user has named.
    case address(String)

    /// The scheme of the pages that the window serves.
    static let scheme = "hemiola-page"
    /// Largest file of a page, in bytes.
    static let maximumFile = 512 << 20

    /// The text that stands for the built-in page.
    static let builtInName = "hemiola:"

    /// A folder, an .html file, an http(s) address, or `builtInName`.
    init(_ text: String) throws(Problem) {
        if text == Self.builtInName {
            self = .builtIn
            return
        }
        if text.hasPrefix("http://") || text.hasPrefix("https://") {
            guard text.utf8.count <= 2048, let address = Self.normalized(text) else { throw Problem("\(text): invalid address") }
            self = .address(address)
            return
        }
        guard let path = FileSystem.realPath(text) else { throw Problem("\(text): \(SystemCallError.last)") }
        switch (try? FileSystem.status(of: path))?.kind {
        case .folder:
            guard (try? FileSystem.checkPermissions([.read], of: "\(path)/index.html")) != nil else {
                throw Problem("\(text): the folder has no index.html")
            }
            self = .folder(path)
        // A page of several files is usually named by its first file.
        case .file where FileSystem.lastName(of: path) == "index.html": self = .folder(FileSystem.folder(of: path))
        case .file where MediaType(ofFile: path).isHTML: self = .file(path)
        case .file: throw Problem("\(text): not a page; name a folder with index.html, an .html file or an address")
        default: throw Problem("\(text): not a file or folder")
        }
    }

    /// The text that identifies the page among all pages, for what is remembered of it.
    var key: String {
        switch self {
        case .builtIn: Self.builtInName
        case .folder(let path), .file(let path): path
        case .address(let address): address
        }
    }

    /// A short name for messages and tabs.
    var name: String {
        switch self {
        case .builtIn: "Hemiola"
        case .folder(let path), .file(let path): FileSystem.lastName(of: path)
        case .address(let address): address
        }
    }

    /// The host of the page's addresses: constant, so that the page's own storage is found again, and different for every page.
    var host: String {
        let checksum = g_compute_checksum_for_string(G_CHECKSUM_SHA256, key, -1)
        return String((take(checksum) ?? "").prefix(32))
    }

    /// The address that is loaded first.
    var startAddress: String {
        switch self {
        case .builtIn, .folder: "\(Self.scheme)://\(host)/"
        case .file: "\(Self.scheme)://\(host)/\(take(g_uri_escape_string(name, nil, 0)) ?? "")"
        case .address(let address): address
        }
    }

    /// Whether an address belongs to the page, so that the view may load it.
    func contains(_ address: String) -> Bool {
        if address == "about:blank" || address == "about:srcdoc" { return true }
        guard let origin = Self.origin(of: address) else { return false }
        return origin == Self.origin(of: startAddress)
    }

    /// Scheme, host and port of an address; nil if it is none.
    static func origin(of address: String) -> String? {
        guard let uri = g_uri_parse(address, G_URI_FLAGS_ENCODED, nil) else { return nil }
        defer { g_uri_unref(uri) }
        guard let (scheme, host, port) = parts(of: uri) else { return nil }
        return "\(scheme)://\(host):\(port)"
    }

    /// An address as a browser writes it: scheme and host in small letters, without the port that is the scheme's default, with a path.
    private static func normalized(_ address: String) -> String? {
        guard let uri = g_uri_parse(address, G_URI_FLAGS_ENCODED, nil) else { return nil }
        defer { g_uri_unref(uri) }
        guard let (scheme, host, port) = parts(of: uri) else { return nil }
        let path = String(cString: g_uri_get_path(uri))
        return take(
            g_uri_join(
                G_URI_FLAGS_ENCODED, scheme, g_uri_get_userinfo(uri), host, port, path.isEmpty ? "/" : path, g_uri_get_query(uri),
                g_uri_get_fragment(uri)))
    }

    /// Scheme and host in small letters, and the port, −1 for the default one; nil if the address has no host.
    private static func parts(of uri: OpaquePointer) -> (scheme: String, host: String, port: Int32)? {
        guard let scheme = g_uri_get_scheme(uri), let host = g_uri_get_host(uri), host[0] != 0 else { return nil }
        let name = String(cString: scheme).lowercased()
        let port = g_uri_get_port(uri)
        let isDefault = name == "http" && port == 80 || name == "https" && port == 443
        return (name, String(cString: host).lowercased(), isDefault ? -1 : port)
    }

    // MARK: - Files

    /// A file of a page.
    enum File {
        case bytes([UInt8])
        /// The receiver closes it.
        case open(RegularFile)
    }

    /// The file at the path of an address of the page.
    ///
    /// - Throws: If there is none, it is no regular file, it is outside of the page's folder, or it is too large.
    func file(at path: String) throws(Problem) -> File {
        // The page has this script already: the window has run it before the page's own scripts.
        if path == "/hemiola.js" { return .bytes(Array("// The window has run this script.\n".utf8)) }
        var components = path.split(separator: "/").map(String.init)
        if components.isEmpty || path.hasSuffix("/") { components.append("index.html") }
        guard !components.contains(".."), !path.utf8.contains(0), path.utf8.count <= 4096 else { throw Problem("invalid path") }
        switch self {
        case .builtIn:
            if components.count == 2, components[0] == "presets" { return try Self.preset(path.hasSuffix("/") ? nil : components[1]) }
            guard let bytes = Self.builtInFiles[components.joined(separator: "/")] else { throw Problem("no such file") }
            return .bytes(bytes)
        case .folder(let folder):
            return try Self.open("\(folder)/\(components.joined(separator: "/"))", inside: folder + "/")
        case .file(let file):
            guard components.count == 1, file.hasSuffix("/\(components[0])") else {
                throw Problem("the page is a single file; to give it other files, name its folder")
            }
            return try Self.open(file, inside: file)
        case .address:
            throw Problem("no such file")
        }
    }

    /// A file of the user's presets, which `hemiola presets add` copies; nil: the list of their names, empty where there is no folder.
    private static func preset(_ name: String?) throws(Problem) -> File {
        let folder = EnvironmentVariable.presetFolder().flatMap(FileSystem.realPath)
        func isPreset(_ name: String) -> Bool { !name.hasPrefix(".") && (name.hasSuffix(".json") || name.hasSuffix(".js")) }
        guard let name else {
            let names = (folder.flatMap { try? FileSystem.names(in: $0) } ?? []).filter(isPreset).sorted()
            return .bytes(Array((try? JSONEncoder().encode(names)) ?? Data("[]".utf8)))
        }
        guard isPreset(name), let folder else { throw Problem("no such file") }
        return try open("\(folder)/\(name)", inside: folder + "/")
    }

    /// The bytes of a file that a page imports, as Base64.
    static func importedFile(_ path: String) throws(Problem) -> String {
        let file = try RegularFile.imported(path)
        defer { file.descriptor.close() }
        do {
            return Data(try file.descriptor.bytes(at: 0, count: file.size)).base64EncodedString()
        } catch {
            throw Problem("\(path): \(error)")
        }
    }

    private static func open(_ path: String, inside prefix: String) throws(Problem) -> File {
        let file = try RegularFile(opening: path, atMost: maximumFile)
        if file.path.hasPrefix(prefix) { return .open(file) }
        file.descriptor.close()
        throw Problem("outside of the page's folder")
    }

    private static let builtInFiles: [String: [UInt8]] = {
        var files: [String: [UInt8]] = [:]
        var number: UInt32 = 0
        while case let file = cwebpage_file_at(number), let path = file.path {
            files[String(cString: path)] = Array(UnsafeBufferPointer(start: file.bytes, count: file.count))
            number += 1
        }
        return files
    }()

    /// The page script of the web sink.
    static var pageScript: [UInt8] { builtInFiles["hemiola.js"] ?? [] }

    /// The media type of a file name, by its extension. Code and JSON are UTF-8.
    static func mediaType(of path: String) -> String {
        let type = MediaType(ofFile: path)
        if path.hasSuffix("/") || type.isHTML { return "text/html" }
        return type.text == "application/json" ? "application/json; charset=utf-8" : type.withCharacterSet
    }
}
