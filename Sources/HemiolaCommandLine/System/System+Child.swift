internal import Glibc
internal import HemiolaSystem

extension System {
    /// A child process of this program, whose standard output is read line by line.
    final class Child {
        private let process: pid_t
        private let output: Int32
        private var lines = LineSplitter()
        private(set) var isRunning = true

        /// - Parameter arguments: Without the program's name.
        init(_ arguments: [String]) throws(SystemCallError) {
            let ends = try PipeEnds()
            defer { close(ends.writer) }
            // A process group of its own: Ctrl-C reaches the parent only, which then ends the child.
            var spawn = Spawn(.path("/proc/self/exe"), arguments.map(PathText.bytes(of:)))
            spawn.arguments[0] = Array("hemiola".utf8)
            spawn.descriptors = (nil, ends.writer, standardError)
            do throws(SystemCallError) {
                process = try spawn.start()
            } catch {
                close(ends.reader)
                throw error
            }
            output = ends.reader
        }

        /// Kills the process and waits for its end. Call once.
        func stop() {
            close(output)
            kill(process, SIGKILL)
            waitpid(process, nil, 0)
        }

        /// Reads lines until one matches.
        ///
        /// - Returns: The monotonic time at which the matching line was readable; nil on a timeout or at the end.
        func waitForLine(within seconds: Double, where matches: (Substring) -> Bool) -> Double? {
            let deadline = MonotonicTime.now + seconds
            while true {
                while let line = lines.next() {
                    if matches(String(decoding: line.bytes, as: UTF8.self)[...]) { return lastRead }
                }
                guard read(until: deadline) else { return nil }
            }
        }

        /// Reads and discards output for some seconds.
        func drain(for seconds: Double) {
            let deadline = MonotonicTime.now + seconds
            while read(until: deadline) { lines = LineSplitter() }
        }

        private var lastRead = 0.0

        private func read(until deadline: Double) -> Bool {
            var request = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
            let rest = (deadline - MonotonicTime.now) * 1000
            guard isRunning, rest > 0, poll(&request, 1, Int32(rest.rounded(.up))) > 0 else { return false }
            lastRead = MonotonicTime.now
            var buffer = [UInt8](repeating: 0, count: 65_536)
            let count = Glibc.read(output, &buffer, buffer.count)
            guard count > 0 else {
                isRunning = false
                return false
            }
            lines.append(buffer[..<count])
            return true
        }
    }
}
