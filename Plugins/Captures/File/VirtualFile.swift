internal import Glibc

/// The file as libsndfile draws from it: a position of its own, over positioned reads.
struct VirtualFile {
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
}
