internal import Glibc
internal import HemiolaSystem

/// The absolute path of an input, as the libraries of DJ programs have it.
struct TrackPath {
    /// The bytes of the path, without a zero.
    let bytes: [UInt8]

    /// - Parameter input: The path as given, as `PathText` writes it. Links are followed if the file exists.
    init(_ input: String) {
        // Safe: `realpath` allocates the result, which is copied and freed.
        if let resolved = realpath(PathText.systemPath(input), nil) {
            bytes = Array(UnsafeBufferPointer(start: resolved, count: strlen(resolved))).map { UInt8(truncatingIfNeeded: $0) }
            free(resolved)
            return
        }
        let path = PathText.bytes(of: input)
        guard path.first != UInt8(ascii: "/"), let folder = getcwd(nil, 0) else {
            bytes = path
            return
        }
        let parent = UnsafeBufferPointer(start: folder, count: strlen(folder)).map { UInt8(truncatingIfNeeded: $0) }
        bytes = parent + [UInt8(ascii: "/")] + path
        free(folder)
    }

    /// `file://localhost/`, then the path with all bytes escaped except letters, digits, `-`, `.`, `_`, `~` and `/`.
    var url: String {
        let digits = Array("0123456789ABCDEF".utf8)
        var url = Array("file://localhost".utf8)
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: "/"):
                url.append(byte)
            default: url += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: url, as: UTF8.self)
    }

    /// The file name without its extension.
    var stem: String {
        let name = name
        let dot = name.lastIndex(of: UInt8(ascii: ".")) ?? name.endIndex
        return String(decoding: dot > name.startIndex ? name[..<dot] : name, as: UTF8.self)
    }

    /// The kind of file by its extension, as in `FLAC File`.
    var kind: String {
        let name = name
        guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot > name.startIndex else { return "Unknown File" }
        return String(decoding: name[(dot + 1)...], as: UTF8.self).uppercased() + " File"
    }

    private var name: ArraySlice<UInt8> {
        bytes[(bytes.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0)...]
    }
}
