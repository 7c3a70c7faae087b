internal import Glibc
internal import HemiolaSystem

extension System {
    /// Wakes a thread that waits in `poll(2)`. Several wake-ups before a wait count as one. Never closed: for objects that exist as
    /// long as the process.
    struct WakeUpPipe: Sendable {
        let reader: Int32
        private let writer: Int32

        init() {
            var ends: [Int32] = [-1, -1]
            let code = pipe(&ends)
            precondition(code == 0, "cannot create a pipe: error \(errno)")
            for end in ends {
                _ = fcntl(end, F_SETFD, FD_CLOEXEC)
                _ = fcntl(end, F_SETFL, O_NONBLOCK)
            }
            (reader, writer) = (ends[0], ends[1])
        }

        /// Never blocks.
        func wakeUp() {
            var byte: UInt8 = 0
            // A full pipe wakes the reader as well.
            _ = Glibc.write(writer, &byte, 1)
        }

        /// - Parameter seconds: nil: no limit.
        /// - Returns: false on a timeout.
        func wait(timeout seconds: Double?) -> Bool {
            var request = pollfd(fd: reader, events: Int16(POLLIN), revents: 0)
            let deadline = seconds.map { MonotonicTime.now + $0 }
            while true {
                let timeout = deadline.map { Int32(max(0, ($0 - MonotonicTime.now) * 1000).rounded(.up)) } ?? -1
                let count = poll(&request, 1, timeout)
                if count > 0 { break }
                if count == 0 { return false }
            }
            clear()
            return true
        }

        /// Discards all wake-ups so far.
        func clear() {
            var bytes = [UInt8](repeating: 0, count: 64)
            while read(reader, &bytes, bytes.count) == bytes.count {}
        }
    }
}
