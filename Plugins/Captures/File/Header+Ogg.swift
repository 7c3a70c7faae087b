internal import HemiolaRIFF

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
