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
    private let tap: UnsafeMutablePointer<Tap>

    // Safe: as `tap`.
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
        let tap = UnsafeMutablePointer<Tap>.allocate(capacity: 1)
        tap.initialize(to: Tap(file, view))
        let messages = UnsafeMutablePointer<DecoderMessages>.allocate(capacity: 1)
        messages.initialize(to: DecoderMessages())
        var info = SF_INFO()
        var handle: OpaquePointer?
        var fault = Fault(reason: "")
        let turn = Self.opening.withLock { $0 }
        turn.lock.withLock { _ in
            // libsndfile copies the callbacks, and calls them with `tap` until it is closed.
            var callbacks = Tap.callbacks
            handle = DecoderMessages.collect(in: messages) { sf_open_virtual(&callbacks, Int32(SFM_READ), &info, tap) }
            tap.pointee.isOpening = false
            if handle == nil {
                fault = Fault(reason: Self.reason(sf_strerror(nil)))
            }
        }
        guard let handle else {
            if tap.pointee.isExhausted { fault = Fault(reason: Self.loopReason) }
            Self.discard(tap)
            messages.deallocate()
            throw fault
        }
        self.handle = handle
        self.tap = tap
        self.messages = messages
        format = StreamFormat(sampleRate: Int(info.samplerate), channelCount: Int(info.channels))
        family = Self.family(of: Int(info.format))
        frameCount = info.frames < 0 || info.frames == .max ? nil : info.frames
        tap.pointee.hidesTags = family == .mpeg
        block = family == .mpeg ? .allocate(capacity: Self.blockLength * max(1, format.channelCount)) : nil
    }

    deinit {
        DecoderMessages.collect(in: messages) { _ = sf_close(handle) }
        Self.discard(tap)
        messages.deallocate()
        block?.deallocate()
    }

    /// Why a file is refused whose header leads libsndfile in a circle.
    static let loopReason = "its header leads in a circle"

    private static func discard(_ tap: UnsafeMutablePointer<Tap>) {
        tap.pointee.free()
        tap.deinitialize(count: 1)
        tap.deallocate()
    }

    /// Reads the next frames to the front of `samples`.
    ///
    /// - Returns: Frames read: fewer than there is room for at the end, before a fault and before damaged frames.
    /// - Complexity: O(samples); allocates nothing once the decoder has its buffers.
    func read(into samples: inout MutableSpan<Float>) -> Int {
        let channels = format.channelCount
        let room = samples.count / channels
        tap.pointee.startCall()
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
            let step = tap.pointee.length - tap.pointee.position < 3 * 2881 ? 1 : Self.blockLength - blockCount
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
        tap.pointee.startCall()
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
        if tap.pointee.failure != 0 { return String(cString: strerror(tap.pointee.failure)) }
        if tap.pointee.isExhausted { return Self.loopReason }
        return Int(sf_error(handle)) == SF_ERR_NO_ERROR ? nil : Self.reason(sf_strerror(handle))
    }

    /// Whether the decoder had been given the last byte of the file when it stumbled.
    var stumblesAtEnd: Bool { tap.pointee.failure == 0 && tap.pointee.position >= tap.pointee.length }

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
    var fileOffset: Int64 { tap.pointee.position - Int64(tap.pointee.header.count) + tap.pointee.replaced }

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

/// The file as libsndfile draws from it: a position of its own, over positioned reads.
private struct Tap {
    // Keeps the file open as long as it is read.
    let file: InputFile
    let replaced: Int64
    /// The end of what is shown, in the file.
    let end: Int64
    let claimedEnd: Int64?
    // Safe: `view.header`, copied once; freed by `free` alone.
    let header: UnsafeMutableRawBufferPointer
    // Safe: `cacheSize` bytes of the file from `cacheStart` on, of which `cacheCount` are filled; freed by `free` alone.
    private let cache: UnsafeMutableRawPointer
    private var cacheStart: Int64 = 0
    private var cacheCount = 0
    /// Read ahead: libsndfile asks for a hop at a time, and a system call for each would be a tenth of the whole analysis.
    private static let cacheSize = 64 * 1024
    /// The next byte to be read, in the bytes that are shown.
    var position: Int64 = 0
    /// The system's number for the first read that failed; 0 when none did.
    var failure: Int32 = 0
    /// Callbacks that the call of libsndfile under way may still make without going on in the file, and how far it has gone.
    private var budget = Self.callbackLimit
    private var farthest: Int64 = 0

    /// Callbacks of one call of libsndfile that do not lead it at least `callbackStep` bytes further: an honest call makes
    /// fewer than a thousand.
    private static let callbackLimit = 1_000_000
    private static let callbackStep: Int64 = 16

    /// Whether libsndfile has called so often that it must be going round in a circle. It then finds the end of the file
    /// wherever it looks.
    var isExhausted: Bool { budget <= 0 }

    /// Another call of libsndfile begins.
    mutating func startCall() {
        guard !isExhausted else { return }
        budget = Self.callbackLimit
        farthest = position
    }

    /// Counts a callback.
    ///
    /// - Returns: Whether it may be answered.
    mutating func noteCall() -> Bool {
        guard budget > 0 else { return false }
        budget -= 1
        if position > farthest {
            budget += Int(min((position - farthest) / Self.callbackStep, Int64(Self.callbackLimit)))
            farthest = position
        }
        return true
    }

    /// Whether libsndfile is opening the file: it then reads the header, number by number.
    var isOpening = true
    /// Whether ID3 tags are shown as of a version that mpg123 passes over.
    var hidesTags = true
    /// Whether numbers are big-endian, in a WAV or RF64; nil in other containers and before the first bytes are read.
    private var isBigEndianWave: Bool?

    init(_ file: InputFile, _ view: ByteView) {
        self.file = file
        replaced = view.replaced
        end = max(file.size - view.hidden, view.replaced)
        claimedEnd = view.claimedEnd
        header = .allocate(byteCount: view.header.count, alignment: 1)
        header.copyBytes(from: view.header)
        cache = .allocate(byteCount: Self.cacheSize, alignment: 64)
    }

    func free() {
        header.deallocate()
        cache.deallocate()
    }

    /// Bytes that are shown.
    var length: Int64 { Int64(header.count) + end - replaced }

    /// Fills `target` with what comes next. No allocation: it runs under every read of the analysis.
    mutating func read(into target: UnsafeMutableRawBufferPointer) -> Int {
        var filled = 0
        while filled < target.count {
            if position < Int64(header.count) {
                let start = Int(position)
                let count = min(header.count - start, target.count - filled)
                // Safe: `count` fits both sides.
                memcpy(target.baseAddress! + filled, header.baseAddress! + start, count)
                filled += count
                position += Int64(count)
                continue
            }
            if position >= length, let claimedEnd, position >= claimedEnd - ByteView.tagSize, position < claimedEnd {
                let count = min(Int(claimedEnd - position), target.count - filled)
                // Safe: `count` fits what is left of `target`.
                memset(target.baseAddress! + filled, 0, count)
                filled += count
                position += Int64(count)
                continue
            }
            let room = min(Int64(target.count - filled), length - position)
            guard room > 0 else { break }
            let offset = position - Int64(header.count) + replaced
            let cached = cacheStart + Int64(cacheCount) - offset
            guard offset >= cacheStart, cached > 0 else {
                guard refill(from: offset) else { break }
                continue
            }
            let count = Int(min(room, cached))
            // Safe: `count` fits what is left of `target` and what is filled of the cache.
            memcpy(target.baseAddress! + filled, cache + Int(offset - cacheStart), count)
            filled += count
            position += Int64(count)
        }
        return filled
    }

    /// Replaces a chunk size of 2 GiB and more by the largest even number below, in the header of a WAV or RF64.
    ///
    /// libsndfile keeps such a size in a signed number and moves back by it. Within a `LIST` chunk it then reads the same bytes
    /// again for ever, from its own buffer: no callback could end that. The lengths of `data` and of the file, and the frames that
    /// `fact` counts, are no such sizes and may be larger.
    ///
    /// - Parameters:
    ///   - bytes: What was just read.
    ///   - start: Where it stands in the bytes that are shown.
    mutating func limitChunkSize(_ bytes: UnsafeMutableRawBufferPointer, at start: Int64) {
        guard bytes.count >= 4 else { return }
        switch UInt32(bigEndian: bytes.loadUnaligned(as: UInt32.self)) {
        case Self.riff, Self.rf64: isBigEndianWave = false
        case Self.rifx: isBigEndianWave = true
        default: break
        }
        guard bytes.count == 4, let isBigEndianWave, bytes[isBigEndianWave ? 0 : 3] & 0x80 != 0, start >= 8 else { return }
        let end = position
        defer { position = end }
        position = start - 8
        withUnsafeTemporaryAllocation(byteCount: 8, alignment: 4) { before in
            guard read(into: before) == 8 else { return }
            // The name of the chunk where this is its size, and where this is its first number.
            let name = UInt32(bigEndian: before.load(fromByteOffset: 4, as: UInt32.self))
            let isFrameCount = UInt32(bigEndian: before.load(as: UInt32.self)) == Self.fact
            guard name != Self.data, name != Self.riff, name != Self.rifx, name != Self.rf64, !isFrameCount else { return }
            let limit = UInt32(0x7fff_fffe)
            bytes.storeBytes(of: isBigEndianWave ? limit.bigEndian : limit.littleEndian, as: UInt32.self)
        }
    }

    /// Changes the version of an ID3 tag to one that does not exist.
    ///
    /// mpg123 passes over such a tag. Of the versions 3 and 4 it allocates as many bytes as the tag says to have, up to 256 MiB,
    /// wherever one stands between two frames. It looks for them by reads of 4 bytes, and of single bytes behind damage.
    ///
    /// - Parameters:
    ///   - bytes: What was just read.
    ///   - start: Where it stands in the bytes that are shown.
    mutating func hideTag(_ bytes: UnsafeMutableRawBufferPointer, at start: Int64) {
        guard (1...4).contains(bytes.count), let version = bytes.last, version == 3 || version == 4 else { return }
        let end = position
        defer { position = end }
        position = start + Int64(bytes.count) - 4
        guard position >= 0 else { return }
        withUnsafeTemporaryAllocation(byteCount: 3, alignment: 1) { name in
            guard read(into: name) == 3, name[0] == 0x49, name[1] == 0x44, name[2] == 0x33 else { return }
            bytes[bytes.count - 1] = 5
        }
    }

    private static let riff: UInt32 = 0x5249_4646
    private static let rifx: UInt32 = 0x5249_4658
    private static let rf64: UInt32 = 0x5246_3634
    private static let data: UInt32 = 0x6461_7461
    private static let fact: UInt32 = 0x6661_6374

    /// Fills the cache from a place in the file.
    ///
    /// - Returns: Whether there is anything.
    private mutating func refill(from offset: Int64) -> Bool {
        while true {
            // Safe: the system writes at most `cacheSize` bytes.
            let count = pread(file.descriptor, cache, Self.cacheSize, off_t(offset))
            if count < 0 {
                if errno == EINTR { continue }
                failure = errno
            }
            cacheStart = offset
            cacheCount = max(0, count)
            return count > 0
        }
    }

    /// - Returns: The new position, or -1.
    mutating func seek(_ offset: Int64, _ origin: Int32) -> Int64 {
        let base: Int64
        switch origin {
        case SEEK_SET: base = 0
        case SEEK_CUR: base = position
        case SEEK_END: base = claimedEnd ?? length
        default: return -1
        }
        let (target, overflow) = base.addingReportingOverflow(offset)
        guard !overflow, target >= 0 else { return -1 }
        position = target
        return target
    }

    /// libsndfile's way in. The pointer is the `tap` of the `SoundFile` that is being read.
    static let callbacks = SF_VIRTUAL_IO(
        get_filelen: { tap in tap!.assumingMemoryBound(to: Tap.self).pointee.length },
        seek: { offset, origin, tap in
            let tap = tap!.assumingMemoryBound(to: Tap.self)
            return tap.pointee.noteCall() ? tap.pointee.seek(offset, origin) : -1
        },
        read: { target, count, tap in
            let tap = tap!.assumingMemoryBound(to: Tap.self)
            guard tap.pointee.noteCall(), let target, count > 0 else { return 0 }
            tap.pointee.file.watch.noteRead()
            let start = tap.pointee.position
            let filled = tap.pointee.read(into: UnsafeMutableRawBufferPointer(start: target, count: Int(count)))
            let bytes = UnsafeMutableRawBufferPointer(start: target, count: filled)
            if tap.pointee.isOpening { tap.pointee.limitChunkSize(bytes, at: start) }
            if tap.pointee.hidesTags { tap.pointee.hideTag(bytes, at: start) }
            return sf_count_t(filled)
        },
        write: { _, _, _ in 0 },
        tell: { tap in
            let tap = tap!.assumingMemoryBound(to: Tap.self)
            return tap.pointee.noteCall() ? tap.pointee.position : tap.pointee.length
        })
}
