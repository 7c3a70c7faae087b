internal import CWebPage

/// The files of the built-in page, which are compiled into the program.
public enum PageFiles {
    /// The script that drives a page by the clock of a film. It is not one of the page.
    public static let film = embedded["/\(filmName)"] ?? []
    /// The files by their paths on the server: `/index.html`, `/app/app.js`.
    public static let all: [String: [UInt8]] = {
        var files = embedded
        files.removeValue(forKey: "/\(filmName)")
        files["/index.html"] = withPreloads(files)
        return files
    }()

    private static let filmName = "film.js"

    private static let embedded: [String: [UInt8]] = {
        var files: [String: [UInt8]] = [:]
        var number: UInt32 = 0
        while case let file = cwebpage_file_at(number), let path = file.path {
            files["/\(String(cString: path))"] = Array(UnsafeBufferPointer(start: file.bytes, count: file.count))
            number += 1
        }
        return files
    }()

    /// The page, with a line for each module: otherwise a browser requests each only when it has the one that imports it.
    private static func withPreloads(_ files: [String: [UInt8]]) -> [UInt8]? {
        // The page script is no module, and the frame has the other.
        let modules = Set(files.keys.filter { $0.hasSuffix(".js") }).subtracting(["/hemiola.js", "/stage/frame.js"])
        let lines = modules.sorted().map { "<link rel=\"modulepreload\" href=\"\($0.dropFirst())\">\n" }.joined()
        return files["/index.html"].map { Array(String(decoding: $0, as: UTF8.self).replacing("</head>", with: lines + "</head>").utf8) }
    }
}
