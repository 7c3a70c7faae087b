public import Hemiola

/// A step of a scripted capture: what one or several reads return.
public enum CaptureStep: Sendable {
    /// Interleaved samples, as many as fit into the reader's buffer, at most `fragment` frames per read.
    case samples([Float], fragment: Int = .max)
    /// A gap.
    case gap(Gap)
    /// A change of the format: the samples of the next steps are in this format.
    case format(StreamFormat)
    /// A change of the source: the name of the new source, and its format.
    case source(String, StreamFormat)
    /// A device event.
    case device(DeviceEvent)
    /// No audio yet, for a number of reads.
    case idle(times: Int = 1)
    /// No audio until the function returns true; called at every read, which then waits 1 ms.
    case pause(until: @Sendable () -> Bool)
    /// Calls a function on the reader's thread and continues with the next step in the same read.
    case call(@Sendable () -> Void)
    /// The read throws. The next read continues with the next step.
    case failure(Problem)
}

extension CapturePlugin {
    /// A capture that delivers the steps of a script, then the end.
    ///
    /// - Parameters:
    ///   - id: The plugin's id.
    ///   - format: The format that `open` returns, whatever was requested.
    ///   - isLive: Whether the capture is live: the engine drops batches then instead of blocking it.
    ///   - isRewindable: Whether the capture is a `RewindableCapture`.
    ///   - duration: The duration that `open` returns, in seconds; nil: unknown.
    ///   - openFailure: The error that `open` throws; nil: `open` succeeds.
    ///   - log: Called with the name of every method but `read`: `open`, `rewind`, `close`.
    ///   - steps: The script, in order.
    public static func scripted(
        as id: String = "scripted", format: StreamFormat = TestSignal.mono, isLive: Bool = false, isRewindable: Bool = false,
        duration: Double? = nil, openFailure: Problem? = nil, log: @escaping @Sendable (String) -> Void = { _ in },
        _ steps: [CaptureStep]
    ) -> CapturePlugin {
        CapturePlugin(
            PluginDescription(id, "Delivers the steps of a test's script.", primary: "name"), settings: ScriptedCapture.Settings.self
        ) {
            settings throws(Problem) in
            let script = ScriptedCapture.Script(
                kind: id, name: settings.name, format: format, isLive: isLive, duration: duration,
                openFailure: openFailure, log: log, steps: steps)
            return isRewindable ? RewindableScriptedCapture(script) : ScriptedCapture(script)
        }
    }
}

/// Delivers a script once.
class ScriptedCapture: Capture {
    struct Settings: PluginSettings {
        var name: String

        init(_ read: inout SettingReader) {
            name = read.text("name", default: "script", "The name of the source.")
        }
    }

    struct Script: Sendable {
        var kind: String
        var name: String
        var format: StreamFormat
        var isLive: Bool
        var duration: Double?
        var openFailure: Problem?
        var log: @Sendable (String) -> Void
        var steps: [CaptureStep]
    }

    fileprivate let script: Script
    /// The current step, and its progress: samples delivered, or idle reads.
    private var place = 0
    private var done = 0
    private var channelCount: Int

    init(_ script: Script) {
        self.script = script
        channelCount = script.format.channelCount
    }

    var isLive: Bool { script.isLive }

    func open(_ request: FormatRequest) throws(Problem) -> StreamSource {
        script.log("open")
        if let error = script.openFailure { throw error }
        return StreamSource(format: script.format, kind: script.kind, name: script.name, duration: script.duration)
    }

    func read(into samples: inout MutableSpan<Float>) throws(Problem) -> ReadResult {
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
                    // A read of a real source waits for audio; without a wait the reader would use a whole core.
                    MonotonicTime.sleep(for: 0.001)
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

/// Delivers a script again after every `rewind`.
final class RewindableScriptedCapture: ScriptedCapture, RewindableCapture {
    func rewind() throws(Problem) {
        script.log("rewind")
        startOver()
    }
}
