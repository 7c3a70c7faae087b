internal import CWebPage

/// The files of the built-in page, which are compiled into the program.
enum PageFiles {
    /// The files by their paths on the server: `/index.html`, `/app/app.js`.
    static let all: [String: [UInt8]] = {
        var files: [String: [UInt8]] = [:]
        var number: UInt32 = 0
        while case let file = cwebpage_file_at(number), let path = file.path {
            files["/\(String(cString: path))"] = Array(UnsafeBufferPointer(start: file.bytes, count: file.count))
            number += 1
        }
        return files
    }()
}
