internal import Glibc
internal import HemiolaProcesses
internal import HemiolaSignal

/// Decodes formats that libsndfile does not support (AAC, MPEG-4, Matroska …) with the program ffmpeg, where it is installed.
///
/// ffmpeg writes AU in 32-bit floating point to an unlinked file in `$TMPDIR`, which is then read like any other file: any number of
/// times, from any position.
///
/// The file may come from a stranger. ffmpeg gets it as an open descriptor, not by its name, and may open nothing but files (`-protocol_whitelist`).
/// It must read the file as the format of the signature (`-f`): left to its own guess, it takes a file that also resembles a playlist or a
/// manifest for one, and reads the files and addresses in it. Sound, memory and processor time are limited.
struct FFmpegDecoder: Sendable {
    enum Failure: Error, Hashable {
        case notInstalled
        case cancelled
        /// The folder for temporary files is full.
        case noSpace(folder: String)
        /// ffmpeg was killed by this signal.
        case killed(Int32)
        /// ffmpeg's error message, one line.
        case failed(String)
    }

    /// The name or path of the program.
    var program = "ffmpeg"

    /// Seconds of processor time that ffmpeg may take beyond those in which it decodes at `leastSpeed`.
    var timeLimit = 60.0

    /// Maximum size of the decoded audio in bytes, 32 GiB: 25 hours of stereo at 48 kHz.
    private static let largestSize: Int64 = 1 << 35
    /// Decoded bytes per byte of a file, above `unboundSize`. An hour of digital silence has 3900 in WavPack, the most of all encoders of
    /// ffmpeg 5.1.
    private static let largestRatio: Int64 = 10_000
    /// Decoded bytes that a file of any size may have: 4 GiB, 3 hours of stereo at 48 kHz.
    private static let unboundSize: Int64 = 1 << 32
    /// Decoded bytes per second of processor time, 256 KiB. The slowest decoders make a hundred times as many.
    private static let leastSpeed = 262_144.0
    /// Memory of ffmpeg in bytes, 512 MiB: ten times what it takes for the formats of the tests.
    private static let memory: UInt64 = 1 << 29
    /// Size of an AU header in bytes: a file of at most this size holds no audio.
    private static let headerSize: Int64 = 24
    /// Free bytes below which the file system is considered full after ffmpeg failed: more than ffmpeg writes at once (32 KiB).
    private static let leastSpace: UInt64 = 1 << 18

    /// ffmpeg's name for its standard input. Unlike `pipe:0`, it can be read from any position.
    private static let input = "file:/proc/self/fd/0"

    /// Decodes the first audio stream of a file. Kills ffmpeg when the run is cancelled. Blocks until ffmpeg ends.
    ///
    /// - Parameter demuxer: ffmpeg's name of the file's format.
    /// - Returns: The decoded file, and whether ffmpeg reported an error.
    func decode(
        _ file: InputFile, as demuxer: String, isCancelled: () -> Bool
    ) throws(Failure) -> (file: InputFile, isDamaged: Bool) {
        let watch = file.watch
        let output = try InputFile.unnamed(watch)
        var errors = try ErrorPipe()
        let source = ["-nostdin", "-v", "error", "-protocol_whitelist", "file", "-f", demuxer, "-i", Self.input]
        let result = ["-map", "0:a:0", "-c:a", "pcm_f32be", "-f", "au", "pipe:1"]
        let process = try spawn(source + result, file.descriptor, output.descriptor, errors.writer)
        let largestSize = min(Self.largestSize, max(Self.unboundSize, min(file.size, Self.largestSize) * Self.largestRatio))
        var status: Int32 = 0
        while waitpid(process, &status, WNOHANG) == 0 {
            // Counts as a read, so that the processor time of this loop is not taken for that of a looping decoder.
            watch.noteRead()
            errors.drain()
            let size = output.currentSize
            var failure: Failure?
            if size > largestSize {
                failure = .failed("its \(file.size) bytes hold more than \(largestSize >> 30) GiB of sound")
            } else if Self.processorTime(of: process) > timeLimit + Double(size) / Self.leastSpeed {
                failure = .failed("processor time without sound: \(timeLimit) s")
            } else if isCancelled() {
                failure = .cancelled
            }
            if let failure {
                kill(process, SIGKILL)
                waitpid(process, &status, 0)
                throw failure
            }
            usleep(5000)
        }
        errors.drain()
        let message = errors.start
        if status & 0x7f != 0 { throw .killed(status & 0x7f) }
        if status != 0 || !message.isEmpty {
            let isFull = Self.isSpaceError(message) || output.freeSpace.map { $0 < Self.leastSpace } ?? false
            if isFull { throw .noSpace(folder: InputFile.temporaryFolder) }
        }
        let decoded = output.resized()
        guard decoded.size > Self.headerSize else {
            var line = String(decoding: message.prefix { $0 != 0x0a }, as: UTF8.self)[...]
            // "[mov,mp4 @ 0x55c03bc7e980] moov atom not found": the address differs in every run.
            if line.hasPrefix("["), let end = line.firstRange(of: "] ") { line = line[end.upperBound...] }
            if line.hasPrefix("\(Self.input): ") { line = line.dropFirst(Self.input.count + 2) }
            throw .failed(line.isEmpty ? "it holds no audio" : String(line))
        }
        return (decoded, status != 0 || !message.isEmpty)
    }

    /// The tags of a decoded file, which ffmpeg writes between the header and the samples as lines of the form `Title=…`. It writes no
    /// date there.
    static func tags(of file: InputFile) -> SoundTags {
        let head = file.bytes(at: 0, count: Int(headerSize))
        guard head.count == Int(headerSize) else { return SoundTags() }
        let end = head[4..<8].reduce(0) { $0 << 8 | Int64($1) }
        let lines = file.bytes(at: headerSize, count: Int(max(0, min(end - headerSize, longestTags)))).split(separator: 0x0a)
        func text(_ key: String) -> String? {
            let start = Array("\(key)=".utf8)
            return lines.first { $0.starts(with: start) }.flatMap { SoundTags.text(of: $0.dropFirst(start.count)) }
        }
        var tags = SoundTags()
        (tags.title, tags.artist, tags.album) = (text("Title"), text("Artist"), text("Album"))
        (tags.track, tags.genre) = (text("Track"), text("Genre"))
        return tags
    }

    /// Bytes of tags that are read at most.
    private static let longestTags = Int64(8 * SoundTags.longestText)

    /// Whether ffmpeg's errors report a full file system or quota.
    private static func isSpaceError(_ message: [UInt8]) -> Bool {
        let text = String(decoding: message, as: UTF8.self)
        return [ENOSPC, EDQUOT].contains { text.contains(String(cString: strerror($0))) }
    }

    /// Seconds of processor time that a process has used so far.
    private static func processorTime(of process: pid_t) -> Double {
        var clock = clockid_t()
        var time = timespec()
        guard clock_getcpuclockid(process, &clock) == 0, clock_gettime(clock, &time) == 0 else { return 0 }
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }

    private func spawn(_ arguments: [String], _ input: Int32, _ output: Int32, _ errors: Int32) throws(Failure) -> pid_t {
        // In the group of this process: Ctrl-C also ends a decoder whose parent is killed.
        var process = Spawn(.named(program), arguments.map { Array($0.utf8) }, hasOwnGroup: false)
        process.descriptors = (input, output, errors)
        process.memory = Self.memory
        do throws(SystemCallError) {
            return try process.start()
        } catch {
            throw error.number == ENOENT ? .notInstalled : .failed("it cannot be started: \(error)")
        }
    }
}

/// A pipe for the standard error of a child process. Keeps the first `limit` bytes and discards the rest.
private struct ErrorPipe: ~Copyable {
    /// The end that the child process writes to.
    let writer: Int32
    private let reader: Int32
    /// The first bytes, at most `limit`.
    private(set) var start: [UInt8] = []

    private static let limit = 400

    init() throws(FFmpegDecoder.Failure) {
        do throws(SystemCallError) {
            let ends = try PipeEnds()
            (reader, writer) = (ends.reader, ends.writer)
        } catch {
            throw .failed("cannot create a pipe: \(error)")
        }
        _ = fcntl(reader, F_SETFL, O_NONBLOCK)
    }

    deinit {
        close(reader)
        close(writer)
    }

    /// Reads the available bytes, at most 256 KiB a call, so that a child that never stops writing does not block the caller.
    mutating func drain() {
        var buffer = [UInt8](repeating: 0, count: 4096)
        for _ in 0..<64 {
            let count = read(reader, &buffer, buffer.count)
            guard count > 0 else { return }
            start += buffer[..<min(count, Self.limit - start.count)]
        }
    }
}

extension InputFile {
    fileprivate static var temporaryFolder: String { getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp" }

    /// Creates an unlinked file in the folder for temporary files.
    fileprivate static func unnamed(_ watch: OpenWatch) throws(FFmpegDecoder.Failure) -> InputFile {
        let folder = temporaryFolder
        var template = Array("\(folder)/hemiola-XXXXXX".utf8CString)
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else {
            throw .failed("cannot create a temporary file in \(folder): \(String(cString: strerror(errno)))")
        }
        unlink(template)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        return InputFile(descriptor: descriptor, size: 0, watch: watch)
    }

    fileprivate var currentSize: Int64 {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? Int64(status.st_size) : 0
    }

    /// Free bytes on the file system; nil when the system does not report them.
    fileprivate var freeSpace: UInt64? {
        var status = statvfs()
        return fstatvfs(descriptor, &status) == 0 ? UInt64(status.f_bavail) * UInt64(status.f_frsize) : nil
    }

    /// The same file with its current size.
    fileprivate func resized() -> InputFile {
        InputFile(descriptor: fcntl(descriptor, F_DUPFD_CLOEXEC, 3), size: currentSize, watch: watch)
    }
}
