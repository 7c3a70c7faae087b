internal import Glibc
internal import HemiolaFiles
internal import HemiolaSystem

/// Raw MIDI bytes to a character device or a named pipe.
///
/// Owns the descriptor. Used by one thread at a time.
final class DevicePort: MIDIPort {
    private let descriptor: Int32

    init(_ path: String) throws(Problem) {
        descriptor = try MIDIDevice.open(path, for: .output)
    }

    deinit { close(descriptor) }

    func send(_ bytes: Span<UInt8>) -> PortResult {
        // Unsafe: `write(2)` takes a pointer, which is valid inside the closure.
        let (count, code) = bytes.withUnsafeBufferPointer { (write(descriptor, $0.baseAddress, $0.count), errno) }
        if count > 0 { return .accepted(count) }
        return count == 0 || code == EAGAIN || code == EINTR ? .full : .failed(code)
    }
}
