internal import HemiolaMIDI
internal import HemiolaSystem

/// Raw MIDI bytes to a character device or a named pipe.
///
/// Owns the device. Used by one thread at a time.
final class DevicePort: MIDIPort {
    private let device: FileDescriptor

    init(_ path: String) throws(Problem) {
        device = try MIDIDevice.open(path, for: .output)
    }

    deinit { device.close() }

    func send(_ bytes: Span<UInt8>) -> PortResult {
        do {
            // Unsafe: `write` takes a pointer, which is valid inside the closure.
            let count = try bytes.bytes.withUnsafeBytes { bytes throws(SystemCallError) in try device.write(bytes) }
            return count > 0 ? .accepted(count) : .full
        } catch {
            return error.code == .wouldBlock ? .full : .failed(error.number)
        }
    }
}
