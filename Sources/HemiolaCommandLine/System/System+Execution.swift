internal import Glibc
internal import Hemiola

extension System {
    /// The path of this program; nil where the system does not report it.
    static var programPath: String? { FileSystem.realPath("/proc/self/exe") }

    /// Replaces this process by a program, which keeps the standard descriptors, the environment and the working directory.
    ///
    /// - Parameter arguments: Without the program's name.
    /// - Throws: The program could not be executed; nothing has changed.
    static func execute(_ path: String, _ arguments: [String]) throws(SystemCallError) -> Never {
        // Ignored signals would stay ignored in the program.
        signal(SIGPIPE, SIG_DFL)
        signal(SIGXFSZ, SIG_DFL)
        StandardOutput.release()
        // Safe: zero-terminated copies, which exist until the process is replaced, or freed below.
        var words: [UnsafeMutablePointer<CChar>?] =
            ([path] + arguments).map { strdup(PathText.systemPath($0)) } + [nil]
        execv(PathText.systemPath(path), &words)
        let number = errno
        for word in words { free(word) }
        prepareProcess()
        StandardOutput.reserve()
        throw SystemCallError(number: number)
    }

    /// The contents of a file of this user that another program has just written: a regular file, not a symbolic link.
    ///
    /// - Throws: `EPERM` for a file of another user, `EINVAL` for another kind of file, `EFBIG` for a file above the limit, else the error
    ///   of the system call.
    static func ownFile(_ path: String, atMost limit: Int) throws(SystemCallError) -> [UInt8] {
        let descriptor = open(PathText.systemPath(path), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { throw SystemCallError.last }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw SystemCallError.last }
        guard status.st_mode & S_IFMT == S_IFREG else { throw SystemCallError(number: EINVAL) }
        guard status.st_uid == geteuid() else { throw SystemCallError(number: EPERM) }
        var bytes: [UInt8] = []
        while bytes.count <= limit {
            let block = try nextBytes(of: descriptor, count: 1 << 20)
            if block.isEmpty { return bytes }
            bytes += block
        }
        throw SystemCallError(number: EFBIG)
    }
}
