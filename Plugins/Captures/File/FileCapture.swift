public import Hemiola
internal import HemiolaPCM

extension CapturePlugin {
    /// Reads a sound file: WAV, FLAC, Ogg, MP3, AIFF and what libsndfile and ffmpeg decode, at the file's own rate.
    public static let file = CapturePlugin(
        PluginDescription(
            "file", "Reads a sound file: WAV, FLAC, Ogg, Opus, MP3, AIFF, CAF and more.", primary: "path",
            uses: .init(libraries: [.sndfile, .flac, .mpg123, .ogg, .vorbis, .opus])),
        settings: FileSettings.self, fileTypes: .sound
    ) { settings throws(Problem) in
        guard let path = settings.path, !path.isEmpty else {
            throw Problem("no file is given; write file:PATH", at: "path")
        }
        return FileCapture(path, excerpt: settings.excerpt, ffmpeg: FFmpegDecoder(track: settings.track))
    }
}

/// The settings of this capture.
struct FileSettings: PluginSettings {
    var path: String?
    private var start: Double
    private var duration: Double?
    var track: Int?

    init(_ read: inout SettingReader) {
        path = read.text("path", "The file to analyse.")
        start = read.seconds("start", default: 0, in: 0...1_000_000_000, "Start of the analysed excerpt; becomes frame 0.")
        duration = read.seconds("duration", in: 0...1_000_000_000, "Duration of the analysed excerpt; unset: to the end of the file.")
        track = read.integer("audio_track", in: 1...100, "Audio track of a film, from 1; unset: the default one.")
    }

    var excerpt: Excerpt { Excerpt(start: start, duration: duration) }
}

/// Delivers a sound file from its first frame to its last, at its own sample rate.
///
/// Damaged and missing parts are delivered as gaps: at their position where the decoder reports it, else before the end.
final class FileCapture: RewindableCapture {
    let isLive = false

    /// As given by the user.
    private let path: String
    private let excerpt: Excerpt
    private let ffmpeg: FFmpegDecoder?
    private let openFile: @Sendable (String) throws(Problem) -> InputFile
    private var sound: OpenedSound?
    private var decoder: (any Decoder)?
    private var format = StreamFormat(sampleRate: 0, channelCount: 0)
    private var excerptPosition: ExcerptPosition
    /// Frames delivered in `format`, lost ones included.
    private var position: Int64 = 0
    /// Duration of what came before in other formats, in seconds.
    private var secondsBefore = 0.0
    /// Whether a frame has been delivered.
    private var hasSound = false
    /// Whether the end has been checked.
    private var isFinished = false
    /// The state of the file when it was opened.
    private var stamp: FileStamp?

    /// - Parameters:
    ///   - ffmpeg: Decodes what the other decoders refuse; nil: it is refused.
    ///   - openFile: Opens a path; tests replace it by a function that blocks.
    init(
        _ path: String, excerpt: Excerpt = Excerpt(), ffmpeg: FFmpegDecoder? = FFmpegDecoder(),
        openFile: @escaping @Sendable (String) throws(Problem) -> InputFile = {
            (path) throws(Problem) in try InputFile(path)
        }
    ) {
        self.path = path
        self.excerpt = excerpt
        self.ffmpeg = ffmpeg
        self.openFile = openFile
        excerptPosition = ExcerptPosition(excerpt, format)
    }

    func open(_ request: FormatRequest) throws(Problem) -> StreamSource {
        let file = try InputFile.opened(path, isCancelled: request.isCancelled, by: openFile)
        stamp = file.stamp
        guard file.size > 0 else { throw FileError.empty(path) }
        let (sound, decoder) = try OpenedSound.open(file, path, ffmpeg, request)
        self.sound = sound
        begin(decoder)
        return StreamSource(
            format: format, kind: "file", path: path,
            duration: sound.presentFrames.map { excerpt.length(of: format.seconds(at: $0)) },
            start: excerpt.start > 0 ? excerpt.start : nil, audioTrack: sound.audioTrack, tags: sound.tags)
    }

    func read(into samples: inout MutableSpan<Float>) throws(Problem) -> ReadResult {
        let delivery = try readExcerpt(into: &samples)
        // A file that another program replaces or writes may have been read in part before and in part after.
        if case .end = delivery, let now = FileStamp(path), now != stamp { throw FileError.changed(path) }
        return delivery
    }

    private func readExcerpt(into samples: inout MutableSpan<Float>) throws(Problem) -> ReadResult {
        if excerpt.isWhole { return try readNext(into: &samples) }
        // At most one second of audio is skipped in a call, so that the caller can stop in between.
        let stop = excerptPosition.framesBefore - Int64(format.sampleRate)
        while excerptPosition.framesLeft != 0 {
            let old = format
            let room = excerptPosition.limit(samples.count / old.channelCount) * old.channelCount
            var front = samples._mutatingExtracting(0..<room)
            let delivery = try readNext(into: &front)
            if delivery == .end, excerptPosition.framesBefore > 0 { throw FileError.startAfterEnd(path, excerpt.start) }
            if let delivery = excerptPosition.clip(delivery, from: old) { return delivery }
            if excerptPosition.framesBefore > 0, excerptPosition.framesBefore <= stop { return .idle }
        }
        return .end
    }

    /// Reads on, without regard to the excerpt.
    private func readNext(into samples: inout MutableSpan<Float>) throws(Problem) -> ReadResult {
        guard let decoder else { preconditionFailure("read before open") }
        let delivery: ReadResult
        do {
            delivery = try decoder.read(into: &samples)
        } catch {
            throw FileError.decodingFailed(path, at: secondsBefore + format.seconds(at: position), error)
        }
        switch delivery {
        case .frames(let count):
            position += Int64(count)
            hasSound = true
        case .gap(let gap):
            position += gap.frames
        case .format(let new):
            if let error = FileError.outOfRange(path, new) { throw error }
            secondsBefore += format.seconds(at: position)
            (format, position) = (new, 0)
        case .end:
            return try finish(decoder)
        case .source, .device, .idle: break
        }
        return delivery
    }

    /// Compares what was delivered with what the file declares.
    private func finish(_ decoder: any Decoder) throws(Problem) -> ReadResult {
        if isFinished { return .end }
        isFinished = true
        if !hasSound { throw FileError.nothingDecoded(path) }
        if let declared = decoder.declaredFrames, abs(declared - position) > decoder.lengthTolerance {
            let missing = declared - position
            return .gap(missing > 0 ? Gap(frames: missing, reason: .truncatedFile) : Gap(frames: 0, reason: .falseLength))
        }
        return decoder.endDamage.map { .gap(Gap(frames: 0, reason: $0)) } ?? .end
    }

    private func begin(_ decoder: any Decoder) {
        self.decoder = decoder
        format = decoder.format
        excerptPosition = ExcerptPosition(excerpt, format)
        position = decoder.skip(excerptPosition.framesBefore)
        excerptPosition.framesBefore -= position
        (secondsBefore, hasSound, isFinished) = (0, position > 0, false)
    }

    /// Restarts with a new decoder: a seek does not yield the same bits in every format.
    func rewind() throws(Problem) {
        guard let sound else { preconditionFailure("rewind before open") }
        // Only one decoder at a time.
        decoder = nil
        guard FileStamp(path) == stamp, let restarted = try? sound.makeDecoder(), restarted.format == sound.format else {
            throw FileError.changed(path)
        }
        begin(restarted)
    }

    func close() {
        (sound, decoder) = (nil, nil)
    }
}
