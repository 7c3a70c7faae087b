internal import Glibc
internal import HemiolaSignal
internal import HemiolaSystem

extension System {
    /// A file that lines are appended to, each by one call of write(2). Used by one thread at a time.
    final class LineFile: Sendable {
        private let descriptor: Int32

        /// Creates a file, or empties it.
        init(creating path: String) throws(CallError) {
            descriptor = open(PathText.systemPath(path), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0o666)
            guard descriptor >= 0 else { throw CallError(number: errno) }
        }

        deinit {
            close(descriptor)
        }

        /// Appends a line. A line that is written in part, because the disk is full, is removed again.
        func append(_ line: [UInt8]) throws(CallError) {
            while true {
                let count = writeOnce(descriptor, line)
                if count == line.count { return }
                if count < 0, errno == EINTR { continue }
                let number = count < 0 ? errno : ENOSPC
                var status = stat()
                if count > 0, fstat(descriptor, &status) == 0 { _ = ftruncate(descriptor, status.st_size - off_t(count)) }
                throw CallError(number: number)
            }
        }
    }

    /// Replaces a file by another one, which is renamed.
    static func moveFile(_ path: String, to target: String) throws(CallError) {
        let code = Glibc.rename(PathText.systemPath(path), PathText.systemPath(target))
        guard code == 0 else { throw CallError(number: errno) }
    }

    /// An exclusive lock by a file, which ends with the process. The file contains the number of the process as long as the lock is
    /// held, and also after the process was killed.
    final class FileLock: Sendable {
        private let descriptor: Int32
        /// Whether the process that held the lock before did not release it: it was killed.
        let wasHeldByKilledProcess: Bool

        /// - Returns: nil if another process holds the lock.
        init?(_ path: String) throws(CallError) {
            descriptor = open(PathText.systemPath(path), O_RDWR | O_CREAT | O_CLOEXEC, 0o666)
            guard descriptor >= 0 else { throw CallError(number: errno) }
            while flock(descriptor, LOCK_EX | LOCK_NB) == -1 {
                if errno == EINTR { continue }
                // Not every file system supports locks.
                guard errno == EWOULDBLOCK else { break }
                close(descriptor)
                return nil
            }
            var status = stat()
            wasHeldByKilledProcess = fstat(descriptor, &status) == 0 && status.st_size > 0
            let text = Array("\(getpid())\n".utf8)
            _ = ftruncate(descriptor, 0)
            _ = pwrite(descriptor, text, text.count, 0)
        }

        /// Ends the lock.
        func release() {
            _ = ftruncate(descriptor, 0)
            close(descriptor)
        }

        /// The number of the process that holds a lock; nil when it is not known.
        static func holder(of path: String) -> Int? {
            guard let bytes = try? System.bytes(of: path, count: 20) else { return nil }
            return Int(String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self))
        }
    }

    /// Waits until a descriptor can be read, or has ended, or a pipe wakes the caller.
    ///
    /// - Returns: false if the pipe woke the caller.
    static func waitUntilReadable(_ descriptor: Int32, orWokenBy pipe: WakeUpPipe) -> Bool {
        var requests = [
            pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0), pollfd(fd: pipe.reader, events: Int16(POLLIN), revents: 0),
        ]
        while poll(&requests, 2, -1) < 0, errno == EINTR {}
        return requests[1].revents == 0
    }

    /// The next bytes of a descriptor, which waits for them; empty at the end.
    static func nextBytes(of descriptor: Int32, count: Int) throws(CallError) -> [UInt8] {
        var number: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            let result = readOnce(descriptor, buffer)
            number = result < 0 ? errno : 0
            filled = max(0, result)
        }
        if number == EINTR || number == EAGAIN { return try nextBytes(of: descriptor, count: count) }
        guard number == 0 else { throw CallError(number: number) }
        return bytes
    }
}

// Functions of the file, because `System` has members of the names of the C functions.

private func writeOnce(_ descriptor: Int32, _ bytes: [UInt8]) -> Int {
    write(descriptor, bytes, bytes.count)
}

private func readOnce(_ descriptor: Int32, _ buffer: UnsafeMutableBufferPointer<UInt8>) -> Int {
    read(descriptor, buffer.baseAddress, buffer.count)
}
