import Hemiola
import HemiolaPCM
import PCMCapture

extension Fuzzer {
    /// A stream of PCM data. The last byte but one selects WAV or an encoding of raw samples; the last byte selects the number of channels
    /// and the buffer size.
    ///
    /// The samples must be the same from a pipe, from a file, and after a rewind.
    func tryPCM(_ bytes: [UInt8]) {
        guard bytes.count > 2 else { return }
        let (encoding, options) = (Int(bytes[bytes.count - 2]), Int(bytes[bytes.count - 1]))
        let stream = Array(bytes.dropLast(2).prefix(1 << 16))
        var settings = ["spool": "true"]
        let encodings = PCMEncoding.allCases
        // Mostly WAV, because bugs are more likely in its header.
        let raw = encoding % 24 < encodings.count ? encodings[encoding % 24] : nil
        if let raw { settings["raw"] = "\(raw.rawValue):44100:\(options % 32 + 1)" }
        let room = [1, 7, 1024, 8192][options / 32 % 4]
        let file = makeCapture(.pcm, settings.merging(["path": InputFile.path(holding: stream)]) { $1 })
        let pipe = InputPipe(holding: stream)
        let piped = makeCapture(.pcm, settings.merging(["path": pipe.path]) { $1 })
        let sources = (open(file), open(piped))
        require((sources.0 == nil) == (sources.1 == nil), "of a pipe and a file with the same bytes, only one can be opened")
        guard let source = sources.0, let other = sources.1 else { return }
        defer {
            file.close()
            piped.close()
        }
        require(source.format == other.format, "\(source.format) in a file, \(other.format) in a pipe")
        let first = CaptureOutput(of: file, in: source.format, room: room)
        require(first.frameCount * Int64(source.format.channelCount) <= Int64(stream.count), "more samples than bytes")
        if let raw, !raw.rawValue.hasPrefix("f") { require(first.peak <= 1 && !first.hasNaN, "an integer sample of \(first.peak)") }
        require(first.isEquivalent(to: CaptureOutput(of: piped, in: source.format, room: 256)), "a pipe and a file differ")
        for capture in [file, piped] {
            guard first.error == nil, let capture = capture as? any RewindableCapture else { continue }
            do throws(Problem) {
                try capture.rewind()
            } catch {
                fatalError("a spooled stream cannot be rewound: \(error)")
            }
            let again = CaptureOutput(of: capture, in: source.format, room: room)
            require(first.isEquivalent(to: again), "a stream differs after a rewind: \(first) \(again)")
        }
    }
}
