/// The input of a `ChunkReader`: a file, or the beginning of a stream.
public protocol ChunkSource {
    /// The error that reading throws.
    associatedtype Failure: Error

    /// Reads bytes without consuming them.
    ///
    /// - Parameters:
    ///   - offset: In bytes. A `ChunkReader` reads at offsets that never decrease, so that a stream can discard earlier bytes.
    ///   - count: Bytes to read, at most 4096.
    /// - Returns: `count` bytes; fewer at the end of the source.
    func bytes(at offset: Int64, count: Int) throws(Failure) -> [UInt8]
}

/// The layout of chunk headers in a container format.
enum ChunkLayout: Sendable, Hashable {
    /// RIFF, RF64 and BW64: a name and a little-endian size of 4 bytes each; chunks begin at even offsets.
    case riff
    /// IFF, which AIFF and RIFX use: as RIFF with a big-endian size.
    case iff
    /// Apple's Core Audio Format: a name of 4 bytes and a big-endian signed size of 8; no padding.
    case caf
    /// Sony Wave64: a GUID of 16 bytes, whose first 4 are the name, and a little-endian size of 8 that includes these 24; chunks begin
    /// at multiples of 8.
    case wave64

    /// Bytes of a chunk's header.
    var headerSize: Int {
        switch self {
        case .riff, .iff: 8
        case .caf: 12
        case .wave64: 24
        }
    }

    /// The declared size of a chunk's content; negative for an invalid size.
    fileprivate func contentSize(_ header: [UInt8]) -> Int64 {
        switch self {
        case .riff: Int64(header.unsigned32(at: 4, isBigEndian: false))
        case .iff: Int64(header.unsigned32(at: 4, isBigEndian: true))
        case .caf: Int64(bitPattern: header.unsigned64(at: 4, isBigEndian: true))
        case .wave64: Int64(clamping: header.unsigned64(at: 16, isBigEndian: false)) - 24
        }
    }

    /// Bytes of padding after a content of a size, 0….
    fileprivate func padding(after size: Int64) -> Int64 {
        switch self {
        case .riff, .iff: size % 2
        case .caf: 0
        case .wave64: (8 - size % 8) % 8
        }
    }
}

/// One chunk of a container: its header.
struct Chunk: Sendable, Hashable {
    /// The four characters of the name, such as `fmt `.
    var name: String
    /// The start of the content, in bytes from the start of the source.
    var offset: Int64
    /// Bytes of content that the header declares; negative for an unknown size, such as CAF's −1. The source may have fewer.
    var size: Int64
}

/// Iterates over the chunks of a container: RIFF, RIFX, RF64, BW64, AIFF, CAF or Wave64.
///
/// Some programs leave out the byte that pads a content of odd size. The reader takes the chunk without it where the name is more plausible
/// there.
///
/// - Complexity: One read of at most 24 bytes per chunk. Contents are read on request only.
struct ChunkReader<Source: ChunkSource> {
    private let source: Source
    private let layout: ChunkLayout
    /// The end of the previous chunk, without its padding; nil after a chunk with an invalid size.
    private var position: Int64?
    /// Bytes of padding that should follow, 0….
    private var padding: Int64 = 0
    private let end: Int64
    private var remaining: Int

    /// A reader of the chunks of a source.
    ///
    /// - Parameters:
    ///   - source: The input.
    ///   - layout: The layout of the chunk headers.
    ///   - offset: The offset of the first chunk, in bytes.
    ///   - end: The offset that the chunks do not exceed: the end of a chunk that consists of chunks.
    ///   - limit: Maximum number of chunks to read: a damaged file may contain millions of empty ones.
    init(_ source: Source, layout: ChunkLayout, from offset: Int64, to end: Int64 = .max, limit: Int = .max) {
        self.source = source
        self.layout = layout
        self.end = end
        position = offset
        remaining = limit
    }

    /// Reads the header of the next chunk.
    ///
    /// - Returns: nil at the end of the source, after `limit` chunks, and after a chunk with a negative size.
    mutating func next() throws(Source.Failure) -> Chunk? {
        guard remaining > 0, let position else { return nil }
        remaining -= 1
        let isOdd = padding == 1
        let first = isOdd ? position : position + padding
        let wanted = Int64(layout.headerSize) + (isOdd ? 1 : 0)
        // Not one read per place: a stream discards what precedes the second one.
        let bytes = try source.bytes(at: first, count: Int(max(0, min(wanted, end - first))))
        let skipped = isOdd && Self.plausibility(bytes.dropFirst()) >= Self.plausibility(bytes[...]) ? 1 : 0
        let header = Array(bytes.dropFirst(skipped).prefix(layout.headerSize))
        guard header.count == layout.headerSize else { return nil }
        let chunk = Chunk(
            name: String(decoding: header[..<4], as: UTF8.self), offset: first + Int64(skipped + layout.headerSize),
            size: layout.contentSize(header))
        skip(chunk, size: chunk.size)
        return chunk
    }

    /// Continues after a chunk whose size another chunk declares, as RF64's `ds64` does.
    ///
    /// - Parameters:
    ///   - chunk: The last chunk that `next` returned.
    ///   - size: Bytes of its content.
    mutating func skip(_ chunk: Chunk, size: Int64) {
        let (end, overflow) = chunk.offset.addingReportingOverflow(size)
        padding = size < 0 ? 0 : layout.padding(after: size)
        position = size < 0 || overflow || end > .max - 64 ? nil : end
    }

    /// How likely a chunk's header begins here: 2 with a name that most files contain, 1 with four printable characters, else 0.
    private static func plausibility(_ bytes: ArraySlice<UInt8>) -> Int {
        let name = bytes.prefix(4)
        guard name.count == 4, name.allSatisfy({ (0x20...0x7e).contains($0) }) else { return 0 }
        return commonNames.contains(String(decoding: name, as: UTF8.self)) ? 2 : 1
    }

    private static var commonNames: [String] {
        ["fmt ", "data", "fact", "LIST", "id3 ", "COMM", "SSND", "MARK", "INST", "ID3 ", "bext", "cue ", "smpl", "JUNK", "PEAK"]
    }

    /// Reads the first bytes of a chunk's content: at most `limit`, and at most as many as its header declares.
    ///
    /// - Parameters:
    ///   - chunk: The last chunk that `next` returned.
    ///   - limit: Maximum number of bytes, at most 4096.
    func content(of chunk: Chunk, limit: Int) throws(Source.Failure) -> [UInt8] {
        try source.bytes(at: chunk.offset, count: Int(max(0, min(chunk.size, Int64(limit), end - chunk.offset))))
    }
}

/// Lengths that the header of an audio file declares.
public enum DeclaredLength {
    /// The longest plausible length, in frames: 2⁴⁰, which are 265 days at 48 kHz. A header that declares more is damaged.
    public static let maximumFrames: Int64 = 1 << 40

    /// Whether a 32-bit size in bytes is a placeholder, which programs write to a pipe because the length is unknown.
    ///
    /// ffmpeg writes 0xffffffff; SoX 0x7ffff000, and 0x7f000008 in AIFF; arecord slightly less than 0x80000000; others 0x7fffffff.
    /// 0, which GStreamer writes, is not a placeholder, because the content may be empty.
    static func isPlaceholder(_ size: Int64) -> Bool {
        (0x7f00_0000...0x7f00_ffff).contains(size) || (0x7fff_0000...0x8000_0000).contains(size)
            || (0xffff_0000...0xffff_ffff).contains(size)
    }
}

// MARK: - Bytes of headers

extension [UInt8] {
    /// Whether the bytes at an offset are the characters of a text; false if the array is too short.
    public func hasText(_ text: StaticString, at offset: Int) -> Bool {
        guard offset >= 0, count >= offset + text.utf8CodeUnitCount else { return false }
        return text.withUTF8Buffer { self[offset..<offset + $0.count].elementsEqual($0) }
    }

    /// The unsigned 16-bit integer at an offset. The array must contain all of its bytes.
    func unsigned16(at offset: Int, isBigEndian: Bool) -> UInt16 {
        UInt16(truncatingIfNeeded: unsigned(at: offset, count: 2, isBigEndian))
    }

    /// The unsigned 32-bit integer at an offset. The array must contain all of its bytes.
    func unsigned32(at offset: Int, isBigEndian: Bool) -> UInt32 {
        UInt32(truncatingIfNeeded: unsigned(at: offset, count: 4, isBigEndian))
    }

    /// The unsigned 64-bit integer at an offset. The array must contain all of its bytes.
    func unsigned64(at offset: Int, isBigEndian: Bool) -> UInt64 {
        unsigned(at: offset, count: 8, isBigEndian)
    }

    private func unsigned(at offset: Int, count: Int, _ isBigEndian: Bool) -> UInt64 {
        let bytes = self[offset..<offset + count]
        return isBigEndian ? bytes.reduce(0) { $0 << 8 | UInt64($1) } : bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}
