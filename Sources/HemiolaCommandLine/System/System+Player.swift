internal import Glibc
internal import HemiolaSystem

extension System {
    /// A program that plays samples on the default output: the first of `pacat`, `pw-cat` and `aplay` that is installed.
    final class Player {
        static let sampleRate = 48_000

        private static let commands = [
            ["pacat", "--playback", "--raw", "--format=s16le", "--rate=48000", "--channels=1", "--latency-msec=30"],
            ["pw-cat", "--playback", "--format=s16", "--rate=48000", "--channels=1", "--latency=30ms", "-"],
            ["aplay", "-q", "-t", "raw", "-f", "S16_LE", "-r", "48000", "-c", "1", "-"],
        ]

        /// The program's name.
        let name: String
        private let process: pid_t
        private let input: Int32

        /// Starts the program; nil: none is installed, or none can be started.
        init?() {
            guard let ends = try? PipeEnds() else { return nil }
            defer { close(ends.reader) }
            for command in Self.commands {
                // The capture reports a sound server that does not answer, so that the player prints nothing.
                var spawn = Spawn(.named(command[0]), command.dropFirst().map { Array($0.utf8) })
                spawn.descriptors = (ends.reader, nil, nil)
                guard let child = try? spawn.start() else { continue }
                (name, process, input) = (command[0], child, ends.writer)
                // Half a second of samples in the pipe would be played after the end.
                _ = fcntl(input, Self.setPipeSize, 4096)
                _ = fcntl(input, F_SETFL, O_NONBLOCK)
                return
            }
            close(ends.writer)
            return nil
        }

        /// Linux's F_SETPIPE_SZ, which the headers declare only with _GNU_SOURCE.
        private static let setPipeSize: Int32 = 1031

        /// Plays samples; returns when the program has taken them, or has not for a second.
        ///
        /// - Returns: Whether it has taken them all.
        func play(_ samples: [Int16]) -> Bool {
            var bytes: [UInt8] = []
            for sample in samples { withUnsafeBytes(of: sample.littleEndian) { bytes += $0 } }
            var rest = bytes[...]
            while !rest.isEmpty {
                var request = pollfd(fd: input, events: Int16(POLLOUT), revents: 0)
                guard poll(&request, 1, 1000) > 0, request.revents & Int16(POLLERR) == 0 else { return false }
                let count = rest.withUnsafeBytes { Glibc.write(input, $0.baseAddress, $0.count) }
                if count > 0 {
                    rest = rest.dropFirst(count)
                } else if errno != EAGAIN, errno != EINTR {
                    return false
                }
            }
            return true
        }

        /// Kills the process and waits for its end. Call once.
        func stop() {
            close(input)
            kill(process, SIGKILL)
            waitpid(process, nil, 0)
        }
    }
}
