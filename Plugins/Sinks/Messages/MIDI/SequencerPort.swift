internal import CALSA
internal import HemiolaMIDI
internal import HemiolaSystem

extension SharedLibrary {
    static let asound = SharedLibrary(
        "libasound", soname: "libasound.so.2", package: "libasound2", licence: "LGPL-2.1-or-later", relation: .suggests,
        use: "MIDI through ALSA, midi:alsa", versionSymbol: .textFunction("snd_asoundlib_version"))
}

/// A port of the ALSA sequencer, which other programs connect to.
///
/// Owns the port. Used by one thread at a time.
final class SequencerPort: MIDIPort {
    private static let device = "/dev/snd/seq"
    /// The name of the client and of its port.
    private static let name = "Hemiola"

    private let port: OpaquePointer

    /// - Parameter destination: The port to connect to, as `128:0` or `NAME:0`; nil: none, other programs connect.
    init(_ destination: String?) throws(Problem) {
        let remedy = "name a device or a named pipe, as in midi:/dev/snd/midiC1D0"
        guard FileSystem.exists(Self.device) else {
            throw Problem("the ALSA sequencer is missing (\(Self.device)); load it with modprobe snd-seq, or \(remedy)")
        }
        var opened: OpaquePointer?
        var detail: UnsafePointer<CChar>?
        if let step = calsa_open(Self.name, destination, &opened, &detail) {
            let cause = detail.map { ": \(String(cString: $0))" } ?? ""
            let target = destination.map { " \($0)" } ?? ""
            throw Problem("\(String(cString: step))\(target)\(cause); aconnect -l lists ports, or \(remedy)")
        }
        guard let opened else { throw Problem("cannot open the ALSA sequencer; \(remedy)") }
        port = opened
    }

    deinit { calsa_close(port) }

    /// Sends whole messages; the queue never begins with a part of one, because this port accepts none.
    func send(_ bytes: Span<UInt8>) -> PortResult {
        var start = 0
        while start < bytes.count {
            var end = start + 1
            while end < bytes.count, bytes[end] < 0x80 { end += 1 }
            // Unsafe: the function takes a pointer, which is valid inside the closure.
            let code = bytes.extracting(start..<end).withUnsafeBufferPointer { calsa_send(port, $0.baseAddress, Int32($0.count)) }
            switch SystemCallError(number: code).code {
            case .wouldBlock, .interrupted: return start > 0 ? .accepted(start) : .full
            default: if code != 0 { return .failed(code) }
            }
            start = end
        }
        return .accepted(start)
    }
}
