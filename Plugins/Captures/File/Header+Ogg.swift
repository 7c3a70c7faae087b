extension Header {
    /// Ogg: finds the links of a chained file, the places where pages are missing or damaged, and whether the last page is there.
    ///
    /// libsndfile sees the first link only, and passes over missing pages without a word: what follows would come too early.
    /// So every link, and what lies between two damaged places of one, becomes a section, which is decoded by itself.
    ///
    /// - Complexity: O(bytes of the file): every page's checksum is computed.
    mutating func readOgg(_ file: InputFile, from start: Int64) {
        channelOrder = ChannelOrder(oggPage: file.bytes(at: start, count: 27 + 255 + 64))
        var reader = OggPageReader(file, from: start)
        var link: OggLink?
        var splitsLeft = Self.sectionLimit
        while let page = reader.next() {
            if page.isFirst, link?.hasOnlyFirstPages ?? false {
                // Several streams side by side, film and sound for example.
                link?.isMultiplexed = true
            } else if page.isFirst {
                link?.finish(into: &self, of: file)
                splitsLeft = link?.splitsLeft ?? splitsLeft
                link = OggLink(page, splitsLeft: splitsLeft)
            } else {
                link?.add(page, file, to: &self)
            }
        }
        link?.finish(into: &self, of: file)
        if sections.count == 1, sections[0].view.header.isEmpty {
            view = sections[0].view
            view.replaced = max(view.replaced, start)
            sections[0].view = view
        }
    }

    /// Damaged places of a file at most that begin a section. Each costs a decoder of its own and, in Ogg, a copy of the stream's
    /// header. Behind the last of them damaged places do not end a section: the decoder passes over them. The links of a chained
    /// Ogg file are not limited: a section takes about as many bytes as the smallest link.
    static let sectionLimit = 1000
}

/// One logical stream of an Ogg file while its pages are walked.
private struct OggLink {
    var isMultiplexed = false
    private(set) var hasOnlyFirstPages = true
    private let start: Int64
    private let serial: UInt32
    /// Packets of header that are still to come; nil for a codec whose header is not known.
    private var headerPackets: Int?
    /// Where the sound begins.
    private var headerEnd: Int64?
    private var lastSequence: UInt32
    /// The end of the last page, in the file.
    private var end: Int64
    private var hasEndPage = false
    /// Where the section under way begins, and its last granule position; those of the one before it.
    private var sectionStart: Int64
    private var lastGranule: Int64?
    private var granuleBefore: Int64?
    private var sectionCount = 0
    /// Damaged places that may still begin a section, 0….
    private(set) var splitsLeft: Int
    /// Whether pages are missing inside of the section under way.
    private var isSectionDamaged = false
    /// Granules per second, where they are not the decoder's frames: Opus counts at 48 kHz whatever its rate.
    private let granuleRate: Int?
    /// The pages of header, once they are needed a second time.
    private var headerBytes: [UInt8] = []

    init(_ page: OggPage, splitsLeft: Int) {
        self.splitsLeft = splitsLeft
        start = page.offset
        sectionStart = page.offset
        serial = page.serial
        lastSequence = page.sequence
        end = page.end
        hasEndPage = page.isLast
        headerPackets = page.start.hasText("OpusHead", at: 0) ? 2 : page.start.hasText("\u{1}vorbis", at: 0) ? 3 : nil
        granuleRate = page.start.hasText("OpusHead", at: 0) ? 48_000 : nil
        takeHeader(page)
    }

    /// Goes on with the next page of the file.
    mutating func add(_ page: OggPage, _ file: InputFile, to header: inout Header) {
        hasOnlyFirstPages = false
        if isMultiplexed {
            end = page.end
            hasEndPage = hasEndPage || page.isLast
            return
        }
        guard page.serial == serial else { return }
        if headerEnd == nil {
            takeHeader(page)
        } else if page.sequence != lastSequence &+ 1 {
            if splitsLeft > 0 {
                let count = header.sections.count
                closeSection(into: &header, of: file)
                splitsLeft -= header.sections.count - count
                sectionStart = page.offset
            } else {
                isSectionDamaged = true
            }
        }
        if headerEnd != nil, page.granule > 0 { lastGranule = page.granule }
        lastSequence = page.sequence
        end = page.end
        hasEndPage = hasEndPage || page.isLast
    }

    private mutating func takeHeader(_ page: OggPage) {
        guard let count = headerPackets else { return }
        headerPackets = count - page.packetCount
        if count <= page.packetCount { headerEnd = page.end }
    }

    /// The link ends here.
    mutating func finish(into header: inout Header, of file: InputFile) {
        closeSection(isLast: true, into: &header, of: file)
        guard !header.sections.isEmpty else { return }
        header.sections[header.sections.count - 1].lacksEnd = !hasEndPage
    }

    private mutating func closeSection(isLast: Bool = false, into header: inout Header, of file: InputFile) {
        defer { lastGranule = nil }
        // Pages from which no time can be read hold less than a second: they are part of what is lost.
        if lastGranule == nil, headerEnd != nil, !(isLast && sectionCount == 0) { return }
        var section = Section()
        section.view.hidden = file.size - end
        section.isDamaged = isSectionDamaged
        if sectionStart == start {
            section.view.replaced = start
        } else {
            guard let lastGranule, let headerEnd, headerEnd - start < 16 << 20 else { return }
            if headerBytes.isEmpty { headerBytes = file.bytes(at: start, count: Int(headerEnd - start)) }
            section.view.header = headerBytes
            section.view.replaced = sectionStart
            section.lossBefore = .distance(lastGranule - (granuleBefore ?? 0), perSecond: granuleRate)
        }
        granuleBefore = lastGranule ?? granuleBefore
        header.sections.append(section)
        sectionCount += 1
    }
}

/// A page of an Ogg file whose checksum is right. RFC 3533, section 6.
struct OggPage: Hashable {
    var offset: Int64
    var size: Int
    var isFirst: Bool
    var isLast: Bool
    /// The position at the end of the last packet that ends on it; -1 where none ends.
    var granule: Int64
    var serial: UInt32
    var sequence: UInt32
    /// Packets that end on it.
    var packetCount: Int
    /// The first bytes behind the page's own header.
    var start: [UInt8]

    var end: Int64 { offset + Int64(size) }

    /// A page has at most 255 segments of 255 bytes.
    static let largest = 27 + 255 + 255 * 255

    /// nil where no page begins or its checksum is wrong.
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
        let stated = bytes.loadUnaligned(fromByteOffset: 22, as: UInt32.self).littleEndian
        var checksum = OggChecksum()
        checksum.add(UnsafeRawBufferPointer(rebasing: bytes[..<22]))
        checksum.addZeros(4)
        checksum.add(UnsafeRawBufferPointer(rebasing: bytes[26..<size]))
        guard checksum.value == stated else { return nil }
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

/// The checksum of Ogg pages: CRC-32 of the polynomial 0x04c11db7, neither reflected nor inverted.
struct OggChecksum {
    private(set) var value: UInt32 = 0

    /// What a byte does to the checksum, and what it does one to three bytes further on: four bytes are taken at a time.
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

/// Reads the pages of an Ogg file in order; what lies between them and is no page is passed over.
struct OggPageReader {
    private let file: InputFile
    private var window: [UInt8] = []
    private var windowStart: Int64
    /// Where the next page is looked for.
    private var position: Int64
    /// Bytes that may still be looked at in vain: a hostile file could begin a page of 64 KiB at every fourth byte.
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
