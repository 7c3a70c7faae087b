internal import Glibc

/// Temporary files without a name: the kernel deletes them when the process ends, however it ends.
public enum TemporaryFile {
    /// The folder of their disk: `$TMPDIR`, or `/tmp`. For messages about a lack of space.
    public static var folder: String { EnvironmentVariable.value("TMPDIR") ?? "/tmp" }

    /// Creates a file, for reading and writing.
    ///
    /// - Returns: Its descriptor, which the caller must close. Programs that this process starts do not inherit it.
    /// - Throws: The folder does not exist or cannot be written.
    public static func create() throws(SystemCallError) -> Int32 {
        var template = PathText.systemPath("\(folder)/hemiola-XXXXXX")
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else { throw SystemCallError.last }
        unlink(template)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        return descriptor
    }
}
