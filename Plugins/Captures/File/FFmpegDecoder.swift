internal import Glibc
internal import HemiolaSignal

/// Decodes what libsndfile does not read (AAC, MPEG-4, Matroska …) with the program ffmpeg, where it is installed.
///
/// The sound goes to a file without a name in `$TMPDIR`, as AU in 32-bit floating point, and is then read like any other file:
/// it can be read twice, and from any time on. ffmpeg gets the path behind `file:`, so that no name is taken for an option or an
/// address, and may open nothing but files.
struct FFmpegDecoder: Sendable {
    enum Failure: Error, Hashable {
        case notInstalled
        case cancelled
        /// In ffmpeg's words, one line.
        case failed(String)
    }

    /// Its name or path.
    var program = "ffmpeg"

    /// Bytes of decoded sound at most, 32 GiB: 25 hours of stereo at 48 kHz.
    static let limit: Int64 = 1 << 35
    /// Bytes of an AU header: less than this is no sound.
    private static let headerSize: Int64 = 24

    /// Decodes the first audio stream of a file. Ends the program when the run is cancelled.
    ///
    /// - Returns: The decoded file, and whether ffmpeg reported an error on the way.
    func decode(
        _ path: String, _ watch: OpenWatch, isCancelled: () -> Bool
    ) throws(Failure) -> (file: InputFile, isDamaged: Bool) {
        let output = try InputFile.unnamed(watch)
        let errors = try InputFile.unnamed(OpenWatch())
        let words = ["-nostdin", "-v", "error", "-protocol_whitelist", "file,pipe", "-i"].map { Array($0.utf8) }
        let source = Array("file:".utf8) + PathText.bytes(of: path)
        let result = ["-map", "0:a:0", "-c:a", "pcm_f32be", "-f", "au", "pipe:1"].map { Array($0.utf8) }
        let process = try spawn(words + [source] + result, output.descriptor, errors.descriptor)
        var status: Int32 = 0
        while waitpid(process, &status, WNOHANG) == 0 {
            let isTooLong = output.currentSize > Self.limit
            if isCancelled() || isTooLong {
                kill(process, SIGKILL)
                waitpid(process, &status, 0)
                throw isTooLong ? .failed("more than \(Self.limit >> 30) GiB of sound") : .cancelled
            }
            usleep(5000)
        }
        let message = errors.resized().bytes(at: 0, count: 400)
        let decoded = output.resized()
        guard decoded.size > Self.headerSize else {
            var line = String(decoding: message.prefix { $0 != 0x0a }, as: UTF8.self)[...]
            // "[mov,mp4 @ 0x55c03bc7e980] moov atom not found": an address that is another in every run.
            if line.hasPrefix("["), let end = line.firstRange(of: "] ") { line = line[end.upperBound...] }
            throw .failed(line.isEmpty ? "it holds no sound" : String(line))
        }
        return (decoded, status != 0 || !message.isEmpty)
    }

    private func spawn(_ arguments: [[UInt8]], _ output: Int32, _ errors: Int32) throws(Failure) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, output, 1)
        posix_spawn_file_actions_adddup2(&actions, errors, 2)
        // Safe: copies that end with a zero, freed below.
        var words: [UnsafeMutablePointer<CChar>?] =
            ([Array(program.utf8)] + arguments).map { bytes in strdup(bytes.map { CChar(bitPattern: $0) } + [0]) } + [nil]
        defer {
            for word in words { free(word) }
            posix_spawn_file_actions_destroy(&actions)
        }
        var process = pid_t()
        let code = posix_spawnp(&process, program, &actions, nil, &words, environ)
        if code == ENOENT { throw .notInstalled }
        guard code == 0 else { throw .failed("it cannot be started: \(String(cString: strerror(code)))") }
        return process
    }
}

extension InputFile {
    /// A new file without a name, in the folder for temporary files.
    fileprivate static func unnamed(_ watch: OpenWatch) throws(FFmpegDecoder.Failure) -> InputFile {
        let folder = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(folder)/hemiola-XXXXXX".utf8CString)
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else {
            throw .failed("no temporary file can be made in \(folder): \(String(cString: strerror(errno)))")
        }
        unlink(template)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        return InputFile(descriptor: descriptor, size: 0, watch: watch)
    }

    fileprivate var currentSize: Int64 {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? Int64(status.st_size) : 0
    }

    /// The same file with the size that it has now.
    fileprivate func resized() -> InputFile {
        InputFile(descriptor: fcntl(descriptor, F_DUPFD_CLOEXEC, 3), size: currentSize, watch: watch)
    }
}
