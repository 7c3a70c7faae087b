import CWebKit
import CWebPage
import CWindow
import FoundationEssentials
import Glibc

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
    static let maximumFile: Int64 = 512 << 20

    /// Why a page cannot be opened.
    struct Fault: Error {
        var message: String
    }

    /// The text that stands for the built-in page.
    static let builtInName = "hemiola:"

    /// A folder, an .html file, an http(s) address, or `builtInName`.
    init(_ text: String) throws(Fault) {
        if text == Self.builtInName {
            self = .builtIn
            return
        }
        if text.hasPrefix("http://") || text.hasPrefix("https://") {
            guard text.utf8.count <= 2048, let address = Self.normalized(text) else { throw Fault(message: "\(text): invalid address") }
            self = .address(address)
            return
        }
        guard let real = realpath(text, nil) else { throw Fault(message: "\(text): \(String(cString: strerror(errno)))") }
        defer { free(real) }
        let path = String(cString: real)
        var status = stat()
        guard stat(path, &status) == 0 else { throw Fault(message: "\(text): \(String(cString: strerror(errno)))") }
        if status.st_mode & S_IFMT == S_IFDIR {
            guard access("\(path)/index.html", R_OK) == 0 else { throw Fault(message: "\(text): the folder has no index.html") }
            self = .folder(path)
        } else if status.st_mode & S_IFMT == S_IFREG {
            // A page of several files is usually named by its first file.
            if path.hasSuffix("/index.html") {
                self = .folder(String(path.dropLast("/index.html".count)))
            } else if path.hasSuffix(".html") || path.hasSuffix(".htm") {
                self = .file(path)
            } else {
                throw Fault(message: "\(text): not a page; name a folder with index.html, an .html file or an address")
            }
        } else {
            throw Fault(message: "\(text): not a file or folder")
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
        case .folder(let path), .file(let path): path.split(separator: "/").last.map(String.init) ?? path
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
        case .file(let path): "\(Self.scheme)://\(host)/\(Self.escape(path.split(separator: "/").last.map(String.init) ?? ""))"
        case .address(let address): address
        }
    }

    private static func escape(_ name: String) -> String {
        take(g_uri_escape_string(name, nil, 0)) ?? ""
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
        /// An open file and its size in bytes. The receiver closes it.
        case open(Int32, Int64)
    }

    /// The file at the path of an address of the page.
    ///
    /// - Throws: If there is none, it is no regular file, it is outside of the page's folder, or it is too large.
    func file(at path: String) throws(Fault) -> File {
        // The page has this script already: the window has run it before the page's own scripts.
        if path == "/hemiola.js" { return .bytes(Array("// The window has run this script.\n".utf8)) }
        var components = path.split(separator: "/").map(String.init)
        if components.isEmpty || path.hasSuffix("/") { components.append("index.html") }
        guard !components.contains(".."), !path.utf8.contains(0), path.utf8.count <= 4096 else { throw Fault(message: "invalid path") }
        switch self {
        case .builtIn:
            if components.count == 2, components[0] == "presets" { return try Self.preset(path.hasSuffix("/") ? nil : components[1]) }
            guard let bytes = Self.builtInFiles[components.joined(separator: "/")] else { throw Fault(message: "no such file") }
            return .bytes(bytes)
        case .folder(let folder):
            return try Self.open("\(folder)/\(components.joined(separator: "/"))", inside: folder + "/")
        case .file(let file):
            guard components.count == 1, file.hasSuffix("/\(components[0])") else {
                throw Fault(message: "the page is a single file; to give it other files, name its folder")
            }
            return try Self.open(file, inside: file)
        case .address:
            throw Fault(message: "no such file")
        }
    }

    /// A file of the user's presets, which `hemiola presets add` copies; nil: the list of their names, empty where there is no folder.
    private static func preset(_ name: String?) throws(Fault) -> File {
        let folder = "\(String(cString: g_get_user_data_dir()))/hemiola/presets"
        func isPreset(_ name: String) -> Bool { !name.hasPrefix(".") && (name.hasSuffix(".json") || name.hasSuffix(".js")) }
        if let name {
            guard isPreset(name), let real = realpath(folder, nil) else { throw Fault(message: "no such file") }
            defer { free(real) }
            return try open("\(folder)/\(name)", inside: "\(String(cString: real))/")
        }
        var names: [String] = []
        if let entries = g_dir_open(folder, 0, nil) {
            defer { g_dir_close(entries) }
            while let name = g_dir_read_name(entries) { names.append(String(cString: name)) }
        }
        return .bytes(Array((try? JSONEncoder().encode(names.filter(isPreset).sorted())) ?? Data("[]".utf8)))
    }

    private static func open(_ path: String, inside prefix: String) throws(Fault) -> File {
        let (descriptor, size) = try open(path, inside: prefix, limit: maximumFile)
        return .open(descriptor, size)
    }

    /// A file that a page imports.
    static func importedFile(_ path: String) throws(Fault) -> (descriptor: Int32, size: Int64) {
        try open(path, inside: "", limit: 32 << 20)
    }

    private static func open(_ path: String, inside prefix: String, limit: Int64) throws(Fault) -> (Int32, Int64) {
        var size: Int64 = 0
        var real = [CChar](repeating: 0, count: 4097)
        let descriptor = cwindow_open_file(path, &real, real.count, &size)
        guard descriptor >= 0 else { throw Fault(message: String(cString: strerror(errno))) }
        let realPath = real.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
        guard realPath.hasPrefix(prefix) else {
            close(descriptor)
            throw Fault(message: "outside of the page's folder")
        }
        guard size <= limit else {
            close(descriptor)
            throw Fault(message: "larger than \(limit >> 20) MiB")
        }
        return (descriptor, size)
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

    /// The media type of a file name, by its extension.
    static func mediaType(of path: String) -> String {
        let name = path.split(separator: "/").last ?? ""
        guard let dot = name.lastIndex(of: ".") else { return path.hasSuffix("/") ? "text/html" : "application/octet-stream" }
        return switch name[name.index(after: dot)...].lowercased() {
        case "html", "htm": "text/html"
        case "js", "mjs": "text/javascript; charset=utf-8"
        case "css": "text/css; charset=utf-8"
        case "json", "map": "application/json; charset=utf-8"
        case "svg": "image/svg+xml"
        case "png": "image/png"
        case "jpg", "jpeg": "image/jpeg"
        case "gif": "image/gif"
        case "webp": "image/webp"
        case "avif": "image/avif"
        case "ico": "image/x-icon"
        case "woff": "font/woff"
        case "woff2": "font/woff2"
        case "ttf": "font/ttf"
        case "otf": "font/otf"
        case "wasm": "application/wasm"
        case "mp3": "audio/mpeg"
        case "ogg", "oga": "audio/ogg"
        case "wav": "audio/wav"
        case "flac": "audio/flac"
        case "mp4", "m4v": "video/mp4"
        case "webm": "video/webm"
        case "txt", "md", "glsl", "frag", "vert", "milk", "csv": "text/plain; charset=utf-8"
        default: "application/octet-stream"
        }
    }
}
