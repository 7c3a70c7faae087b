public import Hemiola
internal import HemiolaRIFF
internal import HemiolaSignal

extension CapturePlugin {
    private static let path = Setting<String?>("path", default: nil, "The file to analyse.")
    private static let start = Setting(
        "start", default: 0.0, in: 0.0...1_000_000_000, unit: .seconds, "Start of the analysed excerpt; becomes frame 0.")
    private static let duration = Setting<Double?>(
        "duration", in: 0.0...1_000_000_000, unit: .seconds, "Duration of the analysed excerpt; unset: to the end of the file.")

    /// Reads a sound file: WAV, FLAC, Ogg, MP3, AIFF and the other formats of libsndfile, at the file's own rate.
    public static let file = CapturePlugin(
        "file", "Reads a sound file: WAV, FLAC, Ogg, Opus, MP3, AIFF, CAF and more.",
        settings: [path.declared, start.declared, duration.declared], primary: "path", fileTypes: .sound, libraries: [.sndfile]
    ) { settings throws(ConfigurationError) in
        guard let path = settings[path], !path.isEmpty else {
            throw ConfigurationError("no file is given; write file:PATH", at: "path")
        }
        return FileCapture(path, excerpt: Excerpt(start: settings[start], duration: settings[duration]))
    }
}

/// Delivers a sound file from its first frame to its last, at its own sample rate.
///
/// Damaged and missing parts are delivered as gaps: at their position where the format allows to compute it, else before the end.
/// `read` throws where the decoder cannot continue; the error states the time.
final class FileCapture: RewindableCapture {
    let isLive = false

    /// As given by the user.
    private let path: String
    private let excerpt: Excerpt
    private let ffmpeg: FFmpegDecoder?
    private var excerptPosition: ExcerptPosition
    private let openFile: @Sendable (String, OpenWatch) throws(InputFile.OpenError) -> InputFile
    private var file: InputFile?
    private var sound: SoundFile?
    private var header = Header()
    private var format = StreamFormat(sampleRate: 0, channelCount: 0)
    /// The format of the first section, and of all in most files.
    private var firstFormat = StreamFormat(sampleRate: 0, channelCount: 0)
    /// Index of the section that is being read.
    private var section = 0
    /// Expected length in frames, of the section or, for MPEG audio, of all sections; nil when no plausible length is declared.
    private var expectedFrames: Int64?
    /// Frames delivered of the same, lost ones included.
    private var position: Int64 = 0
    /// Duration of the sections before, in seconds.
    private var secondsBefore = 0.0
    /// Deliveries that precede the next read, in reverse order.
    private var pending: [ReadResult] = []
    private var isFinished = false
    /// The state of the file before it was opened.
    private var stamp: FileStamp?

    /// - Parameters:
    ///   - ffmpeg: Decodes formats that libsndfile does not support; nil: they are refused.
    ///   - openFile: Opens a path; tests replace it by a function that blocks.
    init(
        _ path: String, excerpt: Excerpt = Excerpt(), ffmpeg: FFmpegDecoder? = FFmpegDecoder(),
        openFile: @escaping @Sendable (String, OpenWatch) throws(InputFile.OpenError) -> InputFile = {
            (path, watch) throws(InputFile.OpenError) in try InputFile(path, watch: watch)
        }
    ) {
        self.path = path
        self.excerpt = excerpt
        self.ffmpeg = ffmpeg
        excerptPosition = ExcerptPosition(excerpt, format)
        self.openFile = openFile
    }

    func open(_ request: FormatRequest) throws(CaptureError) -> StreamSource {
        stamp = FileStamp(path)
        let opening = try openWatched(isCancelled: request.isCancelled)
        header = opening.header
        format = mapped(opening.sound.format)
        firstFormat = format
        file = opening.file
        begin(opening.sound)
        return StreamSource(
            format: format, kind: "file", path: path,
            duration: opening.frameCount.map { excerpt.length(of: format.seconds(at: $0)) },
            start: excerpt.start > 0 ? excerpt.start : nil, tags: opening.tags)
    }

    func read(into samples: inout MutableSpan<Float>) throws(CaptureError) -> ReadResult {
        let delivery = try readExcerpt(into: &samples)
        // A file that another program replaces or writes may have been read in part before and in part after.
        if case .end = delivery, let now = FileStamp(path), now != stamp { throw FileError.changed(path) }
        return delivery
    }

    private func readExcerpt(into samples: inout MutableSpan<Float>) throws(CaptureError) -> ReadResult {
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
    private func readNext(into samples: inout MutableSpan<Float>) throws(CaptureError) -> ReadResult {
        while true {
            if let delivery = pending.popLast() { return delivery }
            guard !isFinished else { return .end }
            guard let sound else { preconditionFailure("read before open") }
            precondition(samples.count >= format.channelCount, "no room for a frame")
            let frames = sound.read(into: &samples)
            let lost = frames == 0 ? sound.takeLostFrames() : 0
            if lost > 0 {
                position += lost
                return .gap(Gap(frames: lost, reason: .damagedFile))
            }
            let delivered = position + Int64(frames)
            if let readError = sound.readError, !isExpectedEnd(sound, delivered) { throw decodingFailed(readError) }
            if frames > 0 {
                position = delivered
                return .frames(frames)
            }
            if sound.family == .mpeg, !isExpectedEnd(sound, delivered) { throw decodingFailed("the audio format changes there") }
            try finishSection(sound)
        }
    }

    // MARK: - Sections

    /// Starts with the first section.
    private func begin(_ sound: SoundFile) {
        secondsBefore = 0
        excerptPosition = ExcerptPosition(excerpt, format)
        isFinished = false
        pending = []
        start(sound, section: 0)
        let loss = frames(of: header.section(0).lossBefore, before: sound)
        if loss > 0 { pending = [damage(loss)] }
    }

    private func start(_ sound: SoundFile, section index: Int) {
        self.sound = sound
        section = index
        // The declared length of MPEG audio is that of all sections.
        if index > 0, sound.family == .mpeg { return }
        expectedFrames = header.expectedFrames(decoderCount: sound.frameCount, in: sound.family)
        position = 0
    }

    /// Called when a section is read to its end: queues a gap for its missing frames, and starts the next section.
    private func finishSection(_ finished: SoundFile) throws(CaptureError) {
        let isLast = section + 1 >= header.sectionCount
        let family = finished.family
        var missing = isLast || family != .mpeg ? missingFrames(family) : nil
        guard !isLast, let file else {
            isFinished = true
            if let missing { pending = [.end, .gap(missing)] } else { pending = [.end] }
            return
        }
        // The file goes on.
        missing?.reason = .damagedFile
        var loss: Int64 = 0
        var index = section + 1
        while true {
            let next = header.section(index)
            if let sound = try? SoundFile(file, view: next.view) {
                if let error = FileError.outOfRange(path, sound.format) { throw error }
                loss += frames(of: next.lossBefore, before: sound)
                go(to: sound, section: index, missing: missing, loss: loss)
                return
            }
            guard next.lossBefore != .nothing else { throw decodingFailed("the next link of the chained file cannot be decoded") }
            // The whole section is lost.
            if case .distance(let granules, let rate) = next.lossBefore { loss += scaled(granules, perSecond: rate) }
            if case .frames(let frames) = next.lossBefore { loss += frames }
            index += 1
            guard index < header.sectionCount else { break }
        }
        isFinished = true
        pending = [.end, damage(loss + (missing?.frames ?? 0))]
    }

    private func go(to sound: SoundFile, section index: Int, missing: Gap?, loss: Int64) {
        let isDamage = header.section(index).lossBefore != .nothing
        let family = sound.family
        if family != .mpeg { secondsBefore += format.seconds(at: position + loss) }
        start(sound, section: index)
        if family == .mpeg { position += loss }
        pending = []
        if mapped(sound.format) != format {
            format = mapped(sound.format)
            if loss > 0 { pending.append(damage(loss)) }
            pending.append(.format(format))
            if let missing { pending.append(.gap(missing)) }
        } else if isDamage || loss > 0 {
            pending = [damage(loss + (missing?.frames ?? 0))]
        } else if let missing {
            pending = [.gap(missing)]
        }
    }

    /// A gap for damaged or missing frames, limited to the longest plausible length.
    private func damage(_ frames: Int64) -> ReadResult {
        .gap(Gap(frames: min(frames, DeclaredLength.maximumFrames), reason: .damagedFile))
    }

    /// The gap at the end of a section; nil when nothing is missing.
    private func missingFrames(_ family: SoundFile.Family) -> Gap? {
        if let frames = header.missingFrames(expected: expectedFrames, delivered: position, in: family) {
            return Gap(frames: frames, reason: header.section(section).isDamaged ? .damagedFile : .truncatedFile)
        }
        if header.section(section).isTruncated { return Gap(frames: 0, reason: .truncatedFile) }
        if header.isDamaged || header.section(section).isDamaged { return Gap(frames: 0, reason: .damagedFile) }
        return header.isLengthTooShort ? Gap(frames: 0, reason: .falseLength) : nil
    }

    /// Frames lost before a section, 0….
    private func frames(of loss: Section.Loss, before sound: SoundFile) -> Int64 {
        switch loss {
        case .nothing: 0
        case .frames(let count): count
        case .distance(let granules, let rate): max(0, scaled(granules, perSecond: rate) - (sound.frameCount ?? 0))
        }
    }

    /// Granules in frames, limited to the longest plausible length.
    private func scaled(_ granules: Int64, perSecond rate: Int?) -> Int64 {
        let granules = max(0, min(granules, DeclaredLength.maximumFrames))
        guard let rate, rate != format.sampleRate else { return granules }
        return granules * Int64(format.sampleRate) / Int64(rate)
    }

    /// A decoder's format with the channel map of the header.
    private func mapped(_ format: StreamFormat) -> StreamFormat {
        StreamFormat(
            sampleRate: format.sampleRate, channelCount: format.channelCount,
            channelMap: header.channelOrder.map(of: format.channelCount))
    }

    private func decodingFailed(_ reason: String) -> CaptureError {
        FileError.decodingFailed(path, at: secondsBefore + format.seconds(at: position), reason: reason)
    }

    /// Whether a decoder error marks the end of the audio: the expected frames are delivered, the end of a truncated file is
    /// reached, or the bytes that follow are not audio.
    private func isExpectedEnd(_ sound: SoundFile, _ delivered: Int64) -> Bool {
        if sound.failedAtEnd || delivered >= expectedFrames ?? .max { return true }
        return sound.family == .mpeg && file?.firstMPEGFrame(from: sound.fileOffset) == nil
    }

    /// Restarts with a new decoder: a seek does not yield the same bits in every format.
    func rewind() throws(CaptureError) {
        guard let file else { preconditionFailure("rewind before open") }
        // Only one decoder at a time.
        sound = nil
        guard let restarted = try? SoundFile(file, view: header.section(0).view), mapped(restarted.format) == firstFormat else {
            throw FileError.changed(path)
        }
        format = firstFormat
        begin(restarted)
    }

    func close() {
        sound = nil
        file = nil
        isFinished = true
        pending = []
    }
}

// MARK: - Opening

/// An opened file with its header and decoder.
///
/// `@unchecked Sendable`: created by the opening thread, and used only by the thread that waits for it.
private struct Opening: @unchecked Sendable {
    var file: InputFile
    var header: Header
    var sound: SoundFile
    /// Frames present in the file; nil where that is unknown.
    var frameCount: Int64?
    var tags = SoundTags()
}

extension FileCapture {
    private func openWatched(isCancelled: @escaping @Sendable () -> Bool) throws(CaptureError) -> Opening {
        let watch = OpenWatch()
        let result: Result<Opening, CaptureError>
        do {
            result = try watch.run(isCancelled: isCancelled) { [path, openFile, ffmpeg] in
                Result { () throws(CaptureError) in try Self.open(path, watch, openFile, ffmpeg, isCancelled) }
            }
        } catch {
            SoundFile.abandonOpening()
            switch error {
            case .cancelled: throw CaptureError("\(path.displayName): interrupted during opening", remedy: .finish)
            case .stuck: throw FileError.headerLoops(path)
            }
        }
        return try result.get()
    }

    private static func open(
        _ path: String, _ watch: OpenWatch, _ openFile: (String, OpenWatch) throws(InputFile.OpenError) -> InputFile,
        _ ffmpeg: FFmpegDecoder?, _ isCancelled: () -> Bool
    ) throws(CaptureError) -> Opening {
        let file: InputFile
        do { file = try openFile(path, watch) } catch { throw FileError.cannotOpen(path, error) }
        guard file.size > 0 else { throw FileError.empty(path) }
        let header = Header(of: file)
        let signature = FileSignature(file.bytes(at: header.start, count: 1024))
        guard !signature.bypassesLibsndfile(isTagged: header.start > 0) else {
            guard case .unsupportedAudio(_, let demuxer) = signature, let ffmpeg else {
                throw FileError.notAudio(path, signature, reason: "")
            }
            do throws(FFmpegDecoder.Failure) {
                return try open(file, as: demuxer, decodedBy: ffmpeg, isCancelled)
            } catch {
                throw FileError.notDecoded(path, signature, error)
            }
        }
        if let error = FileError.outOfRange(path, sampleRate: header.sampleRate, channelCount: header.channelCount) { throw error }
        let sound: SoundFile
        do {
            sound = try SoundFile(file, view: header.section(0).view)
        } catch {
            guard case .supportedAudio(_, let demuxer) = signature, let ffmpeg else {
                throw FileError.notAudio(path, signature, reason: error.reason)
            }
            do throws(FFmpegDecoder.Failure) {
                return try open(file, as: demuxer, decodedBy: ffmpeg, isCancelled)
            } catch .notInstalled, .failed {
                throw FileError.notAudio(path, signature, reason: error.reason)
            } catch let failure {
                throw FileError.notDecoded(path, signature, failure)
            }
        }
        if let error = FileError.outOfRange(path, sound.format) { throw error }
        let frames = header.availableFrames(decoderCount: sound.frameCount, in: sound.family, of: file)
        return Opening(file: file, header: header, sound: sound, frameCount: frames, tags: sound.tags)
    }

    private static func open(
        _ encoded: InputFile, as demuxer: String, decodedBy ffmpeg: FFmpegDecoder, _ isCancelled: () -> Bool
    ) throws(FFmpegDecoder.Failure) -> Opening {
        let (file, isDamaged) = try ffmpeg.decode(encoded, as: demuxer, isCancelled: isCancelled)
        var header = Header(of: file)
        header.isDamaged = isDamaged
        guard let sound = try? SoundFile(file, view: header.section(0).view), sound.format.isSupported else {
            throw .failed("unsupported sample rate or number of channels")
        }
        let frames = header.availableFrames(decoderCount: sound.frameCount, in: sound.family, of: file)
        return Opening(
            file: file, header: header, sound: sound, frameCount: frames, tags: FFmpegDecoder.tags(of: file))
    }
}
