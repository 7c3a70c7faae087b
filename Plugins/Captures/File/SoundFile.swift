internal import CSndFile
internal import Glibc
internal import HemiolaSignal
internal import Synchronization

/// A libsndfile decoder. The only file that imports libsndfile.
///
/// Samples of integer encodings are in -1..<1. Floating-point and lossy encodings are not clipped and may exceed ±1. Reading is forward
/// only: to start over, create another decoder, because a seek in MP3, Vorbis or Opus does not yield the same bits.
final class SoundFile {
    /// libsndfile cannot open a file.
    struct OpenError: Error, Hashable {
        /// libsndfile's error message.
        var reason: String
    }

    /// How the frames are packed, as far as length checks depend on it.
    enum Family {
        /// Every frame has the same size.
        case plain
        case flac, ogg, mpeg
        /// Blocks of frames: ADPCM, GSM, ALAC.
        case packed
    }

    let format: StreamFormat
    let family: Family
    /// Whether the file holds uncompressed 16-bit integers.
    private let is16Bit: Bool
    /// Number of frames by libsndfile's count, 0…; nil when unknown.
    let frameCount: Int64?

    private let handle: OpaquePointer
    // Safe: allocated in `init`, freed in `deinit` after sf_close, used by one thread at a time.
    private let source: UnsafeMutablePointer<VirtualFile>

    // Safe: as `source`.
    private let messages: UnsafeMutablePointer<DecoderMessages>
    // Safe: holds `blockLength` frames of MPEG audio; allocated in `init`, freed in `deinit`; nil for other formats.
    private let block: UnsafeMutablePointer<Float>?
    private var blockCount = 0
    private var blockPosition = 0
    private var isBlockDamaged = false
    /// Whether a damaged frame extends into the next block.
    private var isNextDamaged = false
    private var isOver = false
    /// Damaged frames of MPEG audio that were skipped and not yet reported.
    private var lostFrames: Int64 = 0

    /// MPEG audio is decoded in blocks of this many frames, the largest MPEG frame, so that the position of damage does not depend on
    /// the reader's buffer.
    private static let blockLength = 1152

    /// Serialises opening: a failing sf_open stores its error in a variable that all threads share. A thread that never returns keeps
    /// its lock, and the others get a new one.
    private final class OpenLock: Sendable {
        let mutex = Mutex(())
    }
    private static let opening = Mutex(OpenLock())

    /// Replaces the lock, so that other threads can open files although one never returns from it.
    static func abandonOpening() {
        opening.withLock { $0 = OpenLock() }
    }

    /// Redirects C's `stdout` and `stderr` once, before a decoder can print.
    private static let isOutputRedirected: Bool = {
        hemiola_redirect_output(DecoderMessages.receive)
        return true
    }()

    /// Opens a sound file.
    ///
    /// - Parameter view: The bytes that libsndfile reads.
    init(_ file: InputFile, view: ByteView = ByteView()) throws(OpenError) {
        precondition(Self.isOutputRedirected)
        let source = UnsafeMutablePointer<VirtualFile>.allocate(capacity: 1)
        source.initialize(to: VirtualFile(file, view))
        let messages = UnsafeMutablePointer<DecoderMessages>.allocate(capacity: 1)
        messages.initialize(to: DecoderMessages())
        var info = SF_INFO()
        var handle: OpaquePointer?
        var failure = OpenError(reason: "")
        let lock = Self.opening.withLock { $0 }
        lock.mutex.withLock { _ in
            // libsndfile copies the callbacks, and calls them with `source` until sf_close.
            var callbacks = VirtualFile.callbacks
            handle = DecoderMessages.collect(in: messages) { sf_open_virtual(&callbacks, Int32(SFM_READ), &info, source) }
            source.pointee.isOpening = false
            if handle == nil {
                failure = OpenError(reason: Self.reason(sf_strerror(nil)))
            }
        }
        guard let handle else {
            if source.pointee.isExhausted { failure = OpenError(reason: Self.loopReason) }
            Self.discard(source)
            messages.deallocate()
            throw failure
        }
        self.handle = handle
        self.source = source
        self.messages = messages
        format = StreamFormat(sampleRate: Int(info.samplerate), channelCount: Int(info.channels))
        family = Self.family(of: Int(info.format))
        is16Bit = family == .plain && Int(info.format) & SF_FORMAT_SUBMASK == SF_FORMAT_PCM_16
        frameCount = info.frames < 0 || info.frames == .max ? nil : info.frames
        source.pointee.hidesTags = family == .mpeg
        block = family == .mpeg ? .allocate(capacity: Self.blockLength * max(1, format.channelCount)) : nil
    }

    deinit {
        DecoderMessages.collect(in: messages) { _ = sf_close(handle) }
        Self.discard(source)
        messages.deallocate()
        block?.deallocate()
    }

    /// The reason in the error for a file over whose header libsndfile loops.
    static let loopReason = "its header makes the decoder loop"

    private static func discard(_ source: UnsafeMutablePointer<VirtualFile>) {
        source.pointee.free()
        source.deinitialize(count: 1)
        source.deallocate()
    }

    /// Reads the next frames to the front of `samples`.
    ///
    /// - Returns: Number of frames read. Fewer than fit: at the end, before an error, and before damaged frames.
    /// - Complexity: O(samples); no allocation once the decoder has its buffers.
    func read(into samples: inout MutableSpan<Float>) -> Int {
        let channels = format.channelCount
        let room = samples.count / channels
        source.pointee.startCall()
        return samples.withUnsafeMutableBufferPointer { buffer in
            // Safe: libsndfile writes at most frames × channels samples, which fit.
            guard let block else {
                return DecoderMessages.collect(in: messages) {
                    is16Bit ? read16Bit(into: buffer, room) : Int(sf_readf_float(handle, buffer.baseAddress, sf_count_t(room)))
                }
            }
            var filled = 0
            while filled < room {
                if blockPosition == blockCount, !decodeBlock(block) { break }
                let rest = blockCount - blockPosition
                if isBlockDamaged {
                    if filled > 0 { break }
                    lostFrames += Int64(rest)
                    blockPosition = blockCount
                    continue
                }
                if lostFrames > 0 { break }
                let count = min(rest, room - filled)
                // Safe: `count` frames fit what is left of both buffers.
                (buffer.baseAddress! + filled * channels).update(from: block + blockPosition * channels, count: count * channels)
                blockPosition += count
                filled += count
            }
            return filled
        }
    }

    /// Reads 16-bit samples as libsndfile's `sf_readf_float` gives them, eight at a time: its own conversion takes as long as a
    /// spectrum.
    ///
    /// - Parameters:
    ///   - buffer: At least `room` frames.
    ///   - room: The number of frames to read.
    /// - Returns: Frames read; zeros follow them.
    private func read16Bit(into buffer: UnsafeMutableBufferPointer<Float>, _ room: Int) -> Int {
        let count = room * format.channelCount
        let samples = UnsafeMutableRawPointer(buffer.baseAddress!)
        // Safe: the integers are in the second half of the buffer. The conversion, front to back, does not overwrite unread integers:
        // sample i ends at byte 4·i + 4, and the unread integers begin at byte 2·count + 2·i + 2.
        let numbers = samples + 2 * count
        let frames = Int(sf_readf_short(handle, numbers.assumingMemoryBound(to: Int16.self), sf_count_t(room)))
        let end = max(frames, 0) * format.channelCount
        let scale: Float = 1 / 32_768
        var index = 0
        while index + 8 <= end {
            let values = (numbers + 2 * index).loadUnaligned(as: SIMD8<Int16>.self)
            let lanes = SIMD8<Float>(SIMD8<Int32>(truncatingIfNeeded: values)) * scale
            (samples + 4 * index).storeBytes(of: lanes, as: SIMD8<Float>.self)
            index += 8
        }
        while index < end {
            buffer[index] = Float((numbers + 2 * index).loadUnaligned(as: Int16.self)) * scale
            index += 1
        }
        while index < count {
            buffer[index] = 0
            index += 1
        }
        return frames
    }

    /// Number of damaged frames of MPEG audio that the last read skipped; they precede the next frame.
    func takeLostFrames() -> Int64 {
        defer { lostFrames = 0 }
        return lostFrames
    }

    /// Decodes the next block of MPEG audio.
    ///
    /// When mpg123 fails, libsndfile discards the frames that the same call decoded before. So near the end each call reads one
    /// sample frame: within 3 MPEG frames (at most 2881 bytes each), the number that a block may span.
    ///
    /// - Returns: false at the end.
    private func decodeBlock(_ block: UnsafeMutablePointer<Float>) -> Bool {
        blockCount = 0
        blockPosition = 0
        isBlockDamaged = isNextDamaged
        isNextDamaged = false
        while blockCount < Self.blockLength, !isOver {
            let step = source.pointee.length - source.pointee.position < 3 * 2881 ? 1 : Self.blockLength - blockCount
            let errors = messages.pointee.errorCount
            // Safe: at most `step` frames, which fit what is left of the block.
            let count = DecoderMessages.collect(in: messages) {
                Int(sf_readf_float(handle, block + blockCount * format.channelCount, sf_count_t(step)))
            }
            blockCount += count
            isOver = count < step
            if messages.pointee.errorCount > errors, !isOver {
                isBlockDamaged = true
                isNextDamaged = true
            }
        }
        return blockCount > 0
    }

    /// Seeks to a frame and reads it. Reads after this need not yield the same bits.
    ///
    /// - Returns: Whether the frame exists.
    func canSeek(to frame: Int64) -> Bool {
        source.pointee.startCall()
        return DecoderMessages.collect(in: messages) {
            guard sf_seek(handle, frame, SEEK_SET) == frame else { return false }
            // Safe: the buffer holds one frame of `format`, which libsndfile reported.
            return withUnsafeTemporaryAllocation(of: Float.self, capacity: max(format.channelCount, 1)) { buffer in
                sf_readf_float(handle, buffer.baseAddress, 1) == 1
            }
        }
    }

    /// The tags of the file.
    var tags: SoundTags {
        // Safe: libsndfile's texts end with a zero and live as long as the handle. They are copied here.
        func text(_ tag: Int) -> String? {
            guard let text = sf_get_string(handle, Int32(tag)) else { return nil }
            let bytes = UnsafeBufferPointer(start: text, count: strnlen(text, Self.longestTag))
            return SoundTags.text(of: bytes.lazy.map { UInt8(truncatingIfNeeded: $0) })
        }
        var tags = SoundTags()
        (tags.title, tags.artist, tags.album) = (text(SF_STR_TITLE), text(SF_STR_ARTIST), text(SF_STR_ALBUM))
        (tags.track, tags.genre) = (text(SF_STR_TRACKNUMBER), text(SF_STR_GENRE))
        tags.year = text(SF_STR_DATE).flatMap(SoundTags.year)
        return tags
    }

    /// Bytes of a tag that are read at most.
    private static let longestTag = 4 * SoundTags.longestText

    /// The error of the last read; nil when it succeeded.
    var readError: String? {
        if source.pointee.failure != 0 { return String(cString: strerror(source.pointee.failure)) }
        if source.pointee.isExhausted { return Self.loopReason }
        return Int(sf_error(handle)) == SF_ERR_NO_ERROR ? nil : Self.reason(sf_strerror(handle))
    }

    /// Whether the decoder had read the last byte of the file when it failed.
    var failedAtEnd: Bool { source.pointee.failure == 0 && source.pointee.position >= source.pointee.length }

    /// libsndfile's message without prefix and full stop: "Error : flac decoder lost sync." becomes "flac decoder lost sync".
    private static func reason(_ text: UnsafePointer<CChar>?) -> String {
        // Safe: libsndfile's messages are constants or live as long as the handle, and are copied here.
        guard let text else { return "no reason given" }
        var reason = Substring(String(cString: text))
        if reason.hasPrefix("Error") { reason = reason.dropFirst(5).drop { $0 == " " || $0 == ":" || $0 == "," } }
        while reason.last == "." || reason.last == " " || reason.last == "\n" { reason.removeLast() }
        if reason.hasPrefix("Unspecified internal") { return "damaged frames" }
        // Lower-cases the first letter of a sentence, but not that of an acronym.
        let isName = reason.dropFirst().first?.isUppercase ?? false
        return (isName ? "" : reason.prefix(1).lowercased()) + reason.dropFirst(isName ? 0 : 1).prefix { $0 != "\n" }
    }

    /// Offset in the file up to which the decoder has read, in bytes.
    var fileOffset: Int64 { source.pointee.position - Int64(source.pointee.header.count) + source.pointee.replacedCount }

    private static func family(of format: Int) -> Family {
        switch format & SF_FORMAT_TYPEMASK {
        case SF_FORMAT_FLAC: return .flac
        case SF_FORMAT_OGG: return .ogg
        case SF_FORMAT_MPEG: return .mpeg
        default: break
        }
        switch format & SF_FORMAT_SUBMASK {
        case SF_FORMAT_PCM_S8, SF_FORMAT_PCM_U8, SF_FORMAT_PCM_16, SF_FORMAT_PCM_24, SF_FORMAT_PCM_32, SF_FORMAT_FLOAT,
            SF_FORMAT_DOUBLE, SF_FORMAT_ULAW, SF_FORMAT_ALAW:
            return .plain
        case SF_FORMAT_MPEG_LAYER_I, SF_FORMAT_MPEG_LAYER_II, SF_FORMAT_MPEG_LAYER_III: return .mpeg
        default: return .packed
        }
    }
}

extension VirtualFile {
    /// The callbacks of libsndfile. Their pointer is the `source` of a `SoundFile`.
    fileprivate static let callbacks = SF_VIRTUAL_IO(
        get_filelen: { source in source!.assumingMemoryBound(to: VirtualFile.self).pointee.length },
        seek: { offset, origin, source in
            let source = source!.assumingMemoryBound(to: VirtualFile.self)
            return source.pointee.countCallback() ? source.pointee.seek(offset, origin) : -1
        },
        read: { target, count, source in
            let source = source!.assumingMemoryBound(to: VirtualFile.self)
            guard source.pointee.countCallback(), let target, count > 0 else { return 0 }
            source.pointee.file.watch.noteRead()
            let start = source.pointee.position
            let filled = source.pointee.read(into: UnsafeMutableRawBufferPointer(start: target, count: Int(count)))
            let bytes = UnsafeMutableRawBufferPointer(start: target, count: filled)
            if source.pointee.isOpening { source.pointee.limitChunkSize(bytes, at: start) }
            if source.pointee.hidesTags { source.pointee.hideTag(bytes, at: start) }
            return sf_count_t(filled)
        },
        write: { _, _, _ in 0 },
        tell: { source in
            let source = source!.assumingMemoryBound(to: VirtualFile.self)
            return source.pointee.countCallback() ? source.pointee.position : source.pointee.length
        })
}
