internal import Hemiola

extension PipelineNotice {
    /// The message for the user, in one line. It names the input or the output.
    public var text: String {
        switch self {
        case .inputFailed(let input, let error):
            return error.message(about: input)
        case .captureWarning(_, let remark), .sinkWarning(_, let remark), .warning(let remark):
            return remark
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
        case .sinkFailed(_, let error):
            return error.messages
        case .sinkInformation(_, let text, _), .sinkAddress(_, let text, _), .sinkOutput(_, let text):
            return text
        case .runFailed(let error):
            return error.message
        case .finished(let input, let summary, _):
            return "\(input): \(summary.batches) batch\(summary.batches == 1 ? "" : "es")"
                + (summary.reason == .endOfInput ? "" : " (\(summary.reason.rawValue))")
        }
    }

    /// Seconds, or the frames of a part that would be 0.0 s.
    private static func length(_ seconds: Double, _ frames: Int64) -> String {
        seconds >= 0.01 ? "\(seconds.rounded(toPlaces: 3)) s" : "\(frames) frame\(frames == 1 ? "" : "s")"
    }
}

extension Problem {
    /// All that is wrong with a field map, one line each.
    var messages: String { all.map(\.message).joined(separator: "\n") }

    /// The message, preceded by the input's name unless it contains it.
    func message(about input: String) -> String {
        message.contains(input.onOneLine) ? message : "\(input): \(message)"
    }
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
