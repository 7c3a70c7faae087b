internal import Glibc
internal import HemiolaSystem

/// Opens MIDI devices, which carry the raw bytes of MIDI 1.0: character devices, pseudo-terminals and named pipes.
public enum MIDIDevice {
    /// The direction of the bytes.
    public enum Direction: Sendable {
        /// From this program to the device.
        case output
        /// From the device to this program.
        case input
    }

    /// A device cannot be opened.
    public struct OpenError: Error, Sendable, CustomStringConvertible {
        /// One line: the path, the cause, and what to do.
        public var message: String
        /// Whether opening it may succeed without a change by the user: a named pipe has no reader yet.
        public var isTemporary: Bool

        /// An error, by default one that only the user can remove.
        public init(_ message: String, isTemporary: Bool = false) {
            self.message = message
            self.isTemporary = isTemporary
        }

        public var description: String { message }
    }

    /// Opens a device without waiting. A terminal is switched to raw mode, because it would change bytes.
    ///
    /// - Returns: A descriptor in non-blocking mode, which the caller closes. That of a named pipe for input never reaches its end.
    /// - Throws: An ``OpenError`` with the path, the cause and what to do.
    public static func open(_ path: String, for direction: Direction) throws(OpenError) -> Int32 {
        var info = stat()
        guard stat(path, &info) == 0 else { throw error(path, errno) }
        let isPipe = info.st_mode & S_IFMT == S_IFIFO
        switch info.st_mode & S_IFMT {
        case S_IFCHR, S_IFIFO: break
        case S_IFDIR: throw OpenError("\(path): a folder, not a MIDI device; name a device in it, as in /dev/snd/midiC1D0")
        case S_IFREG:
            throw OpenError(
                "\(path): a file, not a MIDI device; for a MIDI file of the beats: hemiola beats --format midi, of notes: -o notes.mid")
        default: throw OpenError("\(path): not a MIDI device; name a character device or a named pipe")
        }
        // A pipe that this process also writes stays open when its other writers end.
        let mode = direction == .output ? O_WRONLY : isPipe ? O_RDWR : O_RDONLY
        let descriptor = Glibc.open(path, mode | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if isPipe, errno == ENXIO { throw OpenError("\(path): no program reads it", isTemporary: true) }
            throw error(path, errno)
        }
        var modes = termios()
        if tcgetattr(descriptor, &modes) == 0 {
            cfmakeraw(&modes)
            tcsetattr(descriptor, TCSANOW, &modes)
        }
        return descriptor
    }

    private static func error(_ path: String, _ code: Int32) -> OpenError {
        let advice =
            switch code {
            case ENOENT, ENODEV, ENXIO: "\"amidi -l\" lists MIDI devices, mkfifo makes a named pipe"
            case EACCES, EPERM: "join the group of the device, usually audio: sudo usermod -aG audio \"$USER\", then log in again"
            case EBUSY: "close the program that uses the device"
            default: "name another device"
            }
        return OpenError("\(path): \(cause(code)); \(advice)")
    }

    /// The system's text for an error number, with a lower-case first letter.
    public static func cause(_ code: Int32) -> String {
        let text = SystemCallError(number: code).description
        return text.prefix(1).lowercased() + text.dropFirst()
    }
}
