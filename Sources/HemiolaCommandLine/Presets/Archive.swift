internal import CArchive
internal import HemiolaSystem

extension SharedLibrary {
    static let archive = SharedLibrary(
        "libarchive", soname: "libarchive.so.13", package: "libarchive13", minimumVersion: "3.3.3", licence: "BSD-2-Clause",
        relation: .suggests, use: "hemiola presets add with archives", versionSymbol: .textFunction("archive_version_string"))
}

/// The files of an archive: tar, zip or 7z, compressed or not.
enum Archive {
    /// How many files an archive may have, and how many bytes they may have together.
    private static let limits = (files: 200_000, bytes: 4 << 30)

    /// Reads the files one after the other.
    ///
    /// - Parameters:
    ///   - limit: The size up to which a file is read, by its name; nil: its contents are not needed.
    ///   - process: Receives the path of a file in the archive, and its bytes; nil: it is larger than its limit, or is not needed.
    /// - Throws: It is not an archive, is damaged, or libarchive is not installed. What comes before the damage has been processed.
    static func read(
        _ path: String, limit: (_ name: String) -> Int?, process: (_ name: String, _ bytes: [UInt8]?) throws(Failure) -> Void
    ) throws(Failure) {
        var archive: OpaquePointer?
        let fault = carchive_open(PathText.systemPath(path), &archive).map { String(cString: $0) }
        defer { archive.map(carchive_close) }
        guard let archive, fault == nil else {
            let remedy = archive == nil ? "; \(SharedLibrary.archive.remedy), or unpack it and name the folder" : ""
            throw Failure("\(path): cannot read the archive: \(fault ?? "")\(remedy)", status: .inputFailed)
        }
        var (name, message): (UnsafePointer<CChar>?, UnsafePointer<CChar>?)
        var (files, bytes) = (0, 0)
        while carchive_next(archive, &name, &message) != 0, let entry = name.map({ String(cString: $0) }) {
            files += 1
            let limit = limit(entry)
            // One more byte than is allowed shows that the file is larger.
            let contents = try limit.map { limit throws(Failure) in try read(from: archive, count: limit + 1, path) }
            bytes += contents?.count ?? 0
            guard files <= limits.files, bytes <= limits.bytes else {
                let limits = "\(limits.files) files or \(limits.bytes >> 30) GiB"
                throw Failure("\(path): more than \(limits); unpack it and name the folders", status: .inputFailed)
            }
            try process(entry, contents.flatMap { $0.count <= limit ?? 0 ? $0 : nil })
        }
        if let message { throw Failure("\(path): \(String(cString: message)); the rest of it was not read", status: .inputFailed) }
    }

    private static func read(from archive: OpaquePointer, count: Int, _ path: String) throws(Failure) -> [UInt8] {
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 64 << 10)
        while bytes.count < count {
            let length = carchive_read(archive, &part, min(part.count, count - bytes.count))
            guard length >= 0 else { throw Failure("\(path): damaged; the rest of it was not read", status: .inputFailed) }
            if length == 0 { break }
            bytes += part[..<length]
        }
        return bytes
    }
}
