internal import Glibc
public import HemiolaSystem

/// Opens MIDI devices, which carry the raw bytes of MIDI 1.0: character devices, pseudo-terminals and named pipes.
public enum MIDIDevice {
    /// The direction of the bytes.
    public enum Direction: Sendable {
        /// From this program to the device.
        case output
        /// From the device to this program.
        case input
    }

    /// Opens a device without waiting. A terminal is switched to raw mode, because it would change bytes.
    ///
    /// - Returns: A descriptor in non-blocking mode, which the caller closes. That of a named pipe for input never reaches its end.
    /// - Throws: An ``/HemiolaSystem/Problem`` with the path, the cause and what to do.
    public static func open(_ path: String, for direction: Direction) throws(Problem) -> Int32 {
        var info = stat()
        guard stat(path, &info) == 0 else { throw error(path, errno) }
        let isPipe = info.st_mode & S_IFMT == S_IFIFO
        switch info.st_mode & S_IFMT {
        case S_IFCHR, S_IFIFO: break
        case S_IFDIR: throw Problem("\(path): a folder, not a MIDI device; name a device in it, as in /dev/snd/midiC1D0")
        case S_IFREG:
            throw Problem(
                "\(path): a file, not a MIDI device; for a MIDI file of the beats: hemiola beats --format midi, of notes: -o notes.mid")
        default: throw Problem("\(path): not a MIDI device; name a character device or a named pipe")
        }
        // A pipe that this process also writes stays open when its other writers end.
        let mode = direction == .output ? O_WRONLY : isPipe ? O_RDWR : O_RDONLY
        let descriptor = Glibc.open(path, mode | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if isPipe, errno == ENXIO { throw Problem("\(path): no program reads it", remedy: .retry) }
            throw error(path, errno)
        }
        var modes = termios()
        if tcgetattr(descriptor, &modes) == 0 {
            cfmakeraw(&modes)
            tcsetattr(descriptor, TCSANOW, &modes)
        }
        return descriptor
    }

    private static func error(_ path: String, _ code: Int32) -> Problem {
        let advice =
            switch code {
            case ENOENT, ENODEV, ENXIO: "\"amidi -l\" lists MIDI devices, mkfifo makes a named pipe"
            case EACCES, EPERM: "join the group of the device, usually audio: sudo usermod -aG audio \"$USER\", then log in again"
            case EBUSY: "close the program that uses the device"
            default: "name another device"
            }
        return Problem("\(path): \(cause(code)); \(advice)")
    }

    /// The system's text for an error number, with a lower-case first letter.
    public static func cause(_ code: Int32) -> String {
        let text = SystemCallError(number: code).description
        return text.prefix(1).lowercased() + text.dropFirst()
    }
}
