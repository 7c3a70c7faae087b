internal import Glibc

/// The input of one decoder: the bytes of a `ByteView` with a read position, buffered.
struct VirtualFile {
    // Keeps the file open.
    let file: InputFile
    let replacedCount: Int64
    /// Offset in the file where the view ends, in bytes.
    let end: Int64
    let reportedEnd: Int64?
    // Safe: `view.header`, copied once; freed by `free` alone.
    let header: UnsafeMutableRawBufferPointer
    // Safe: `cacheSize` bytes of the file from `cacheStart` on, of which `cacheCount` are filled; freed by `free` alone.
    private let cache: UnsafeMutableRawPointer
    private var cacheStart: Int64 = 0
    private var cacheCount = 0
    /// Read-ahead in bytes. libsndfile reads about a hop at a time; a system call for each cost a tenth of the analysis time.
    private static let cacheSize = 64 * 1024
    /// Read position, in bytes from the start of the view.
    var position: Int64 = 0
    /// errno of a failed read; 0 when none failed.
    var failure: Int32 = 0
    /// Callbacks that the current call of libsndfile may still make without progress, and its farthest position so far.
    private var budget = Self.callbackLimit
    private var farthest: Int64 = 0

    /// Maximum number of callbacks per call of libsndfile that make less than `callbackStep` bytes of progress. With intact files it is
    /// below 1000.
    private static let callbackLimit = 1_000_000
    private static let callbackStep: Int64 = 16

    /// Whether libsndfile exceeded the limit and is looping. All reads and seeks then fail.
    var isExhausted: Bool { budget <= 0 }

    /// Resets the limit at the start of a call of libsndfile.
    mutating func startCall() {
        guard !isExhausted else { return }
        budget = Self.callbackLimit
        farthest = position
    }

    /// Counts a callback.
    ///
    /// - Returns: false when the limit is exceeded and the callback must fail.
    mutating func countCallback() -> Bool {
        guard budget > 0 else { return false }
        budget -= 1
        if position > farthest {
            budget += Int(min((position - farthest) / Self.callbackStep, Int64(Self.callbackLimit)))
            farthest = position
        }
        return true
    }

    /// Whether libsndfile is opening the file. During that it reads the header number by number.
    var isOpening = true
    /// Whether to hide ID3 tags, see `hideTag`.
    var hidesTags = true
    /// Whether numbers are big-endian, in a WAV or RF64; nil in other containers and before the first bytes are read.
    private var isBigEndianWave: Bool?

    init(_ file: InputFile, _ view: ByteView) {
        self.file = file
        replacedCount = view.replacedCount
        end = max(file.size - view.trimmedCount, view.replacedCount)
        reportedEnd = view.reportedEnd
        header = .allocate(byteCount: view.header.count, alignment: 1)
        header.copyBytes(from: view.header)
        cache = .allocate(byteCount: Self.cacheSize, alignment: 64)
    }

    func free() {
        header.deallocate()
        cache.deallocate()
    }

    /// Size of the view in bytes.
    var length: Int64 { Int64(header.count) + end - replacedCount }

    /// Fills `target` from the read position and advances it. No allocation: it runs on the hot path.
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
            if position >= length, let reportedEnd, position >= reportedEnd - ByteView.tagSize, position < reportedEnd {
                let count = min(Int(reportedEnd - position), target.count - filled)
                // Safe: `count` fits what is left of `target`.
                memset(target.baseAddress! + filled, 0, count)
                filled += count
                position += Int64(count)
                continue
            }
            let room = min(Int64(target.count - filled), length - position)
            guard room > 0 else { break }
            let offset = position - Int64(header.count) + replacedCount
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
    /// libsndfile stores such a size in a signed integer and seeks backwards by it. Within a `LIST` chunk it then loops over its own
    /// buffer forever, without a callback. The sizes of `data` and of the file, and the frame count in `fact`, are not affected and
    /// may be larger.
    ///
    /// - Parameters:
    ///   - bytes: The bytes of the last read.
    ///   - start: Their position in the view.
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
            // The preceding 8 bytes: the chunk's name, where `bytes` are its size, and the name and size, where they are its content.
            let name = UInt32(bigEndian: before.load(fromByteOffset: 4, as: UInt32.self))
            let isFrameCount = UInt32(bigEndian: before.load(as: UInt32.self)) == Self.fact
            guard name != Self.data, name != Self.riff, name != Self.rifx, name != Self.rf64, !isFrameCount else { return }
            let limit = UInt32(0x7fff_fffe)
            bytes.storeBytes(of: isBigEndianWave ? limit.bigEndian : limit.littleEndian, as: UInt32.self)
        }
    }

    /// Changes the version of an ID3 tag to one that does not exist, so that mpg123 skips the tag.
    ///
    /// For a tag of version 3 or 4 between two frames mpg123 allocates the declared size, up to 256 MiB. It searches for tags by reads
    /// of 4 bytes, and of single bytes after damage. The tag at the start of the file is not hidden, unless it is too large: libsndfile
    /// reads title and artist from it.
    ///
    /// - Parameters:
    ///   - bytes: The bytes of the last read.
    ///   - start: Their position in the view.
    mutating func hideTag(_ bytes: UnsafeMutableRawBufferPointer, at start: Int64) {
        guard (1...4).contains(bytes.count), let version = bytes.last, version == 3 || version == 4 else { return }
        let end = position
        defer { position = end }
        position = start + Int64(bytes.count) - 4
        guard position >= 0 else { return }
        withUnsafeTemporaryAllocation(byteCount: 3, alignment: 1) { name in
            guard read(into: name) == 3, name[0] == 0x49, name[1] == 0x44, name[2] == 0x33 else { return }
            if isOpening, position == 3, let size = declaredTagSize(), size <= Self.largestTag { return }
            bytes[bytes.count - 1] = 5
        }
    }

    /// Declared size of the tag at the start of the view, in bytes without its header; nil when its header is incomplete.
    private mutating func declaredTagSize() -> Int? {
        position = 6
        return withUnsafeTemporaryAllocation(byteCount: 4, alignment: 1) { size in
            read(into: size) == 4 ? size.reduce(0) { $0 << 7 | Int($1 & 0x7f) } : nil
        }
    }

    /// Size up to which the tag at the start of a file is read, in bytes: 8 MiB, enough for a cover picture.
    private static let largestTag = 8 << 20

    private static let riff: UInt32 = 0x5249_4646
    private static let rifx: UInt32 = 0x5249_4658
    private static let rf64: UInt32 = 0x5246_3634
    private static let data: UInt32 = 0x6461_7461
    private static let fact: UInt32 = 0x6661_6374

    /// Fills the cache from an offset in the file.
    ///
    /// - Returns: false at the end of the file and on an error.
    private mutating func refill(from offset: Int64) -> Bool {
        while true {
            // Safe: pread writes at most `cacheSize` bytes.
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
        case SEEK_END: base = reportedEnd ?? length
        default: return -1
        }
        let (target, overflow) = base.addingReportingOverflow(offset)
        guard !overflow, target >= 0 else { return -1 }
        position = target
        return target
    }
}
