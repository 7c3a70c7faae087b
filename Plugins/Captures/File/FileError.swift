internal import Hemiola
internal import HemiolaPCM

/// The errors of this capture: one line each, with the file, what is wrong with it and what to do.
enum FileError {
    /// Names of a folder that are compared with that of a missing file.
    private static let mostNames = 2000

    /// The shell command that decodes a file with ffmpeg and analyses the result.
    static func ffmpegPipe(_ path: String) -> String { "ffmpeg -v error -i \(path.quotedForShell) -f wav - | hemiola analyze -" }

    /// The error of a system call that opens a file.
    static func cannotOpen(_ path: String, _ error: SystemCallError) -> Problem {
        let name = path.displayName
        switch error.code {
        case .noSuchFileOrDirectory, .notDirectory: return missing(path)
        case .permissionDenied, .notPermitted:
            return Problem("\(name): permission denied; show its owner and mode: ls -ld \(path.quotedForShell)")
        case .noSuchAddressOrDevice: return socket(path)
        default: return Problem("\(name): cannot be opened (\(error)); show its type and mode: ls -ld \(path.quotedForShell)")
        }
    }

    /// nil for a regular file.
    static func notRegular(_ path: String, _ kind: FileKind) -> Problem? {
        let name = path.displayName
        switch kind {
        case .file: return nil
        case .folder:
            return Problem(
                "\(name): is a folder; to analyse the sound files in it: hemiola analyze \(path.quotedForShell)")
        case .pipe where path.hasPrefix("/dev/") || path.hasPrefix("/proc/"):
            return Problem("\(name): is a pipe, not a file; to analyse the output of a command: COMMAND | hemiola analyze -")
        case .pipe:
            return Problem(
                "\(name): is a pipe, not a file; to read from it: hemiola analyze - < \(path.quotedForShell)")
        case .socket: return socket(path)
        case _ where path.hasPrefix("/dev/snd") || path.hasPrefix("/dev/dsp"):
            return Problem("\(name): is a device, not a file; record from it first: arecord -f cd out.wav")
        default:
            return Problem("\(name): is a device, not a file; specify an audio file, or pipe it in: hemiola analyze - < FILE")
        }
    }

    private static func socket(_ path: String) -> Problem {
        Problem("\(path.displayName): is a socket, not a file; specify an audio file")
    }

    /// The run was cancelled.
    static func interrupted(_ path: String) -> Problem {
        Problem("\(path.displayName): interrupted during opening", remedy: .finish)
    }

    static func missing(_ path: String) -> Problem {
        let name = path.displayName
        let lowercased = path.lowercased()
        if lowercased.hasPrefix("http://") || lowercased.hasPrefix("https://") {
            return Problem("\(name): is a URL, not a file; decode it with ffmpeg: \(ffmpegPipe(path))")
        }
        if lowercased.hasPrefix("file://") {
            return Problem("\(name): is a URL, not a path; remove the prefix file://")
        }
        if path.hasPrefix("~/") {
            return Problem(
                "\(name): the shell did not expand ~; write \"$HOME\(path.displayName.dropFirst())\"")
        }
        let (folder, file) = (FileSystem.folder(of: path), FileSystem.lastName(of: path))
        guard let names = try? FileSystem.names(in: folder, limit: mostNames) else {
            return Problem("\(name): no such file: the folder \(folder.displayName) does not exist or cannot be read; check the path")
        }
        if !file.isEmpty, let near = file.nearest(in: names.sorted()) {
            let prefix = String(path.dropLast(file.count))
            return Problem("\(name): no such file; did you mean \((prefix + near).displayName)?")
        }
        return Problem("\(name): no such file; list the folder: ls \(folder.quotedForShell)")
    }

    static func empty(_ path: String) -> Problem {
        Problem("\(path.displayName): is empty, 0 bytes; specify an audio file")
    }

    /// A file that is not sound, or of an unknown type.
    ///
    /// - Returns: nil for a file of sound.
    static func notAudio(_ path: String, _ signature: FileSignature) -> Problem? {
        switch signature {
        case .notAudio(let what):
            return Problem("\(path.displayName): is not audio: it looks like \(what); specify an audio file")
        case .unknown where FileTypes.sound.extensions.contains(path.pathExtension):
            return Problem(
                "\(path.displayName): is not sound of a known format: it is damaged, or no decoder reads it; get the file again, or as FLAC"
            )
        case .unknown:
            return Problem(
                "\(path.displayName): unknown audio format; to analyse raw 16-bit samples: "
                    + "ffmpeg -v error -f s16le -ar 44100 -ac 2 -i \(path.quotedForShell) -f wav - | hemiola analyze -")
        case .samples, .flac, .ogg, .mpeg, .other: return nil
        }
    }

    /// nil for a format within the supported range.
    static func outOfRange(_ path: String, _ format: StreamFormat) -> Problem? {
        let (sampleRate, channelCount) = (format.sampleRate, format.channelCount)
        let rates = StreamFormat.sampleRates
        let counts = StreamFormat.channelCounts
        var file: String { path.quotedForShell }
        if !counts.contains(channelCount) {
            // ffmpeg opens no file without channels, and none with more than 64.
            let remedy =
                switch channelCount {
                case 0: "read it as stereo: sox -c 2 \(file) out.wav"
                case ...64: "take two of them: ffmpeg -i \(file) -af 'pan=stereo|c0=c0|c1=c1' out.wav"
                default: "take two of them: sox \(file) out.wav remix 1 2"
                }
            return Problem(
                "\(path.displayName): \(channelCount) channels are outside \(counts.lowerBound)...\(counts.upperBound); \(remedy)")
        }
        if !rates.contains(sampleRate) {
            let remedy =
                sampleRate < FFmpegDecoder.leastRate
                ? "set it: sox -r 48000 \(file) out.wav" : "resample: ffmpeg -i \(file) -ar 48000 out.wav"
            return Problem(
                "\(path.displayName): sample rate \(sampleRate) Hz is outside \(rates.lowerBound)...\(rates.upperBound) Hz; \(remedy)")
        }
        return nil
    }

    /// The sound cannot be decoded any further.
    static func decodingFailed(_ path: String, at seconds: Double, _ error: Problem) -> Problem {
        let milliseconds = Int64((seconds * 1000).rounded(.down))
        let fraction = String(milliseconds % 1000 + 1000).dropFirst()
        return Problem(
            "\(path.displayName): cannot be decoded beyond \(milliseconds / 1000).\(fraction) s (\(error.message.displayName)); "
                + "try ffmpeg: \(ffmpegPipe(path))")
    }

    /// The file declares sound, and not one frame of it can be decoded.
    static func nothingDecoded(_ path: String) -> Problem {
        Problem("\(path.displayName): none of its sound can be decoded: it is damaged or cut off; get the file again")
    }

    /// A decoder's library is not installed, and libsndfile takes its place.
    static func lessChecked(_ path: String, without library: String) -> String {
        "\(path.displayName): \(library); damage may go unnoticed"
    }

    static func noTrack(_ path: String, _ track: Int, of count: Int) -> Problem {
        Problem("\(path.displayName): has no audio track \(track); choose one of 1…\(count)", at: "audio_track")
    }

    static func defaultTrack(_ path: String, _ track: StreamSource.AudioTrack) -> String {
        "\(path.displayName): audio track \(track.number) of \(track.count), the default one; for another, set audio_track of --capture file:PATH"
    }

    static func startAfterEnd(_ path: String, _ start: Double) -> Problem {
        Problem("\(path.displayName): ends before the start of the excerpt, \(start) s; choose an earlier start")
    }

    static func changed(_ path: String) -> Problem {
        Problem("\(path.displayName): changed during the analysis; run again once it is complete")
    }
}

/// A file that no decoder opens besides ffmpeg: the errors if ffmpeg does not open it either.
struct UndecodedFile {
    let path: String
    let signature: FileSignature
    /// Of the first decoder, if there is one besides ffmpeg.
    let reason: String?

    /// ffmpeg is not installed, or not to be used.
    var withoutFFmpeg: Problem {
        if let error = FileError.notAudio(path, signature) { return error }
        let title = "\(path.displayName): looks like \(signature.name ?? "sound")"
        guard let reason else {
            return Problem("\(title), which needs ffmpeg, and ffmpeg is not installed; install it: apt install ffmpeg")
        }
        return Problem(
            "\(title), but cannot be decoded (\(reason.displayName)); install ffmpeg, which may decode it: apt install ffmpeg")
    }

    /// - Parameter text: What is wrong with the file, without its name: "it holds no audio".
    func notDecoded(_ text: String) -> Problem {
        FileError.notAudio(path, signature)
            ?? Problem(
                "\(path.displayName): looks like \(signature.name ?? "sound"), but cannot be decoded "
                    + "(\((reason ?? text).displayName)); show the messages of ffmpeg: \(messages)")
    }

    /// The folder for temporary files is full.
    func noSpace(in folder: String) -> Problem {
        Problem(
            "\(path.displayName): no space left in \(folder.displayName) for the decoded sound; set TMPDIR to a folder with more space")
    }

    func killed(by signal: Int32) -> Problem {
        Problem(
            "\(path.displayName): ffmpeg was killed by signal \(signal) while decoding; free memory and try again, or show its "
                + "messages: \(messages)")
    }

    /// The run was cancelled.
    var interrupted: Problem { Problem("\(path.displayName): interrupted during decoding", remedy: .finish) }

    private var messages: String { "ffmpeg -protocol_whitelist file -i \(path.quotedForShell) -f null -" }
}
