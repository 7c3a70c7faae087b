import FileCapture
import Hemiola
import TestSupport

/// The example music of the repository: 30 s in stereo at 44.1 kHz.
enum Minuet {
    /// One minute of it, repeated; interleaved samples.
    static let minute = Result {
        let once = try read()
        return Array((once + once).prefix(2 * 60 * 44_100))
    }

    private static func read() throws -> [Float] {
        let spec = PluginSpec("file", primary: .text(Repository.minuet))
        let capture = try CapturePlugin.file.make(CapturePlugin.file.about.values(from: spec))
        let source = try capture.open(FormatRequest())
        precondition(source.format == StreamFormat(sampleRate: 44_100, channelCount: 2), "the minuet is stereo at 44.1 kHz")
        defer { capture.close() }
        var samples: [Float] = []
        var buffer = [Float](repeating: 0, count: 8192)
        while true {
            var span = buffer.mutableSpan
            switch try capture.read(into: &span) {
            case .frames(let count): samples += buffer[..<(2 * count)]
            case .end: return samples
            default: break
            }
        }
    }
}
