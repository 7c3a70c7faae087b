import FileCapture
import Glibc
import Hemiola

/// The capture must not start ffmpeg for every input that the other decoders refuse.
private let hidesFFmpeg: Bool = setenv("PATH", "/nonexistent", 1) == 0

extension Fuzzer {
    /// Any bytes as a file: refused with a message of one line, or read to the end, with the same result after a rewind.
    func tryFile(_ bytes: [UInt8]) {
        precondition(hidesFFmpeg)
        let capture = makeCapture(.file, ["path": InputFile.path(holding: bytes)])
        guard let source = open(capture) else { return }
        defer { capture.close() }
        // The engine's batch size, or a size that the length of the input selects.
        let room = bytes.count.isMultiple(of: 2) ? 1024 : [1, 64, 333, 4096][bytes.count / 2 % 4]
        let first = CaptureOutput(of: capture, in: source.format, room: room)
        // The highest compression is that of a FLAC frame of silence: 65535 frames in 14 bytes.
        require(first.frameCount <= Int64(bytes.count + 64) * 8192, "\(first.frameCount) frames in \(bytes.count) bytes")
        guard let file = capture as? any RewindableCapture else { fatalError("a file cannot be rewound") }
        do throws(Problem) {
            try file.rewind()
        } catch {
            fatalError("a file cannot be rewound: \(error)")
        }
        let second = CaptureOutput(of: capture, in: source.format, room: room)
        require(first == second, "a file differs after a rewind: \(first) \(second)")
        guard first.error == nil, !first.isCut, (try? file.rewind()) != nil else { return }
        let third = CaptureOutput(of: capture, in: source.format, room: 777)
        require(first == third || third.error != nil, "a file differs with another buffer size: \(first) \(third)")
    }
}
