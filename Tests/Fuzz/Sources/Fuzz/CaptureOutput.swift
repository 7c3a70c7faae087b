import HemiolaRecords
import HemiolaSignal
import HemiolaSystem

@testable import Hemiola

/// All that a capture delivers, read in the same way as by the engine.
struct CaptureOutput: Equatable {
    /// The largest number of samples to read. A small file may decode to hours: FLAC needs 14 bytes for 65535 frames of silence.
    static let sampleLimit = 1 << 22

    var format: StreamFormat
    /// Frames delivered.
    var frameCount: Int64 = 0
    /// Frames reported as missing.
    var missingCount: Int64 = 0
    /// FNV-1a of the bits of the samples, and of the gaps and formats between them.
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    /// The greatest magnitude of a sample; NaN counts as none.
    var peak: Float = 0
    var hasNaN = false
    var error: String?
    /// Whether reading stopped at `sampleLimit`.
    var isCut = false

    /// Reads an open capture to its end, its error or the limit.
    ///
    /// - Parameter room: The size of the buffer, in frames.
    init(of capture: any Capture, in format: StreamFormat, room: Int) {
        self.format = format
        do throws(Problem) {
            try read(capture, room: room)
        } catch {
            requireOneLine(error.message)
            self.error = error.message
        }
    }

    /// Whether both are equal except for the text of the error.
    func isEquivalent(to other: CaptureOutput) -> Bool {
        var named = other
        if error != nil, other.error != nil { named.error = error }
        return self == named
    }

    private mutating func read(_ capture: any Capture, room: Int) throws(Problem) {
        var format = format
        var buffer = [Float](repeating: 0, count: room * format.channelCount)
        var idle = 0
        while frameCount * Int64(format.channelCount) < Self.sampleLimit {
            var span = buffer.mutableSpan
            switch try capture.read(into: &span) {
            case .frames(let count):
                require((1...room).contains(count), "\(count) frames in a room of \(room)")
                add(buffer[..<(count * format.channelCount)])
                frameCount += Int64(count)
                idle = 0
            case .gap(let gap):
                require((0...1 << 40).contains(gap.frames), "a gap of \(gap.frames) frames")
                missingCount += gap.frames
                add(UInt64(gap.frames))
            case .format(let new):
                require(new.isSupported, "\(new) goes on in a format that is not analysed")
                format = new
                buffer = [Float](repeating: 0, count: room * format.channelCount)
                add(UInt64(new.sampleRate) << 32 | UInt64(new.channelCount))
            case .idle:
                idle += 1
                require(idle < 1000, "a capture returns idle without end")
            case .device, .source: fatalError("a file is no device")
            case .end:
                var span = buffer.mutableSpan
                require(try! capture.read(into: &span) == .end, "a read after the end returns something else")
                return
            }
        }
        isCut = true
    }

    private mutating func add(_ samples: ArraySlice<Float>) {
        for sample in samples {
            peak = max(peak, sample.magnitude)
            hasNaN = hasNaN || sample.isNaN
            add(UInt64(sample.bitPattern))
        }
    }

    private mutating func add(_ word: UInt64) {
        hash = (hash ^ word) &* 0x100_0000_01b3
    }
}

/// Makes a plugin's capture from text settings, as in a SPEC.
func makeCapture(_ plugin: CapturePlugin, _ settings: [String: String]) -> any Capture {
    var problems: [Problem] = []
    let spec = PluginSpec(plugin.about.id, settings: settings.mapValues { .text($0) })
    let values = plugin.about.values(from: spec, problems: &problems)
    guard let values, let capture = try? plugin.make(values) else { fatalError("the fuzzer's own settings are wrong: \(problems)") }
    return capture
}

/// Opens a capture.
///
/// - Returns: nil if the capture refuses the input. Its message must have one line.
func open(_ capture: any Capture) -> StreamSource? {
    do throws(Problem) {
        let source = try capture.open(FormatRequest())
        require(source.format.isSupported, "\(source.format) is not analysed")
        if let duration = source.duration { require(duration.isFinite && duration >= 0, "the duration is \(duration) s") }
        return source
    } catch {
        requireOneLine(error.message)
        return nil
    }
}
