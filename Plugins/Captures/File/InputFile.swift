internal import Glibc
internal import HemiolaRIFF
internal import HemiolaSignal

/// A regular file that is open for reading: the one place where this plugin asks the system for bytes and names.
final class InputFile: ChunkSource, Sendable {
    /// Why a path cannot be opened.
    enum Refusal: Error, Hashable, Sendable {
        case missing
        case folder
        case pipe
        case device
        case socket
        case notPermitted
        /// Anything else, as the system words it.
        case system(String)
    }

    /// The system's handle; positioned reads only, so that nobody moves anybody's position.
    let descriptor: Int32
    /// Length in bytes when it was opened.
    let size: Int64
    /// Counts the reads.
    let watch: OpenWatch

    /// Opens a regular file and nothing else. Never waits: a pipe without a writer is refused, not waited for.
    init(_ path: String, watch: OpenWatch = OpenWatch()) throws(Refusal) {
        self.watch = watch
        // A name cannot hold a zero byte; the system would silently open the part before it.
        guard !path.utf8.contains(0) else { throw .missing }
        // Looked at before it is opened: to open a device can set it in motion.
        var status = stat()
        let systemPath = PathText.systemPath(path)
        guard stat(systemPath, &status) == 0 else { throw Refusal(errno) }
        if let refusal = Refusal(mode: status.st_mode) { throw refusal }
        // Another may have taken its place since: then O_NONBLOCK keeps a pipe from waiting.
        let descriptor = open(systemPath, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { throw Refusal(errno) }
        guard fstat(descriptor, &status) == 0 else {
            let reason = Refusal(errno)
            Glibc.close(descriptor)
            throw reason
        }
        if let refusal = Refusal(mode: status.st_mode) {
            Glibc.close(descriptor)
            throw refusal
        }
        self.descriptor = descriptor
        size = Int64(status.st_size)
    }

    /// Takes over a descriptor of a regular file.
    init(descriptor: Int32, size: Int64, watch: OpenWatch) {
        self.descriptor = descriptor
        self.size = size
        self.watch = watch
    }

    deinit {
        Glibc.close(descriptor)
    }

    /// The bytes from an offset on; fewer than asked for where the file ends or cannot be read.
    func bytes(at offset: Int64, count: Int) -> [UInt8] {
        guard offset >= 0, offset < size else { return [] }
        watch.noteRead()
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            // Safe: the system writes at most `count` bytes, which is the buffer's capacity.
            while filled < count {
                let read = pread(descriptor, buffer.baseAddress! + filled, count - filled, off_t(offset) + filled)
                if read < 0, errno == EINTR { continue }
                guard read > 0 else { break }
                filled += read
            }
        }
    }

    /// The names in a folder, at most `limit` of them; nil when it cannot be read.
    static func names(in folder: String, limit: Int = 2000) -> [String]? {
        guard let stream = opendir(PathText.systemPath(folder)) else { return nil }
        defer { closedir(stream) }
        var names: [String] = []
        while names.count < limit, let entry = readdir(stream) {
            // Safe: the system ends every name with a zero, and it is copied before the next call overwrites it.
            let name = withUnsafePointer(to: &entry.pointee.d_name) { tuple in
                tuple.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }
}

extension InputFile.Refusal {
    /// What a failed call means.
    init(_ code: Int32) {
        switch code {
        case ENOENT, ENOTDIR: self = .missing
        case EACCES, EPERM: self = .notPermitted
        case ENXIO: self = .socket
        default: self = .system(String(cString: strerror(code)))
        }
    }

    /// nil for a regular file.
    init?(mode: mode_t) {
        switch mode & S_IFMT {
        case S_IFREG: return nil
        case S_IFDIR: self = .folder
        case S_IFIFO: self = .pipe
        case S_IFSOCK: self = .socket
        default: self = .device
        }
    }
}
