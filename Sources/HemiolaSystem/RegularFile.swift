/// A regular file that is open for reading, and where it lies. The path is that of the open file: a symbolic link that is made after a check
/// of another path cannot lead elsewhere.
public struct RegularFile: Sendable {
    /// The most bytes of a file that a page imports.
    public static let importLimit = 32 << 20

    /// The open file. Its owner closes it.
    public let descriptor: FileDescriptor
    /// The path of the open file, without symbolic links.
    public let path: String
    /// In bytes.
    public let size: Int
    /// The time of the last modification, in nanoseconds since 1970.
    public let modificationTime: Int64

    /// Opens a file.
    ///
    /// - Throws: The reason, without the path: there is no such file, it is not a regular one, or it is larger than the limit in bytes.
    public init(opening path: String, atMost limit: Int) throws(Problem) {
        let file: FileDescriptor
        // A pipe would block.
        do { file = try FileDescriptor.open(path, [.nonBlocking]) } catch { throw Problem("\(error)") }
        let path = FileSystem.linkTarget(of: "/proc/self/fd/\(file.number)")
        guard let path, let status = try? file.status(), status.kind == .file else {
            file.close()
            throw Problem("not a regular file")
        }
        guard status.size <= limit else {
            file.close()
            throw Problem("the file is larger than \(limit >> 20) MiB")
        }
        descriptor = file
        self.path = path
        size = status.size
        modificationTime = status.modificationTime
    }

    /// Opens a file that a page imports, named by its path.
    public static func imported(_ path: String) throws(Problem) -> RegularFile {
        do { return try RegularFile(opening: path, atMost: importLimit) } catch { throw Problem("\(path): \(error.message)") }
    }
}
