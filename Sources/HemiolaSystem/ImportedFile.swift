/// A file that a page imports: a regular one of at most 32 MiB. Named by its path, and opened by the program that gives it to the page.
public enum ImportedFile {
    /// The most bytes that it may have.
    public static let limit = 32 << 20

    /// Opens the file. The caller closes it.
    ///
    /// - Returns: The file, and its size in bytes.
    public static func open(_ path: String) throws(Problem) -> (file: FileDescriptor, size: Int) {
        let file: FileDescriptor
        // A pipe would block.
        do { file = try FileDescriptor.open(path, [.nonBlocking]) } catch { throw Problem("\(path): \(error)") }
        let status = try? file.status()
        if status?.kind == .file, let size = status?.size, size <= limit { return (file, size) }
        file.close()
        throw Problem("\(path): " + (status?.kind == .file ? "the file is larger than \(limit >> 20) MiB" : "not a regular file"))
    }
}
