public import Hemiola
internal import HemiolaSignal

extension CapturePlugin {
    private static let path = Setting<String?>("path", default: nil, "The file to analyse.")

    /// Reads a sound file: WAV, FLAC, Ogg, MP3, AIFF and the other formats of libsndfile, at the file's own rate.
    public static let file = CapturePlugin(
        "file", "Reads a sound file: WAV, FLAC, Ogg, Opus, MP3, AIFF, CAF and more.", settings: [path.declared], primary: "path"
    ) { settings throws(ConfigurationError) in
        guard let path = settings[path], !path.isEmpty else {
            throw ConfigurationError("no file is named; write file:PATH", at: "path")
        }
        return FileCapture(path)
    }
}

/// Delivers a sound file from its first frame to its last, at its own rate.
///
/// What the header promises and the file does not hold is told as one gap before the end. A file that fails in its middle
/// throws, and says where.
final class FileCapture: RewindableCapture {
    let isLive = false

    /// As given.
    private let path: String
    private var file: InputFile?
    private var sound: SoundFile?
    private var header = Header()
    private var format = StreamFormat(sampleRate: 0, channelCount: 0)
    /// The format of the first link, and of the only one in most files.
    private var firstFormat = StreamFormat(sampleRate: 0, channelCount: 0)
    /// Which stream of a chained file is being read; 0 in all others.
    private var link = 0
    /// Frames that the file, or this link of it, promises to hold; nil when it makes no promise that can be believed.
    private var promisedFrames: Int64?
    /// Frames delivered of it.
    private var position: Int64 = 0
    /// Length of the links that were read before it.
    private var secondsBefore = 0.0
    /// To be told next, after a gap.
    private var pending: Delivery?
    private var isFinished = false

    init(_ path: String) {
        self.path = path
    }

    func open(_ wish: FormatWish) throws(CaptureError) -> StreamSource {
        let file: InputFile
        do { file = try InputFile(path) } catch { throw Complaint.cannotOpen(path, error) }
        guard file.size > 0 else { throw Complaint.empty(path) }
        header = Header(of: file)
        let likeness = Likeness(file.bytes(at: header.start, count: 1024))
        guard !likeness.isToBeKeptAway(isTagged: header.start > 0) else { throw Complaint.notAudio(path, likeness, reason: "") }
        if let error = Complaint.outOfRange(path, sampleRate: header.sampleRate, channelCount: header.channelCount) { throw error }
        let sound: SoundFile
        do {
            sound = try SoundFile(file, view: header.view(ofLink: 0, in: file))
        } catch {
            throw Complaint.notAudio(path, likeness, reason: error.reason)
        }
        format = stated(sound.format)
        firstFormat = format
        secondsBefore = 0
        if let error = Complaint.outOfRange(path, format) { throw error }
        start(sound, link: 0)
        let frames = header.knownFrames(found: sound.frameCount, in: sound.family, of: file)
        self.file = file
        return StreamSource(format: format, kind: "file", name: path, duration: frames.map(format.seconds(at:)))
    }

    func read(into samples: inout MutableSpan<Float>) throws(CaptureError) -> Delivery {
        while true {
            let delivery = try readLink(into: &samples)
            // From one link to the next of the same format nothing has to be told.
            if case .idle = delivery { continue }
            return delivery
        }
    }

    private func readLink(into samples: inout MutableSpan<Float>) throws(CaptureError) -> Delivery {
        if let pending {
            self.pending = nil
            return pending
        }
        guard !isFinished else { return .end }
        guard let sound else { preconditionFailure("read before open") }
        precondition(samples.count >= format.channelCount, "no room for a frame")
        let frames = sound.read(into: &samples)
        let heard = position + Int64(frames)
        if let fault = sound.fault, !isExcused(sound, heard) { throw broken(fault) }
        if frames > 0 {
            position = heard
            return .frames(frames)
        }
        if sound.family == .mpeg, !isExcused(sound, heard) { throw broken("its format changes there") }
        let missing = header.missingFrames(promised: promisedFrames, delivered: position, in: sound.family)
        let next = try nextLink()
        guard let missing else { return next }
        pending = next
        return .gap(Gap(frames: missing, reason: .truncatedFile))
    }

    /// Goes on to the next link of a chained file.
    ///
    /// - Returns: What has to be told about it: that it is of another format, or that there is none; `.idle` when it just goes on.
    private func nextLink() throws(CaptureError) -> Delivery {
        guard link < header.links.count, let file else {
            isFinished = true
            return .end
        }
        guard let next = try? SoundFile(file, view: header.view(ofLink: link + 1, in: file)) else {
            throw broken("what is chained to it there cannot be decoded")
        }
        if let error = Complaint.outOfRange(path, next.format) { throw error }
        secondsBefore += format.seconds(at: position)
        start(next, link: link + 1)
        guard stated(next.format) != format else { return .idle }
        format = stated(next.format)
        return .format(format)
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

    private func start(_ sound: SoundFile, link: Int) {
        self.sound = sound
        self.link = link
        promisedFrames = header.promisedFrames(found: sound.frameCount, in: sound.family)
        position = 0
        isFinished = false
        pending = nil
    }

    /// Whether a decoder that stops has a good reason: it has delivered what was promised, has come to the end of a file that
    /// was cut off, or met what is not sound behind the sound.
    private func isExcused(_ sound: SoundFile, _ heard: Int64) -> Bool {
        if sound.stumblesAtEnd || heard >= promisedFrames ?? .max { return true }
        return sound.family == .mpeg && file?.firstMPEGFrame(from: sound.fileOffset) == nil
    }

    /// Decodes the file anew: a seek would not bring back the same bits in every format.
    func rewind() throws(CaptureError) {
        guard let file else { preconditionFailure("rewind before open") }
        // One decoder at a time.
        sound = nil
        guard let anew = try? SoundFile(file, view: header.view(ofLink: 0, in: file)), stated(anew.format) == firstFormat else {
            throw Complaint.changed(path)
        }
        format = firstFormat
        secondsBefore = 0
        start(anew, link: 0)
    }

    func close() {
        sound = nil
        file = nil
        isFinished = true
    }
}
