#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

extension System {
    /// A child process of this program, whose standard output is read line by line.
    final class Child {
        private let process: pid_t
        private let output: Int32
        private var text: [UInt8] = []
        private(set) var isRunning = true

        /// - Parameter arguments: Without the program's name.
        init(_ arguments: [String]) throws(CallError) {
            var ends: [Int32] = [-1, -1]
            guard pipe(&ends) == 0 else { throw CallError(number: errno) }
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            var actions = posix_spawn_file_actions_t()
            posix_spawn_file_actions_init(&actions)
            posix_spawn_file_actions_adddup2(&actions, ends[1], standardOutput)
            posix_spawn_file_actions_addopen(&actions, standardInput, "/dev/null", O_RDONLY, 0)
            // A process group of its own: Ctrl-C reaches the parent only, which then ends the child.
            var attributes = posix_spawnattr_t()
            posix_spawnattr_init(&attributes)
            posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
            var words: [UnsafeMutablePointer<CChar>?] = (["hemiola"] + arguments).map { strdup($0) } + [nil]
            defer {
                for word in words { free(word) }
                posix_spawn_file_actions_destroy(&actions)
                posix_spawnattr_destroy(&attributes)
                close(ends[1])
            }
            var process = pid_t()
            let code = posix_spawn(&process, "/proc/self/exe", &actions, &attributes, &words, environ)
            guard code == 0 else {
                close(ends[0])
                throw CallError(number: code)
            }
            self.process = process
            output = ends[0]
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
            let deadline = System.now + seconds
            while true {
                while let end = text.firstIndex(of: UInt8(ascii: "\n")) {
                    let line = String(decoding: text[..<end], as: UTF8.self)
                    text.removeSubrange(...end)
                    if matches(line[...]) { return lastRead }
                }
                guard read(until: deadline) else { return nil }
            }
        }

        /// Reads and discards output for some seconds.
        func drain(for seconds: Double) {
            let deadline = System.now + seconds
            while read(until: deadline) { text.removeAll(keepingCapacity: true) }
        }

        private var lastRead = 0.0

        private func read(until deadline: Double) -> Bool {
            var request = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
            let rest = (deadline - System.now) * 1000
            guard isRunning, rest > 0, poll(&request, 1, Int32(rest.rounded(.up))) > 0 else { return false }
            lastRead = System.now
            var buffer = [UInt8](repeating: 0, count: 65_536)
            #if canImport(Glibc)
                let count = Glibc.read(output, &buffer, buffer.count)
            #else
                let count = Musl.read(output, &buffer, buffer.count)
            #endif
            guard count > 0 else {
                isRunning = false
                return false
            }
            text += buffer[..<count]
            return true
        }
    }
}
