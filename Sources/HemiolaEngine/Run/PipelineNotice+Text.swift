internal import Hemiola

extension PipelineNotice {
    /// The message for the user, in one line. It names the input or the output.
    public var text: String {
        switch self {
        case .captureFailed(let input, let error):
            return Self.line(input, error.message)
        case .inputSkipped(_, let reason):
            return "\(reason); this input is skipped"
        case .analyzerSkipped(let input, let analyzer, let error):
            return "\(Self.line(input, error.message)); analysed without \(analyzer)"
        case .captureWarning(_, let remark):
            return remark
        case .analyzerRefused(let input, let error):
            return Self.line(input, error.message)
        case .analyzerWarning(let input, let analyzer, let remark):
            return "\(input): \(analyzer): \(remark)"
        case .gap(let input, let time, let duration, let frames, .truncatedFile):
            return duration > 0
                ? "\(input): the file ends at \(time.rounded(toPlaces: 3)) s, \(Self.length(duration, frames)) too early; the audio before was analysed"
                : "\(input): the file is cut off at \(time.rounded(toPlaces: 3)) s; the audio before was analysed"
        case .gap(let input, let time, let duration, let frames, .damagedFile):
            let length = duration > 0 ? "\(Self.length(duration, frames)) of sound are" : "sound of unknown length is"
            return "\(input): \(length) missing or damaged at \(time.rounded(toPlaces: 3)) s; the rest was analysed"
        case .gap(let input, _, _, _, .falseLength):
            return "\(input): contains more sound than its header declares; all of it was analysed"
        case .damage(let input, let places, let first, let duration, let frames):
            return "\(input): \(places) parts are missing or damaged, \(Self.length(duration, frames)) in all, the first at "
                + "\(first.rounded(toPlaces: 3)) s; the rest was analysed"
        case .gap(let input, let time, let duration, let frames, .stopped):
            return "\(input): \(Self.length(duration, frames)) of sound were lost at \(time.rounded(toPlaces: 3)) s: "
                + "hemiola did not run: it was stopped, the computer slept, or other programs kept the processor busy"
        case .gap(let input, let time, let duration, let frames, let reason):
            return "\(input): \(Self.length(duration, frames)) of sound were lost at \(time.rounded(toPlaces: 3)) s (\(reason.rawValue))"
        case .device(_, let device):
            switch device.state {
            case .opened: return "listening to \(device.title), \(device.format.sampleRate) Hz, \(device.format.channelText)"
            case .moved: return "now listening to \(device.title), \(device.format.sampleRate) Hz, \(device.format.channelText)"
            case .lost: return "no audio from \(device.title); waiting for it"
            }
        case .silence(let input, _):
            return "silence on \"\(input)\"; if music is playing, select its device; see: hemiola devices"
        case .sound(let input, let seconds):
            return "sound on \"\(input)\" after \(Int(seconds.rounded())) s of silence"
        case .oppositePolarity(let input):
            return "\(input): left and right have opposite polarity and cancel each other in the mono mix: their difference is analysed; "
                + "swap the wires of one channel, or invert it"
        case .nonFinite(let input, let samples):
            return "\(input): \(samples) sample\(samples == 1 ? " was" : "s were") NaN or infinite and replaced by 0"
        case .sinkFailed(_, let error):
            return error.messages
        case .resultFailed(let input, let error):
            return Self.line(input, error.messages)
        case .sinkSkipped(_, let error):
            return "\(error.messages); the run goes on without it"
        case .sinkLosses(let sink, let batches):
            return "\(sink): batches that were not written: \(batches)"
        case .noSinkLeft:
            return "all sinks have failed; the rest was not analysed"
        case .sinkTrouble(_, let error):
            return "\(error.messages); retrying"
        case .sinkWarning(_, let remark):
            return remark
        case .sinkInformation(_, let text, _), .sinkAddress(_, let text, _), .sinkOutput(_, let text):
            return text
        case .sinkRecovered(let sink):
            return "\(sink): recovered"
        case .fewerJobs(let count, let wanted, let error):
            return "\(count) of \(wanted) jobs run: \(error.message)"
        case .runFailed(let error):
            return error.message
        case .pacing(let sink):
            return "\(sink) requires real time: processing at real-time speed"
        case .recording(let remark):
            return remark
        case .controlRefused(let input, let control, let reason):
            return "\(input): the control \(control.control.name) at frame \(control.frame) had no effect: \(reason)"
        case .finished(let input, let summary, _):
            return "\(input): \(summary.batches) batch\(summary.batches == 1 ? "" : "es")"
                + (summary.reason == .endOfInput ? "" : " (\(summary.reason.rawValue))")
        }
    }

    /// Seconds, or the frames of a part that would be 0.0 s.
    private static func length(_ seconds: Double, _ frames: Int64) -> String {
        seconds >= 0.01 ? "\(seconds.rounded(toPlaces: 3)) s" : "\(frames) frame\(frames == 1 ? "" : "s")"
    }

    /// The message, preceded by the input's name unless it contains it.
    private static func line(_ name: String, _ message: String) -> String {
        message.contains(name.onOneLine) ? message : "\(name): \(message)"
    }
}

extension Problem {
    /// All that is wrong with a field map, one line each.
    fileprivate var messages: String { all.map(\.message).joined(separator: "\n") }
}

extension DeviceEvent {
    /// `"Monitor of HDMI" (alsa_output.hdmi.monitor)`
    fileprivate var title: String {
        summary.isEmpty || summary == name ? "\"\(name)\"" : "\"\(summary)\" (\(name))"
    }
}

extension StreamFormat {
    fileprivate var channelText: String { "\(channelCount) channel\(channelCount == 1 ? "" : "s")" }
}
