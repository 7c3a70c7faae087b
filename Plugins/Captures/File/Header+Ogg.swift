internal import HemiolaRIFF

extension Header {
    /// Ogg: finds the links of a chained file, missing and damaged pages, and whether the last page is present.
    ///
    /// libsndfile reads the first link only, and skips missing pages without an error, which shifts the audio after them. So every
    /// link, and every intact range between two damaged places of a link, becomes a section with a decoder of its own.
    ///
    /// - Complexity: O(bytes of the file): every page's checksum is computed.
    mutating func readOgg(_ file: InputFile, from start: Int64) {
        channelOrder = ChannelOrder(oggPage: file.bytes(at: start, count: 27 + 255 + 64))
        var reader = OggPageReader(file, from: start)
        var link: OggLink?
        var splitsLeft = Self.sectionLimit
        while let page = reader.next() {
            if page.isFirst, link?.hasOnlyFirstPages ?? false {
                // Several multiplexed streams, for example video and audio.
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
            view.replacedCount = max(view.replacedCount, start)
            sections[0].view = view
        }
    }

    /// Maximum number of damaged places in a file that begin a section. Each section costs a decoder and, in Ogg, a copy of the
    /// stream's header. The decoder skips any further damaged place. The links of a chained Ogg file are not limited, because a
    /// section takes no more memory than the smallest link.
    static let sectionLimit = 1000
}

/// The state of one link, a logical stream, while its pages are read.
private struct OggLink {
    var isMultiplexed = false
    private(set) var hasOnlyFirstPages = true
    private let start: Int64
    private let serial: UInt32
    /// Header packets not yet read; nil for an unknown codec.
    private var headerPackets: Int?
    /// Offset of the first page after the header packets, in bytes; nil before it is reached.
    private var headerEnd: Int64?
    private var lastSequence: UInt32
    /// Offset of the end of the last page, in bytes.
    private var end: Int64
    private var hasEndPage = false
    /// Offset of the current section in bytes, its last granule position, and that of the section before.
    private var sectionStart: Int64
    private var lastGranule: Int64?
    private var granuleBefore: Int64?
    private var sectionCount = 0
    /// Damaged places that can still begin a section, 0….
    private(set) var splitsLeft: Int
    /// Whether pages are missing inside the current section.
    private var isSectionDamaged = false
    /// Granules per second, where they are not the decoder's frames: 48000 for Opus, at any sample rate.
    private let granuleRate: Int?
    /// The header pages, read when a second section needs them.
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

    /// Processes the next page of the file.
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

    /// Processes the end of the link.
    mutating func finish(into header: inout Header, of file: InputFile) {
        closeSection(isLast: true, into: &header, of: file)
        guard !header.sections.isEmpty else { return }
        header.sections[header.sections.count - 1].isTruncated = !hasEndPage
    }

    private mutating func closeSection(isLast: Bool = false, into header: inout Header, of file: InputFile) {
        defer { lastGranule = nil }
        // Pages without a granule position hold less than a second: they count as lost.
        if lastGranule == nil, headerEnd != nil, !(isLast && sectionCount == 0) { return }
        var section = Section()
        section.view.trimmedCount = file.size - end
        section.isDamaged = isSectionDamaged
        if sectionStart == start {
            section.view.replacedCount = start
        } else {
            guard let lastGranule, let headerEnd, headerEnd - start < 16 << 20 else { return }
            if headerBytes.isEmpty { headerBytes = file.bytes(at: start, count: Int(headerEnd - start)) }
            section.view.header = headerBytes
            section.view.replacedCount = sectionStart
            section.lossBefore = .distance(lastGranule - (granuleBefore ?? 0), perSecond: granuleRate)
        }
        granuleBefore = lastGranule ?? granuleBefore
        header.sections.append(section)
        sectionCount += 1
    }
}
