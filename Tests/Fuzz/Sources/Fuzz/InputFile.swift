import Glibc

/// The input as a file without a name. Each input overwrites the previous one.
struct InputFile {
    private static let shared = InputFile()

    private let descriptor: Int32

    private init() {
        let folder = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(folder)/hemiola-fuzz-XXXXXX".utf8CString)
        descriptor = mkstemp(&template)
        precondition(descriptor >= 0, "no file can be made in \(folder)")
        unlink(template)
    }

    /// - Returns: A path that opens it.
    static func path(holding bytes: [UInt8]) -> String {
        precondition(ftruncate(shared.descriptor, 0) == 0)
        precondition(pwrite(shared.descriptor, bytes, bytes.count, 0) == bytes.count)
        return "/proc/self/fd/\(shared.descriptor)"
    }
}

/// The input as a pipe. All bytes are written, and the writing end is closed.
struct InputPipe: ~Copyable {
    private let reader: Int32

    /// - Parameter bytes: At most 64 KiB, the capacity of a pipe.
    init(holding bytes: [UInt8]) {
        precondition(bytes.count <= 1 << 16)
        var ends: [Int32] = [0, 0]
        precondition(pipe(&ends) == 0)
        precondition(write(ends[1], bytes, bytes.count) == bytes.count)
        Glibc.close(ends[1])
        reader = ends[0]
    }

    deinit { Glibc.close(reader) }

    /// A path that opens it.
    var path: String { "/proc/self/fd/\(reader)" }
}
