internal import HemiolaSystem

/// A program that plays samples on the default output: the first of `pacat`, `pw-cat` and `aplay` that is installed.
struct Player {
    static let sampleRate = 48_000

    private static let commands = [
        ["pacat", "--playback", "--raw", "--format=s16le", "--rate=48000", "--channels=1", "--latency-msec=30"],
        ["pw-cat", "--playback", "--format=s16", "--rate=48000", "--channels=1", "--latency=30ms", "-"],
        ["aplay", "-q", "-t", "raw", "-f", "S16_LE", "-r", "48000", "-c", "1", "-"],
    ]

    /// The program's name.
    let name: String
    private let program: RunningProgram

    /// Starts the program; nil: none is installed, or none can be started.
    init?() {
        for command in Self.commands {
            // A pipe of a page: half a second of samples in it would be played after the end. The capture reports a sound server that does
            // not answer, so that nothing is printed of what the player says.
            let started = try? RunningProgram(.arguments(command), hasInput: true, output: .log, pipeSize: 4096) { _ in }
            guard let started else { continue }
            (name, program) = (command[0], started)
            return
        }
        return nil
    }

    /// Plays samples; returns when the program has taken them, or has not for a second.
    ///
    /// - Returns: Whether it has taken them all.
    func play(_ samples: [Int16]) -> Bool {
        var bytes = samples.flatMap { withUnsafeBytes(of: $0.littleEndian, Array.init) }[...]
        while !bytes.isEmpty {
            guard case .bytes(let count) = bytes.withUnsafeBytes({ program.write($0, within: 1) }) else { return false }
            bytes = bytes.dropFirst(count)
        }
        return true
    }

    /// Ends the program.
    func stop() { program.end(within: 0) }
}
