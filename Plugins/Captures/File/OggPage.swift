/// A page of an Ogg file with a valid checksum. RFC 3533, section 6.
struct OggPage: Hashable {
    var offset: Int64
    var size: Int
    var isFirst: Bool
    var isLast: Bool
    /// The granule position at the end of the last packet that ends on this page; -1 where none ends.
    var granule: Int64
    var serial: UInt32
    var sequence: UInt32
    /// Number of packets that end on this page.
    var packetCount: Int
    /// The first 8 bytes after the page header.
    var start: [UInt8]

    var end: Int64 { offset + Int64(size) }

    /// Maximum size of a page in bytes: 255 segments of 255 bytes.
    static let largest = 27 + 255 + 255 * 255

    /// nil where no page begins, and where its checksum is wrong.
    init?(_ bytes: UnsafeRawBufferPointer, offset: Int64) {
        guard bytes.count >= 27, bytes[0] == 0x4f, bytes[1] == 0x67, bytes[2] == 0x67, bytes[3] == 0x53, bytes[4] == 0 else { return nil }
        let segments = Int(bytes[26])
        guard bytes.count >= 27 + segments else { return nil }
        var body = 0
        var packets = 0
        for index in 27..<27 + segments {
            body += Int(bytes[index])
            if bytes[index] < 255 { packets += 1 }
        }
        size = 27 + segments + body
        guard bytes.count >= size else { return nil }
        let declared = bytes.loadUnaligned(fromByteOffset: 22, as: UInt32.self).littleEndian
        var checksum = OggChecksum()
        checksum.add(UnsafeRawBufferPointer(rebasing: bytes[..<22]))
        checksum.addZeros(4)
        checksum.add(UnsafeRawBufferPointer(rebasing: bytes[26..<size]))
        guard checksum.value == declared else { return nil }
        self.offset = offset
        isFirst = bytes[5] & 2 != 0
        isLast = bytes[5] & 4 != 0
        granule = bytes.loadUnaligned(fromByteOffset: 6, as: Int64.self).littleEndian
        serial = bytes.loadUnaligned(fromByteOffset: 14, as: UInt32.self).littleEndian
        sequence = bytes.loadUnaligned(fromByteOffset: 18, as: UInt32.self).littleEndian
        packetCount = packets
        start = Array(bytes[27 + segments..<min(size, 27 + segments + 8)])
    }
}

/// The checksum of Ogg pages: CRC-32 with the polynomial 0x04c11db7, neither reflected nor inverted.
struct OggChecksum {
    private(set) var value: UInt32 = 0

    /// Lookup tables of slicing-by-4: entry b of table k is the checksum of byte b followed by k zero bytes.
    private static let tables: [UInt32] = {
        var tables = [UInt32](repeating: 0, count: 4 * 256)
        for byte in 0..<256 {
            var value = UInt32(byte) << 24
            for _ in 0..<8 { value = value << 1 ^ (value >> 31 == 1 ? 0x04c1_1db7 : 0) }
            tables[byte] = value
        }
        for index in 256..<4 * 256 {
            let value = tables[index - 256]
            tables[index] = value << 8 ^ tables[Int(value >> 24)]
        }
        return tables
    }()

    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        var sum = value
        // Safe: every index is below 4 × 256.
        Self.tables.withUnsafeBufferPointer { tables in
            var index = 0
            while index + 4 <= bytes.count {
                sum ^= bytes.loadUnaligned(fromByteOffset: index, as: UInt32.self).bigEndian
                sum =
                    tables[768 + Int(sum >> 24)] ^ tables[512 + Int(sum >> 16 & 0xff)] ^ tables[256 + Int(sum >> 8 & 0xff)]
                    ^ tables[Int(sum & 0xff)]
                index += 4
            }
            while index < bytes.count {
                sum = sum << 8 ^ tables[Int(sum >> 24) ^ Int(bytes[index])]
                index += 1
            }
        }
        value = sum
    }

    mutating func addZeros(_ count: Int) {
        withUnsafeTemporaryAllocation(byteCount: count, alignment: 4) { bytes in
            bytes.initializeMemory(as: UInt8.self, repeating: 0)
            add(UnsafeRawBufferPointer(bytes))
        }
    }
}

/// Reads the pages of an Ogg file in order; skips bytes between them that are no page.
struct OggPageReader {
    private let file: InputFile
    private var window: [UInt8] = []
    private var windowStart: Int64
    /// Offset at which the search for the next page starts.
    private var position: Int64
    /// Bytes that the search may still examine without a match. Bounds the time for a file that imitates a page header of 64 KiB at
    /// every fourth byte.
    private var searchBudget: Int64

    private static let windowSize = 1 << 18
    private static let mark = Array("OggS".utf8)

    init(_ file: InputFile, from start: Int64) {
        self.file = file
        position = start
        windowStart = start
        searchBudget = 4 * file.size + 64 << 20
    }

    /// The next page; nil when there is none.
    mutating func next() -> OggPage? {
        while position < file.size, searchBudget > 0 {
            if windowStart + Int64(window.count) < min(position + Int64(OggPage.largest), file.size) || position < windowStart {
                window = file.bytes(at: position, count: Self.windowSize)
                windowStart = position
                if window.isEmpty { return nil }
            }
            let (offset, place) = (Int(position - windowStart), position)
            let (page, step): (OggPage?, Int) = window.withUnsafeBytes { bytes in
                if let page = OggPage(UnsafeRawBufferPointer(rebasing: bytes[offset...]), offset: place) { return (page, page.size) }
                if bytes[offset...].starts(with: Self.mark) { searchBudget -= Int64(OggPage.largest) / 8 }
                let end = max(offset + 1, bytes.count - 3)
                let next = bytes[(offset + 1)..<end].firstIndex(of: 0x4f) ?? end
                return (nil, next - offset)
            }
            position += Int64(step)
            if let page { return page }
            searchBudget -= Int64(step)
        }
        return nil
    }
}
