public import Hemiola
internal import HemiolaRIFF
internal import HemiolaSignal

extension CapturePlugin {
    private static let path = Setting<String?>("path", default: nil, "The file to analyse.")
    private static let start = Setting(
        "start", default: 0.0, in: 0.0...1_000_000_000, unit: .seconds, "Where in the file to begin; frame 0 lies there.")
    private static let duration = Setting<Double?>(
        "duration", in: 0.0...1_000_000_000, unit: .seconds, "How much to analyse; unset: to the end of the file.")

    /// Reads a sound file: WAV, FLAC, Ogg, MP3, AIFF and the other formats of libsndfile, at the file's own rate.
    public static let file = CapturePlugin(
        "file", "Reads a sound file: WAV, FLAC, Ogg, Opus, MP3, AIFF, CAF and more.",
        settings: [path.declared, start.declared, duration.declared], primary: "path"
    ) { settings throws(ConfigurationError) in
        guard let path = settings[path], !path.isEmpty else {
            throw ConfigurationError("no file is named; write file:PATH", at: "path")
        }
        return FileCapture(path, excerpt: Excerpt(start: settings[start], duration: settings[duration]))
    }
}

/// Delivers a sound file from its first frame to its last, at its own rate.
///
/// What is damaged or missing is delivered as a gap: at its position where the format states it, else before the end. A file that
/// cannot be decoded any further throws, and says where.
final class FileCapture: RewindableCapture {
    let isLive = false

    /// As given.
    private let path: String
    private let excerpt: Excerpt
    private let ffmpeg: FFmpegDecoder?
    private var place: ExcerptPosition
    private let openFile: @Sendable (String, OpenWatch) throws(InputFile.Refusal) -> InputFile
    private var file: InputFile?
    private var sound: SoundFile?
    private var header = Header()
    private var format = StreamFormat(sampleRate: 0, channelCount: 0)
    /// The format of the first section, and of all in most files.
    private var firstFormat = StreamFormat(sampleRate: 0, channelCount: 0)
    /// Which section of the file is being read.
    private var section = 0
    /// Frames that the section promises to hold, or all sections of MPEG audio; nil when it makes no promise that can be believed.
    private var promisedFrames: Int64?
    /// Frames delivered of it, lost ones included.
    private var position: Int64 = 0
    /// Length of the sections that were read before it.
    private var secondsBefore = 0.0
    /// To be delivered before anything else is read, the next one last.
    private var pending: [Delivery] = []
    private var isFinished = false

    /// - Parameters:
    ///   - ffmpeg: Decodes what libsndfile does not; nil: nothing does.
    ///   - openFile: How a path becomes a file; tests replace it by one that blocks.
    init(
        _ path: String, excerpt: Excerpt = Excerpt(), ffmpeg: FFmpegDecoder? = FFmpegDecoder(),
        openFile: @escaping @Sendable (String, OpenWatch) throws(InputFile.Refusal) -> InputFile = {
            (path, watch) throws(InputFile.Refusal) in try InputFile(path, watch: watch)
        }
    ) {
        self.path = path
        self.excerpt = excerpt
        self.ffmpeg = ffmpeg
        place = ExcerptPosition(excerpt, format)
        self.openFile = openFile
    }

    func open(_ wish: FormatWish) throws(CaptureError) -> StreamSource {
        let opening = try openWatched(isCancelled: wish.isCancelled)
        header = opening.header
        format = stated(opening.sound.format)
        firstFormat = format
        file = opening.file
        begin(opening.sound)
        return StreamSource(
            format: format, kind: "file", path: path,
            duration: opening.frameCount.map { excerpt.length(of: format.seconds(at: $0)) },
            start: excerpt.start > 0 ? excerpt.start : nil)
    }

    func read(into samples: inout MutableSpan<Float>) throws(CaptureError) -> Delivery {
        if excerpt.isWhole { return try readNext(into: &samples) }
        // At most a second of sound is passed over in one call, so that the caller can stop in between.
        let stop = place.framesBefore - Int64(format.sampleRate)
        while place.framesLeft != 0 {
            let old = format
            let room = place.limit(samples.count / old.channelCount) * old.channelCount
            var front = samples._mutatingExtracting(0..<room)
            let delivery = try readNext(into: &front)
            if delivery == .end, place.framesBefore > 0 { throw Complaint.startsBehindEnd(path, excerpt.start) }
            if let delivery = place.take(delivery, from: old) { return delivery }
            if place.framesBefore > 0, place.framesBefore <= stop { return .idle }
        }
        return .end
    }

    /// Reads on, wherever the excerpt begins.
    private func readNext(into samples: inout MutableSpan<Float>) throws(CaptureError) -> Delivery {
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
            if let fault = sound.fault, !isExcused(sound, delivered) { throw broken(fault) }
            if frames > 0 {
                position = delivered
                return .frames(frames)
            }
            if sound.family == .mpeg, !isExcused(sound, delivered) { throw broken("its format changes there") }
            try finishSection(sound)
        }
    }

    // MARK: - Sections

    /// Goes to the first section.
    private func begin(_ sound: SoundFile) {
        secondsBefore = 0
        place = ExcerptPosition(excerpt, format)
        isFinished = false
        pending = []
        start(sound, section: 0)
        let loss = frames(of: header.section(0).lossBefore, before: sound)
        if loss > 0 { pending = [damage(loss)] }
    }

    private func start(_ sound: SoundFile, section index: Int) {
        self.sound = sound
        section = index
        // The length that MPEG audio states is that of all sections.
        if index > 0, sound.family == .mpeg { return }
        promisedFrames = header.promisedFrames(found: sound.frameCount, in: sound.family)
        position = 0
    }

    /// Everything that can be read of the section has been delivered: reports what is missing, and goes on to the next one.
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
                if let error = Complaint.outOfRange(path, sound.format) { throw error }
                loss += frames(of: next.lossBefore, before: sound)
                go(to: sound, section: index, missing: missing, loss: loss)
                return
            }
            guard next.lossBefore != .nothing else { throw broken("what is chained to it there cannot be decoded") }
            // It is lost as a whole.
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
        if stated(sound.format) != format {
            format = stated(sound.format)
            if loss > 0 { pending.append(damage(loss)) }
            pending.append(.format(format))
            if let missing { pending.append(.gap(missing)) }
        } else if isDamage || loss > 0 {
            pending = [damage(loss + (missing?.frames ?? 0))]
        } else if let missing {
            pending = [.gap(missing)]
        }
    }

    /// A gap where parts are damaged or missing; at most as long as a promise may be.
    private func damage(_ frames: Int64) -> Delivery {
        .gap(Gap(frames: min(frames, DeclaredLength.maximumFrames), reason: .damagedFile))
    }

    /// What a section lacks at its end; nil when it is whole.
    private func missingFrames(_ family: SoundFile.Family) -> Gap? {
        if let frames = header.missingFrames(promised: promisedFrames, delivered: position, in: family) {
            return Gap(frames: frames, reason: header.section(section).isDamaged ? .damagedFile : .truncatedFile)
        }
        if header.section(section).lacksEnd { return Gap(frames: 0, reason: .truncatedFile) }
        if header.isDamaged || header.section(section).isDamaged { return Gap(frames: 0, reason: .damagedFile) }
        return header.understatesLength ? Gap(frames: 0, reason: .falseLength) : nil
    }

    /// What is lost before a section, in frames, 0….
    private func frames(of loss: Section.Loss, before sound: SoundFile) -> Int64 {
        switch loss {
        case .nothing: 0
        case .frames(let count): count
        case .distance(let granules, let rate): max(0, scaled(granules, perSecond: rate) - (sound.frameCount ?? 0))
        }
    }

    /// Granules in frames, at most as many as a promise may be.
    private func scaled(_ granules: Int64, perSecond rate: Int?) -> Int64 {
        let granules = max(0, min(granules, DeclaredLength.maximumFrames))
        guard let rate, rate != format.sampleRate else { return granules }
        return granules * Int64(format.sampleRate) / Int64(rate)
    }

    /// A decoder's format, with the channels' positions that the header states.
    private func stated(_ format: StreamFormat) -> StreamFormat {
        StreamFormat(
            sampleRate: format.sampleRate, channelCount: format.channelCount,
            channelMap: header.channelOrder.map(of: format.channelCount))
    }

    private func broken(_ reason: String) -> CaptureError {
        Complaint.broken(path, at: secondsBefore + format.seconds(at: position), reason: reason)
    }

    /// Whether a decoder that stops has a good reason: it has delivered what was promised, has come to the end of a file that
    /// was cut off, or met what is not sound behind the sound.
    private func isExcused(_ sound: SoundFile, _ delivered: Int64) -> Bool {
        if sound.stumblesAtEnd || delivered >= promisedFrames ?? .max { return true }
        return sound.family == .mpeg && file?.firstMPEGFrame(from: sound.fileOffset) == nil
    }

    /// Decodes the file anew: a seek would not bring back the same bits in every format.
    func rewind() throws(CaptureError) {
        guard let file else { preconditionFailure("rewind before open") }
        // One decoder at a time.
        sound = nil
        guard let anew = try? SoundFile(file, view: header.section(0).view), stated(anew.format) == firstFormat else {
            throw Complaint.changed(path)
        }
        format = firstFormat
        begin(anew)
    }

    func close() {
        sound = nil
        file = nil
        isFinished = true
        pending = []
    }
}

// MARK: - Opening

/// A file that was looked at and can be read.
///
/// `@unchecked Sendable`: made by the thread that opens, and used by the one that waited for it and by no other.
private struct Opening: @unchecked Sendable {
    var file: InputFile
    var header: Header
    var sound: SoundFile
    /// Frames that are there, where that is known.
    var frameCount: Int64?
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
            case .cancelled: throw CaptureError("\(path.shown): interrupted while it was opened", remedy: .finish)
            case .stuck: throw Complaint.stuck(path)
            }
        }
        return try result.get()
    }

    private static func open(
        _ path: String, _ watch: OpenWatch, _ openFile: (String, OpenWatch) throws(InputFile.Refusal) -> InputFile,
        _ ffmpeg: FFmpegDecoder?, _ isCancelled: () -> Bool
    ) throws(CaptureError) -> Opening {
        let file: InputFile
        do { file = try openFile(path, watch) } catch { throw Complaint.cannotOpen(path, error) }
        guard file.size > 0 else { throw Complaint.empty(path) }
        let header = Header(of: file)
        let likeness = Likeness(file.bytes(at: header.start, count: 1024))
        guard !likeness.isToBeKeptAway(isTagged: header.start > 0) else {
            guard case .foreignAudio = likeness, let ffmpeg else { throw Complaint.notAudio(path, likeness, reason: "") }
            do throws(FFmpegDecoder.Failure) {
                return try open(path, decodedBy: ffmpeg, watch, isCancelled)
            } catch {
                throw Complaint.notDecoded(path, likeness, error)
            }
        }
        if let error = Complaint.outOfRange(path, sampleRate: header.sampleRate, channelCount: header.channelCount) { throw error }
        let sound: SoundFile
        do {
            sound = try SoundFile(file, view: header.section(0).view)
        } catch {
            guard case .knownAudio = likeness, let ffmpeg else { throw Complaint.notAudio(path, likeness, reason: error.reason) }
            do throws(FFmpegDecoder.Failure) {
                return try open(path, decodedBy: ffmpeg, watch, isCancelled)
            } catch .notInstalled, .failed {
                throw Complaint.notAudio(path, likeness, reason: error.reason)
            } catch let failure {
                throw Complaint.notDecoded(path, likeness, failure)
            }
        }
        if let error = Complaint.outOfRange(path, sound.format) { throw error }
        let frames = header.knownFrames(found: sound.frameCount, in: sound.family, of: file)
        return Opening(file: file, header: header, sound: sound, frameCount: frames)
    }

    private static func open(
        _ path: String, decodedBy ffmpeg: FFmpegDecoder, _ watch: OpenWatch, _ isCancelled: () -> Bool
    ) throws(FFmpegDecoder.Failure) -> Opening {
        let (file, isDamaged) = try ffmpeg.decode(path, watch, isCancelled: isCancelled)
        var header = Header(of: file)
        header.isDamaged = isDamaged
        guard let sound = try? SoundFile(file, view: header.section(0).view), sound.format.isSupported else {
            throw .failed("its format is not supported")
        }
        let frames = header.knownFrames(found: sound.frameCount, in: sound.family, of: file)
        return Opening(file: file, header: header, sound: sound, frameCount: frames)
    }
}
