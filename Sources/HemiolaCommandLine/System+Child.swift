#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

extension System {
    /// Another process of this program, whose lines are read.
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
            // A group of its own: Ctrl-C is for whoever started it, who will end it.
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

        /// Ends it and waits for its end. To be called once.
        func stop() {
            close(output)
            kill(process, SIGKILL)
            waitpid(process, nil, 0)
        }

        /// Reads lines until one is meant.
        ///
        /// - Returns: The monotonic time at which that one was there to be read; nil when it did not come in time.
        func waitForLine(within seconds: Double, where isMeant: (Substring) -> Bool) -> Double? {
            let deadline = System.now + seconds
            while true {
                while let end = text.firstIndex(of: UInt8(ascii: "\n")) {
                    let line = String(decoding: text[..<end], as: UTF8.self)
                    text.removeSubrange(...end)
                    if isMeant(line[...]) { return lastRead }
                }
                guard read(until: deadline) else { return nil }
            }
        }

        /// Reads and forgets for so long.
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
