public import Hemiola
public import HemiolaSignal

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// One line of a scripted capture's part.
public enum CaptureStep: Sendable {
    /// Interleaved samples, delivered as the reader has room, at most `fragment` frames at a time.
    case samples([Float], fragment: Int = .max)
    /// Audio is lost here.
    case gap(Gap)
    /// From here on samples are of another format.
    case format(StreamFormat)
    /// From here on samples are of another source, whose name is this, in that format.
    case source(String, StreamFormat)
    /// A device has opened, moved or gone.
    case device(DeviceNotice)
    /// Nothing yet, so many times.
    case idle(times: Int = 1)
    /// Nothing yet until this is so.
    case pause(until: @Sendable () -> Bool)
    /// Does something on the reader's thread and goes on at once.
    case call(@Sendable () -> Void)
    /// Throws. What follows is delivered if the reader asks again.
    case failure(CaptureError)
}

extension CapturePlugin {
    /// A capture that delivers a script and then ends.
    ///
    /// - Parameters:
    ///   - id: The plugin's id.
    ///   - format: What `open` states, whatever the wish.
    ///   - isLive: Whether it is a live capture.
    ///   - isRewindable: Whether it can start over.
    ///   - duration: What `open` states, in seconds.
    ///   - openFailure: What `open` throws, if it is to throw.
    ///   - log: Hears every call but `read`: `open`, `rewind`, `close`.
    ///   - steps: The script.
    public static func scripted(
        as id: String = "scripted", format: StreamFormat = TestSignal.mono, isLive: Bool = false, isRewindable: Bool = false,
        duration: Double? = nil, openFailure: CaptureError? = nil, log: @escaping @Sendable (String) -> Void = { _ in },
        _ steps: [CaptureStep]
    ) -> CapturePlugin {
        CapturePlugin(id, "Delivers what a test tells it to.", settings: [ScriptedCapture.name.declared], primary: "name") {
            settings throws(ConfigurationError) in
            let script = ScriptedCapture.Script(
                kind: id, name: settings[ScriptedCapture.name], format: format, isLive: isLive, duration: duration,
                openFailure: openFailure, log: log, steps: steps)
            return isRewindable ? RewindableScriptedCapture(script) : ScriptedCapture(script)
        }
    }
}

/// Plays its script, once.
class ScriptedCapture: Capture {
    static let name = Setting("name", default: "script", "What the source is called.")

    struct Script: Sendable {
        var kind: String
        var name: String
        var format: StreamFormat
        var isLive: Bool
        var duration: Double?
        var openFailure: CaptureError?
        var log: @Sendable (String) -> Void
        var steps: [CaptureStep]
    }

    fileprivate let script: Script
    /// The step under way, and how much of it is done: samples delivered, idle answers given.
    private var place = 0
    private var done = 0
    private var channelCount: Int

    init(_ script: Script) {
        self.script = script
        channelCount = script.format.channelCount
    }

    var isLive: Bool { script.isLive }

    func open(_ wish: FormatWish) throws(CaptureError) -> StreamSource {
        script.log("open")
        if let error = script.openFailure { throw error }
        return StreamSource(format: script.format, kind: script.kind, name: script.name, duration: script.duration)
    }

    func read(into samples: inout MutableSpan<Float>) throws(CaptureError) -> Delivery {
        while place < script.steps.count {
            switch script.steps[place] {
            case .samples(let source, let fragment):
                if let frames = copy(source, fragment, into: &samples) { return .frames(frames) }
                next()
            case .gap(let gap):
                next()
                return .gap(gap)
            case .format(let format):
                next()
                channelCount = format.channelCount
                return .format(format)
            case .source(let name, let format):
                next()
                channelCount = format.channelCount
                return .source(StreamSource(format: format, kind: script.kind, name: name))
            case .device(let notice):
                next()
                return .device(notice)
            case .idle(let times):
                if done < times {
                    done += 1
                    return .idle
                }
                next()
            case .pause(until: let isOver):
                if !isOver() {
                    // As a source would that waits for audio, so that the reader does not spin.
                    usleep(1000)
                    return .idle
                }
                next()
            case .call(let body):
                next()
                body()
            case .failure(let error):
                next()
                throw error
            }
        }
        return .end
    }

    func close() {
        script.log("close")
    }

    fileprivate func startOver() {
        place = 0
        done = 0
        channelCount = script.format.channelCount
    }

    private func next() {
        place += 1
        done = 0
    }

    /// - Returns: The frames delivered, or nil when this step has no more.
    private func copy(_ source: [Float], _ fragment: Int, into samples: inout MutableSpan<Float>) -> Int? {
        let frames = min(fragment, samples.count / channelCount, (source.count - done) / channelCount)
        guard frames > 0 else { return nil }
        let count = frames * channelCount
        source.withUnsafeBufferPointer { from in
            samples.withUnsafeMutableBufferPointer { to in
                to.baseAddress!.update(from: from.baseAddress! + done, count: count)
            }
        }
        done += count
        return frames
    }
}

/// Plays its script as often as it is asked.
final class RewindableScriptedCapture: ScriptedCapture, RewindableCapture {
    func rewind() throws(CaptureError) {
        script.log("rewind")
        startOver()
    }
}
