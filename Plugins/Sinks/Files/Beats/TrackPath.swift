internal import HemiolaSystem

/// The absolute path of an input, as the library of Rekordbox has it.
struct TrackPath {
    /// The bytes of the path, without a zero.
    private let bytes: [UInt8]

    /// - Parameter input: The path as given, as `PathText` writes it. Links are followed if the file exists.
    init(_ input: String) {
        let path = PathText.bytes(of: FileSystem.realPath(input) ?? input)
        let isAbsolute = path.first == UInt8(ascii: "/")
        bytes = isAbsolute ? path : PathText.bytes(of: FileSystem.workingFolder) + [UInt8(ascii: "/")] + path
    }

    /// `file://localhost/`, then the path with all bytes escaped except letters, digits, `-`, `.`, `_`, `~` and `/`.
    var url: String {
        let kept = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/".utf8)
        let text = bytes.map {
            kept.contains($0) ? String(UnicodeScalar($0)) : "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true)
        }
        return "file://localhost" + text.joined()
    }

    /// The file name without its extension.
    var stem: String { String(decoding: name[..<(dot ?? name.endIndex)], as: UTF8.self) }

    /// The kind of file by its extension, as in `FLAC File`.
    var kind: String {
        guard let dot else { return "Unknown File" }
        return String(decoding: name[(dot + 1)...], as: UTF8.self).uppercased() + " File"
    }

    private var name: [UInt8] { bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).last.map(Array.init) ?? [] }

    /// The dot before the extension.
    private var dot: Int? { name.lastIndex(of: UInt8(ascii: ".")).flatMap { $0 > 0 ? $0 : nil } }
}
