import FileCapture
import Glibc
import Hemiola

/// The capture must not start ffmpeg for every input that libsndfile refuses.
private let hidesFFmpeg: Bool = setenv("PATH", "/nonexistent", 1) == 0

extension Fuzzer {
    /// Any bytes as a file: refused in one line, or read to the end, twice the same.
    func tryFile(_ bytes: [UInt8]) {
        precondition(hidesFFmpeg)
        let capture = makeCapture(.file, ["path": InputFile.path(holding: bytes)])
        guard let source = open(capture) else { return }
        defer { capture.close() }
        // The engine's batches, and sizes that the input chooses.
        let room = bytes.count.isMultiple(of: 2) ? 1024 : [1, 64, 333, 4096][bytes.count / 2 % 4]
        let first = Hearing(of: capture, in: source.format, room: room)
        // The most that a byte can become is a FLAC frame of silence: 65535 frames in 14.
        require(first.frameCount <= Int64(bytes.count + 64) * 8192, "\(first.frameCount) frames in \(bytes.count) bytes")
        guard let file = capture as? any RewindableCapture else { fatalError("a file cannot be rewound") }
        do throws(CaptureError) {
            try file.rewind()
        } catch {
            fatalError("a file cannot be heard again: \(error)")
        }
        let second = Hearing(of: capture, in: source.format, room: room)
        require(first == second, "a file sounds different the second time: \(first) \(second)")
        // Where a decoder fails, how much it gives of what came before depends on how much was asked for; mpg123 does so without an
        // error, and may begin anywhere.
        let magics = ["RIFF", "RIFX", "RF64", "BW64", "FORM", ".snd", "dns.", "caff", "riff", "fLaC", "OggS"]
        guard magics.contains(where: { bytes.starts(with: $0.utf8) }) else { return }
        guard first.error == nil, !first.isCut, (try? file.rewind()) != nil else { return }
        let third = Hearing(of: capture, in: source.format, room: 777)
        require(first == third || third.error != nil, "a file sounds different by other hops: \(first) \(third)")
    }
}
