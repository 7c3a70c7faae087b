internal import Glibc

/// Temporary files without a name: the kernel deletes them when the process ends, however it ends.
package enum TemporaryFile {
    /// Where they are: `$TMPDIR`, or `/tmp`.
    package static var folder: String { EnvironmentVariable.value("TMPDIR") ?? "/tmp" }

    /// Creates a file.
    ///
    /// - Returns: Its descriptor, which the caller must close; negative on an error, whose number is in `errno`.
    package static func create() -> Int32 {
        var template = PathText.systemPath("\(folder)/hemiola-XXXXXX")
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else { return descriptor }
        unlink(template)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        return descriptor
    }
}
