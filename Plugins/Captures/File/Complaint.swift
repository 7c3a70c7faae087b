internal import Hemiola
internal import HemiolaSignal

/// The one line for everything that can be wrong with a file: the file, what is wrong with it, and the way out.
enum Complaint {
    /// The line of commands that reads what ffmpeg reads.
    static func pipe(_ path: String) -> String {
        "ffmpeg -v error -i \(path.quotedForShell) -f wav - | hemiola analyze -"
    }

    static func cannotOpen(_ path: String, _ refusal: InputFile.Refusal) -> CaptureError {
        let name = path.shown
        switch refusal {
        case .missing:
            return missing(path)
        case .folder:
            return CaptureError(
                "\(name): is a folder; to analyse what is in it: "
                    + "find \(path.quotedForShell) -type f -print0 | hemiola analyze --files-from - -0")
        case .pipe where path.hasPrefix("/dev/") || path.hasPrefix("/proc/"):
            return CaptureError("\(name): is a pipe, not a file; to analyse what a command writes: COMMAND | hemiola analyze -")
        case .pipe:
            return CaptureError(
                "\(name): is a pipe, not a file; to analyse what flows through it: hemiola analyze - < \(path.quotedForShell)")
        case .device where path.hasPrefix("/dev/snd") || path.hasPrefix("/dev/dsp"):
            return CaptureError("\(name): is a device, not a file; record what it hears first: arecord -f cd out.wav")
        case .device:
            return CaptureError("\(name): is a device, not a file; name a file that holds sound, or pipe it in: hemiola analyze - < FILE")
        case .socket:
            return CaptureError("\(name): is a socket, not a file; name a file that holds sound")
        case .notPermitted:
            return CaptureError("\(name): may not be read by this user; to see whose it is: ls -ld \(path.quotedForShell)")
        case .system(let reason):
            return CaptureError("\(name): cannot be opened (\(reason)); to see what is there: ls -ld \(path.quotedForShell)")
        }
    }

    static func missing(_ path: String) -> CaptureError {
        let name = path.shown
        let lowercased = path.lowercased()
        if lowercased.hasPrefix("http://") || lowercased.hasPrefix("https://") {
            return CaptureError("\(name): is an address, not a file; to analyse what it names: \(pipe(path))")
        }
        if lowercased.hasPrefix("file://") {
            return CaptureError("\(name): is an address, not a path; leave out its file://")
        }
        if path.hasPrefix("~/") {
            return CaptureError(
                "\(name): the shell has not put the home folder in the place of ~; write \"$HOME\(path.shown.dropFirst())\"")
        }
        let slash = path.lastIndex(of: "/")
        let folder = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let file = slash.map { String(path[path.index(after: $0)...]) } ?? path
        guard let names = InputFile.names(in: folder) else {
            return CaptureError("\(name): there is no folder \(folder.shown) that can be read; name a file that is there")
        }
        if !file.isEmpty, let near = file.nearest(in: names) {
            let prefix = slash.map { String(path[...$0]) } ?? ""
            return CaptureError("\(name): there is no such file; did you mean \((prefix + near).shown)?")
        }
        return CaptureError("\(name): there is no such file; to see what is there: ls \(folder.quotedForShell)")
    }

    static func empty(_ path: String) -> CaptureError {
        CaptureError("\(path.shown): is empty, 0 bytes; name a file that holds sound")
    }

    /// - Parameter reason: The decoder's own words, for a format that it knows.
    static func notAudio(_ path: String, _ likeness: Likeness, reason: String) -> CaptureError {
        let name = path.shown
        switch likeness {
        case .foreignAudio(let what):
            return CaptureError("\(name): looks like \(what), which is not read directly; pipe it through ffmpeg: \(pipe(path))")
        case .knownAudio(let what):
            return CaptureError("\(name): looks like \(what), but cannot be decoded (\(reason)); see whether ffmpeg can: \(pipe(path))")
        case .other(let what):
            return CaptureError("\(name): is not audio: it looks like \(what); name a file that holds sound")
        case .unknown:
            return CaptureError(
                "\(name): is not audio that can be recognized; if it is bare 16-bit samples: "
                    + "ffmpeg -v error -f s16le -ar 44100 -ac 2 -i \(path.quotedForShell) -f wav - | hemiola analyze -")
        }
    }

    /// A file that was given to ffmpeg, and why that has not decoded it.
    static func notDecoded(_ path: String, _ likeness: Likeness, _ failure: FFmpegDecoder.Failure) -> CaptureError {
        let name = path.shown
        let what: String
        switch likeness {
        case .foreignAudio(let format), .knownAudio(let format): what = format
        case .other, .unknown: return notAudio(path, likeness, reason: "")
        }
        switch failure {
        case .cancelled:
            return CaptureError("\(name): interrupted while it was decoded", remedy: .finish)
        case .notInstalled:
            return CaptureError(
                "\(name): looks like \(what), which ffmpeg decodes, and ffmpeg is not installed; install it: apt install ffmpeg")
        case .noSpace(let folder):
            return CaptureError(
                "\(name): no space left in \(folder.shown) for the decoded sound; set TMPDIR to a folder with more space")
        case .killed(let signal):
            return CaptureError(
                "\(name): ffmpeg was ended by signal \(signal) while it decoded the file; free memory and analyse it again, or see "
                    + "what it says: ffmpeg -i \(path.quotedForShell) -f null -")
        case .failed(let reason):
            return CaptureError(
                "\(name): looks like \(what), but ffmpeg cannot decode it (\(reason.shown)); to see all that it says: "
                    + "ffmpeg -i \(path.quotedForShell) -f null -")
        }
    }

    static func outOfRange(_ path: String, _ format: StreamFormat) -> CaptureError? {
        outOfRange(path, sampleRate: format.sampleRate, channelCount: format.channelCount)
    }

    /// nil for a format that Hemiola analyses.
    static func outOfRange(_ path: String, sampleRate: Int?, channelCount: Int?) -> CaptureError? {
        let rates = StreamFormat.sampleRates
        let counts = StreamFormat.channelCounts
        let file = path.quotedForShell
        if let channelCount, !counts.contains(channelCount) {
            // ffmpeg does neither: it will not open a file without channels, nor mix down what has no layout.
            let wayOut =
                channelCount == 0
                ? "to read it as stereo: sox -c 2 \(file) out.wav" : "to mix them down to two: sox \(file) -c 2 out.wav"
            return CaptureError(
                "\(path.shown): \(channelCount) channels are outside \(counts.lowerBound)...\(counts.upperBound); \(wayOut)")
        }
        if let sampleRate, !rates.contains(sampleRate) {
            let wayOut =
                sampleRate == 0
                ? "to give it one: sox -r 48000 \(file) out.wav" : "to bring it inside: ffmpeg -i \(file) -ar 48000 out.wav"
            return CaptureError(
                "\(path.shown): sample rate \(sampleRate) Hz is outside \(rates.lowerBound)...\(rates.upperBound) Hz; \(wayOut)")
        }
        return nil
    }

    static func broken(_ path: String, at seconds: Double, reason: String) -> CaptureError {
        let milliseconds = Int64((seconds * 1000).rounded(.down))
        let fraction = String(milliseconds % 1000 + 1000).dropFirst()
        return CaptureError(
            "\(path.shown): cannot be read beyond \(milliseconds / 1000).\(fraction) s (\(reason)); see whether ffmpeg can: \(pipe(path))")
    }

    /// The decoder goes round in a circle over the file's header.
    static func stuck(_ path: String) -> CaptureError {
        CaptureError("\(path.shown): cannot be decoded (\(SoundFile.loopReason)); see whether ffmpeg can: \(pipe(path))")
    }

    static func startsBehindEnd(_ path: String, _ start: Double) -> CaptureError {
        CaptureError("\(path.shown): ends before \(start) s, where the analysis should begin; choose an earlier start")
    }

    static func changed(_ path: String) -> CaptureError {
        CaptureError("\(path.shown): has changed while it was analysed; start again when it is finished")
    }
}
