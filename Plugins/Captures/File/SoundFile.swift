internal import CSndFile
internal import Glibc
internal import HemiolaSignal
internal import Synchronization

/// A sound file that libsndfile decodes: the one place that knows libsndfile's names.
///
/// Whole-number encodings come as -1..<1, floating-point ones as they are in the file, unclipped; so do lossy ones, which
/// may pass ±1 where the encoder did. It is only ever read forward: to start over, make another one (a seek in MP3, Vorbis
/// or Opus would not bring back the same bits).
final class SoundFile {
    /// Why libsndfile does not open a file.
    struct Fault: Error, Hashable {
        /// In libsndfile's words.
        var reason: String
    }

    /// How the samples are packed, as far as it matters here.
    enum Family {
        /// Every frame takes the same number of bytes.
        case plain
        case flac, ogg, mpeg
        /// Blocks of frames: ADPCM, GSM, ALAC.
        case packed
    }

    let format: StreamFormat
    let family: Family
    /// Frames as libsndfile counts them, 0…; nil when it does not know.
    let frameCount: Int64?

    private let handle: OpaquePointer
    // Safe: allocated in `init`, freed in `deinit` after libsndfile let go of it, seen by one thread at a time.
    private let source: UnsafeMutablePointer<VirtualFile>

    // Safe: as `source`.
    private let messages: UnsafeMutablePointer<DecoderMessages>
    // Safe: room for `blockLength` frames of MPEG audio, allocated in `init` and freed in `deinit`; nil for other formats.
    private let block: UnsafeMutablePointer<Float>?
    private var blockCount = 0
    private var blockPosition = 0
    private var isBlockDamaged = false
    /// Whether the frame that was damaged reaches into the next block.
    private var isNextDamaged = false
    private var isOver = false
    /// Damaged frames of MPEG audio that were passed over and not yet taken.
    private var lostFrames: Int64 = 0

    /// MPEG audio is decoded in blocks of this many frames, its largest frame, whatever is asked for: where the damage lies must
    /// not depend on the reader's buffer.
    private static let blockLength = 1152

    /// Failing calls leave their reason in a variable that all threads share, so they take turns. A thread that never comes back
    /// keeps its turn, and the others get another lock.
    private final class Turn: Sendable {
        let lock = Mutex(())
    }
    private static let opening = Mutex(Turn())

    /// Lets other threads open files although one is stuck in it.
    static func abandonOpening() {
        opening.withLock { $0 = Turn() }
    }

    /// C code's `stdout` and `stderr` are redirected once, before a decoder can print.
    private static let isOutputRedirected: Bool = {
        hemiola_redirect_output(DecoderMessages.receive)
        return true
    }()

    /// Opens a sound file.
    ///
    /// - Parameter view: What libsndfile is shown of the file.
    init(_ file: InputFile, view: ByteView = ByteView()) throws(Fault) {
        precondition(Self.isOutputRedirected)
        let source = UnsafeMutablePointer<VirtualFile>.allocate(capacity: 1)
        source.initialize(to: VirtualFile(file, view))
        let messages = UnsafeMutablePointer<DecoderMessages>.allocate(capacity: 1)
        messages.initialize(to: DecoderMessages())
        var info = SF_INFO()
        var handle: OpaquePointer?
        var fault = Fault(reason: "")
        let turn = Self.opening.withLock { $0 }
        turn.lock.withLock { _ in
            // libsndfile copies the callbacks, and calls them with `source` until it is closed.
            var callbacks = VirtualFile.callbacks
            handle = DecoderMessages.collect(in: messages) { sf_open_virtual(&callbacks, Int32(SFM_READ), &info, source) }
            source.pointee.isOpening = false
            if handle == nil {
                fault = Fault(reason: Self.reason(sf_strerror(nil)))
            }
        }
        guard let handle else {
            if source.pointee.isExhausted { fault = Fault(reason: Self.loopReason) }
            Self.discard(source)
            messages.deallocate()
            throw fault
        }
        self.handle = handle
        self.source = source
        self.messages = messages
        format = StreamFormat(sampleRate: Int(info.samplerate), channelCount: Int(info.channels))
        family = Self.family(of: Int(info.format))
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

    /// Why a file is refused whose header leads libsndfile in a circle.
    static let loopReason = "its header leads in a circle"

    private static func discard(_ source: UnsafeMutablePointer<VirtualFile>) {
        source.pointee.free()
        source.deinitialize(count: 1)
        source.deallocate()
    }

    /// Reads the next frames to the front of `samples`.
    ///
    /// - Returns: Frames read: fewer than there is room for at the end, before a fault and before damaged frames.
    /// - Complexity: O(samples); allocates nothing once the decoder has its buffers.
    func read(into samples: inout MutableSpan<Float>) -> Int {
        let channels = format.channelCount
        let room = samples.count / channels
        source.pointee.startCall()
        return samples.withUnsafeMutableBufferPointer { buffer in
            // Safe: libsndfile writes at most frames × channels samples, which fit.
            guard let block else {
                return DecoderMessages.collect(in: messages) { Int(sf_readf_float(handle, buffer.baseAddress, sf_count_t(room))) }
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

    /// Frames of MPEG audio that the last read has passed over because they are damaged; they lie before what comes next.
    func takeLostFrames() -> Int64 {
        defer { lostFrames = 0 }
        return lostFrames
    }

    /// Decodes the next block of MPEG audio.
    ///
    /// Where mpg123 fails, libsndfile throws away what the same read had brought before. So nothing is asked for together with a
    /// frame of MPEG audio that may be the last: at most 2881 bytes, and three of them in a block.
    ///
    /// - Returns: Whether there is any.
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

    /// Goes to a frame, to see whether it is there. What is read from then on need not be the same bits.
    func reaches(_ frame: Int64) -> Bool {
        source.pointee.startCall()
        return DecoderMessages.collect(in: messages) {
            guard sf_seek(handle, frame, SEEK_SET) == frame else { return false }
            // Safe: one frame of at most 1024 channels, libsndfile's limit, which `format` was read from.
            return withUnsafeTemporaryAllocation(of: Float.self, capacity: max(format.channelCount, 1)) { buffer in
                sf_readf_float(handle, buffer.baseAddress, 1) == 1
            }
        }
    }

    /// What the last read stumbled over, in words; nil when nothing.
    var fault: String? {
        if source.pointee.failure != 0 { return String(cString: strerror(source.pointee.failure)) }
        if source.pointee.isExhausted { return Self.loopReason }
        return Int(sf_error(handle)) == SF_ERR_NO_ERROR ? nil : Self.reason(sf_strerror(handle))
    }

    /// Whether the decoder had been given the last byte of the file when it stumbled.
    var stumblesAtEnd: Bool { source.pointee.failure == 0 && source.pointee.position >= source.pointee.length }

    /// libsndfile's sentences, without the ornaments: "Error : flac decoder lost sync." becomes "flac decoder lost sync".
    private static func reason(_ text: UnsafePointer<CChar>?) -> String {
        // Safe: libsndfile's sentences are constants or live as long as the handle, and are copied here.
        guard let text else { return "no reason given" }
        var reason = Substring(String(cString: text))
        if reason.hasPrefix("Error") { reason = reason.dropFirst(5).drop { $0 == " " || $0 == ":" || $0 == "," } }
        while reason.last == "." || reason.last == " " || reason.last == "\n" { reason.removeLast() }
        if reason.hasPrefix("Unspecified internal") { return "the frames are broken" }
        // The first letter of a sentence, but not that of a name.
        let isName = reason.dropFirst().first?.isUppercase ?? false
        return (isName ? "" : reason.prefix(1).lowercased()) + reason.dropFirst(isName ? 0 : 1).prefix { $0 != "\n" }
    }

    /// Where in the file the decoder has read to.
    var fileOffset: Int64 { source.pointee.position - Int64(source.pointee.header.count) + source.pointee.replaced }

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
    /// libsndfile's way in. The pointer is the `source` of the `SoundFile` that is being read.
    fileprivate static let callbacks = SF_VIRTUAL_IO(
        get_filelen: { source in source!.assumingMemoryBound(to: VirtualFile.self).pointee.length },
        seek: { offset, origin, source in
            let source = source!.assumingMemoryBound(to: VirtualFile.self)
            return source.pointee.noteCall() ? source.pointee.seek(offset, origin) : -1
        },
        read: { target, count, source in
            let source = source!.assumingMemoryBound(to: VirtualFile.self)
            guard source.pointee.noteCall(), let target, count > 0 else { return 0 }
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
            return source.pointee.noteCall() ? source.pointee.position : source.pointee.length
        })
}
