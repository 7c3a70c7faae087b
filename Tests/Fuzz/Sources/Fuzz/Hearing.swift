import HemiolaSignal

@testable import Hemiola

/// Everything that a capture delivers, heard as the engine hears it.
struct Hearing: Equatable {
    /// Where to stop listening to a small file that unpacks to hours: FLAC needs 14 bytes for 65535 frames of silence.
    static let sampleLimit = 1 << 22

    var format: StreamFormat
    /// Frames delivered.
    var frameCount: Int64 = 0
    /// Frames told as missing.
    var missingCount: Int64 = 0
    /// FNV-1a of the samples' bits and of all that is told between them.
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    /// The greatest magnitude of a sample; NaN counts as none.
    var peak: Float = 0
    var hasNaN = false
    var error: String?
    /// Whether there was more than `sampleLimit`.
    var isCut = false

    /// Reads an open capture to its end, its error or the limit.
    ///
    /// - Parameter room: Frames asked for at a time.
    init(of capture: any Capture, in format: StreamFormat, room: Int) {
        self.format = format
        do throws(CaptureError) {
            try listen(to: capture, room: room)
        } catch {
            requireOneLine(error.message)
            self.error = error.message
        }
    }

    /// Whether the same came, told by whatever name in an error.
    func sounds(like other: Hearing) -> Bool {
        var named = other
        if error != nil, other.error != nil { named.error = error }
        return self == named
    }

    private mutating func listen(to capture: any Capture, room: Int) throws(CaptureError) {
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
                require(idle < 1000, "a capture waits for what cannot come")
            case .device, .source: fatalError("a file is no device")
            case .end:
                var span = buffer.mutableSpan
                require(try! capture.read(into: &span) == .end, "something comes after the end")
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

/// A plugin's capture, made from text settings as a SPEC has them.
func makeCapture(_ plugin: CapturePlugin, _ settings: [String: String]) -> any Capture {
    var problems: [ConfigurationProblem] = []
    let spec = PluginSpec(plugin.about.id, settings: settings.mapValues { .text($0) })
    let values = plugin.about.values(from: spec, path: "captures[0]", problems: &problems)
    guard let values, let capture = try? plugin.make(values) else { fatalError("the fuzzer's own settings are wrong: \(problems)") }
    return capture
}

/// Opens a capture; nil when it refuses, in one line.
func open(_ capture: any Capture) -> StreamSource? {
    do throws(CaptureError) {
        let source = try capture.open(FormatRequest())
        require(source.format.isSupported, "\(source.format) is not analysed")
        if let duration = source.duration { require(duration.isFinite && duration >= 0, "it lasts \(duration) s") }
        return source
    } catch {
        requireOneLine(error.message)
        return nil
    }
}
