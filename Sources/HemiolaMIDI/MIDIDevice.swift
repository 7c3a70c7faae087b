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
    /// - Returns: The device in non-blocking mode, which the caller closes. A named pipe for input never reaches its end.
    /// - Throws: An ``/HemiolaSystem/Problem`` with the path, the cause and what to do.
    public static func open(_ path: String, for direction: Direction) throws(Problem) -> FileDescriptor {
        let kind: FileKind
        do { kind = try FileSystem.status(of: path).kind } catch { throw problem(path, error) }
        switch kind {
        case .device, .pipe: break
        case .folder: throw Problem("\(path): a folder, not a MIDI device; name a device in it, as in /dev/snd/midiC1D0")
        case .file:
            throw Problem(
                "\(path): a file, not a MIDI device; for a MIDI file of the beats: hemiola beats --format midi, of notes: -o notes.mid")
        default: throw Problem("\(path): not a MIDI device; name a character device or a named pipe")
        }
        // A pipe that this process also writes stays open when its other writers end.
        let mode: FileDescriptor.Option? = direction == .output ? .writeOnly : kind == .pipe ? .readWrite : nil
        do {
            let options = [FileDescriptor.Option.nonBlocking, mode].compactMap(\.self)
            let device = try FileDescriptor.open(path, Set(options))
            device.makeRaw()
            return device
        } catch {
            if kind == .pipe, error.code == .noSuchAddressOrDevice { throw Problem("\(path): no program reads it", remedy: .retry) }
            throw problem(path, error)
        }
    }

    private static func problem(_ path: String, _ error: SystemCallError) -> Problem {
        let advice =
            switch error.code {
            case .noSuchFileOrDirectory, .noSuchDevice, .noSuchAddressOrDevice:
                "\"amidi -l\" lists MIDI devices, mkfifo makes a named pipe"
            case .permissionDenied, .notPermitted:
                "join the group of the device, usually audio: sudo usermod -aG audio \"$USER\", then log in again"
            case .resourceBusy: "close the program that uses the device"
            default: "name another device"
            }
        return Problem("\(path): \(cause(error.number)); \(advice)")
    }

    /// The system's text for an error number, with a lower-case first letter.
    public static func cause(_ code: Int32) -> String {
        let text = SystemCallError(number: code).description
        return text.prefix(1).lowercased() + text.dropFirst()
    }
}
