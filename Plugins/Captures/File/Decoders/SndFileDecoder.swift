internal import CSndFile
internal import Glibc
internal import Hemiola
internal import HemiolaPCM
internal import Synchronization

/// Decodes what libsndfile reads and no other decoder does: ADPCM, GSM, A-law, µ-law and other compressed samples in WAV, AIFF, AU and CAF;
/// VOC, PAF, NIST, SD2 and others. It also reads FLAC, Ogg and MPEG audio where their own library is not installed.
///
/// libsndfile reports neither damaged nor missing parts.
final class SndFileDecoder: Decoder {
    let format: StreamFormat
    let tags: SoundTags
    let declaredFrames: Int64?
    let presentFrames: Int64?

    private let handle: OpaquePointer
    private let source: Source
    /// Frames delivered.
    private var position: Int64 = 0
    /// Where the sound ends; nil: where libsndfile says.
    private let end: Int64?

    /// Serialises opening: a failing sf_open_virtual stores its error in a variable that all threads share.
    private static let opening = Mutex(())

    /// - Parameter header: The header of the file, where that is known.
    init(_ file: InputFile, _ range: Range<Int64>, _ header: PCMHeader? = nil) throws(Problem) {
        let source = Source(FileReader(file, range))
        var info = SF_INFO()
        var handle: OpaquePointer?
        var reason = ""
        Self.opening.withLock { _ in
            // libsndfile copies the callbacks, and calls them with `source` until sf_close.
            var callbacks = Source.callbacks
            handle = sf_open_virtual(&callbacks, Int32(SFM_READ), &info, Unmanaged.passUnretained(source).toOpaque())
            if handle == nil { reason = Self.reason(sf_error(nil)) }
        }
        guard let handle else { throw source.error ?? Problem(reason) }
        // It takes bytes for MPEG audio by their first eleven bits.
        if Int(info.format) & SF_FORMAT_TYPEMASK == SF_FORMAT_MPEG, MPEGDecoder.missingLibrary() == nil {
            sf_close(handle)
            throw Problem("its format is unknown")
        }
        (self.handle, self.source) = (handle, source)
        format = StreamFormat(sampleRate: Int(info.samplerate), channelCount: Int(info.channels), channelMap: header?.stream.channelMap)
        tags = Self.tags(of: handle)
        let count: Int64? = (0..<Int64.max).contains(info.frames) ? info.frames : nil
        let present = header.flatMap { Self.frames(in: $0, file.size) } ?? count
        (end, presentFrames) = (present, present)
        declaredFrames = header.flatMap { Self.declaredFrames($0, present, file.size) } ?? present
    }

    deinit { sf_close(handle) }

    /// The number of frames in WAV of GSM and IMA ADPCM, of which libsndfile counts blocks that are not there, or not whole; nil: it counts
    /// right.
    private static func frames(in header: PCMHeader, _ fileSize: Int64) -> Int64? {
        let (size, channels) = (Int64(header.blockSize), Int64(header.stream.channelCount))
        let bytes = min(header.byteCount ?? .max, fileSize - header.offset)
        guard case .other(_, let tag?) = header.encoding, size > 0, channels > 0, bytes >= 0 else { return nil }
        // A block of ADPCM begins with four bytes for the first sample of each channel; four bytes of each have eight samples.
        func samples(_ bytes: Int64) -> Int64 { bytes >= 4 * channels ? (bytes / (4 * channels) - 1) * 8 + 1 : 0 }
        return switch tag {
        case 0x31: bytes / size * 320
        case 0x11: bytes / size * samples(size) + samples(bytes % size)
        default: nil
        }
    }

    /// The length of a truncated file by its header: by the number of frames there, else in proportion to the bytes.
    private static func declaredFrames(_ header: PCMHeader, _ count: Int64?, _ fileSize: Int64) -> Int64? {
        let present = max(1, fileSize - header.offset)
        guard let count, let declared = header.byteCount, declared > present else { return nil }
        if let frames = header.frameCount, (count...DeclaredLength.maximumFrames).contains(frames) { return frames }
        let frames = Int64(exactly: (Double(count) * Double(declared) / Double(present)).rounded())
        return frames.flatMap { $0 <= DeclaredLength.maximumFrames ? $0 : nil }
    }

    func read(into samples: inout MutableSpan<Float>) throws(Problem) -> ReadResult {
        let room = min(Int64(samples.count / format.channelCount), end.map { $0 - position } ?? .max)
        guard room > 0 else { return .end }
        source.startCall()
        // Safe: libsndfile writes at most `room` frames, which fit.
        let count = samples.withUnsafeMutableBufferPointer { sf_readf_float(handle, $0.baseAddress, sf_count_t(room)) }
        if count > 0 {
            position += Int64(count)
            return .frames(Int(count))
        }
        if let error = source.error { throw error }
        if Int(sf_error(handle)) != SF_ERR_NO_ERROR { throw Problem(Self.reason(sf_error(handle))) }
        return .end
    }

    private static func tags(of handle: OpaquePointer) -> SoundTags {
        // Safe: libsndfile's texts end with a zero and live as long as the handle. They are copied here.
        func text(_ tag: Int) -> String? {
            guard let text = sf_get_string(handle, Int32(tag)) else { return nil }
            let bytes = UnsafeBufferPointer(start: text, count: strnlen(text, 4 * SoundTags.longestText))
            return SoundTags.text(of: bytes.lazy.map { UInt8(truncatingIfNeeded: $0) })
        }
        var tags = SoundTags()
        (tags.title, tags.artist, tags.album) = (text(SF_STR_TITLE), text(SF_STR_ARTIST), text(SF_STR_ALBUM))
        (tags.track, tags.genre) = (text(SF_STR_TRACKNUMBER), text(SF_STR_GENRE))
        tags.year = text(SF_STR_DATE).flatMap(SoundTags.year)
        return tags
    }

    /// The reason for an error, by its number: libsndfile's own texts speak of its internals.
    private static func reason(_ error: Int32) -> String {
        switch Int(error) {
        case SF_ERR_UNRECOGNISED_FORMAT: "its format is unknown"
        case SF_ERR_SYSTEM: "it cannot be read"
        case SF_ERR_UNSUPPORTED_ENCODING: "its codec is unknown"
        default: "its header is incomplete or damaged"
        }
    }
}

/// The input of libsndfile, and a limit of its callbacks: over some damaged headers it loops.
private final class Source {
    private let reader: FileReader
    /// Callbacks that the current call may still make, and its farthest position: progress allows more.
    private var budget = Source.limit
    private var farthest: Int64 = 0

    /// With intact files, a call makes fewer than 1000 callbacks.
    private static let limit = 1_000_000
    /// Bytes of progress that allow another callback.
    private static let step: Int64 = 16

    init(_ reader: FileReader) { self.reader = reader }

    /// Why the last call failed, if it was not libsndfile.
    var error: Problem? { budget > 0 ? reader.error : Problem("its header makes the decoder loop") }

    /// Called before a call of libsndfile.
    func startCall() {
        if budget > 0 { (budget, farthest) = (Self.limit, reader.position) }
    }

    /// The reader; nil when the limit is exceeded and the callback must fail.
    private static func reader(of address: UnsafeMutableRawPointer?) -> FileReader? {
        // Safe: the decoder keeps its source as long as the handle is open.
        let source = Unmanaged<Source>.fromOpaque(address!).takeUnretainedValue()
        guard source.budget > 0 else { return nil }
        source.budget -= 1
        let progress = source.reader.position - source.farthest
        if progress > 0 {
            source.budget += Int(min(progress / Source.step, Int64(Source.limit)))
            source.farthest = source.reader.position
        }
        return source.reader
    }

    static let callbacks = SF_VIRTUAL_IO(
        get_filelen: { Source.reader(of: $0)?.size ?? -1 },
        seek: { offset, origin, source in Source.reader(of: source)?.seek(offset, origin) ?? -1 },
        read: { target, count, source in
            guard let reader = Source.reader(of: source), let target, count > 0 else { return 0 }
            return sf_count_t(reader.read(into: target, count: Int(count)))
        },
        write: { _, _, _ in 0 },
        tell: { Source.reader(of: $0)?.position ?? -1 })
}
