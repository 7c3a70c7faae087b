internal import CXiph
internal import HemiolaSystem

extension SharedLibrary {
    // It does not say its version.
    static let ogg = SharedLibrary(
        "libogg", soname: "libogg.so.0", package: "libogg0", licence: "BSD-3-Clause", relation: .suggests, use: "Ogg files",
        versionSymbol: nil)
}

/// The codec of a logical stream in Ogg, by the first bytes of its first packet.
enum OggCodec: String, CaseIterable {
    case vorbis = "\u{1}vorbis"
    case opus = "OpusHead"
    case flac = "\u{7f}FLAC"

    init?(packet: UnsafeRawBufferPointer) {
        guard let codec = Self.allCases.first(where: { packet.starts(with: $0.rawValue.utf8) }) else { return nil }
        self = codec
    }

    /// The codec of the first stream of a file that is one of these: others may be pictures.
    init?(_ file: InputFile, _ range: Range<Int64>) {
        let reader = OggReader(file, range.lowerBound..<min(range.lowerBound + 1 << 16, range.upperBound))
        while let page = reader.next(), page.isFirst {
            guard let codec = OggCodec(packet: page.body) else { continue }
            self = codec
            return
        }
        return nil
    }
}

/// Reads the pages of an Ogg file in order, through libogg, which skips bytes between pages and pages with a wrong checksum. Forward only.
final class OggReader {
    /// A page, valid until the next one is read.
    struct Page {
        let content: ogg_page
        // Safe: libogg has so many bytes.
        var body: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: content.body, count: content.body_len) }
        /// Whether it is the first, and the last, of its logical stream.
        var isFirst: Bool { fact(ogg_page_bos) != 0 }
        var isLast: Bool { fact(ogg_page_eos) != 0 }
        /// Whether the last packet ends on a later page: its last segment has 255 bytes.
        var goesOn: Bool { content.header[content.header_len - 1] == 255 && content.header_len > 27 }
        /// The granule position at the end of the last packet that ends on this page; -1 where none ends, or where no file can have it.
        var granule: Int64 { max(-1, fact(ogg_page_granulepos)) }
        /// The packets that end on this page.
        var packetCount: Int64 { Int64(fact(ogg_page_packets)) }
        var serial: UInt32 { UInt32(bitPattern: fact(ogg_page_serialno)) }

        private func fact<Value>(_ function: (UnsafePointer<ogg_page>?) -> Value) -> Value {
            withUnsafePointer(to: content) { function($0) }
        }
    }

    private let reader: FileReader
    // Safe: initialised in `init`, cleared in `deinit`.
    private var sync = ogg_sync_state()
    private var isAtEnd = false
    /// Whether the bytes after the last page begin as a page does: one that is cut or damaged.
    private(set) var endsWithinPage = false
    /// False pages that may still be checked: a file may imitate a page of 64 KiB at every fourth byte.
    private var checkBudget: Int64

    /// More than the largest page.
    private static let step = 1 << 16

    init(_ file: InputFile, _ range: Range<Int64>) {
        precondition(cxiph_load() == nil, "a reader after a `missingLibrary()`")
        reader = FileReader(file, range)
        checkBudget = 10_000 + reader.size / 4096
        ogg_sync_init(&sync)
    }

    deinit { ogg_sync_clear(&sync) }

    /// Loads libogg, libvorbis and libopus. Returns nil, or why they cannot be loaded.
    static func missingLibrary() -> String? {
        guard let file = cxiph_load().map({ String(cString: $0) }) else { return nil }
        let libraries: [SharedLibrary] = [.ogg, .vorbis, .opus]
        let remedy = libraries.first { "\($0.soname)" == file }?.remedy
        return "\(file) cannot be loaded; \(remedy ?? "")"
    }

    /// Why `next` has ended before the end of the file.
    var error: Problem? { checkBudget == 0 ? Problem("too many damaged pages") : reader.error }

    /// The next page with a valid checksum; nil: there is none.
    func next() -> Page? {
        var page = ogg_page()
        while checkBudget > 0 {
            // Safe: libogg has these bytes.
            let unread = UnsafeRawBufferPointer(start: sync.data, count: Int(sync.fill)).dropFirst(Int(sync.returned))
            let mayBePage = unread.starts(with: "OggS".utf8)
            if mayBePage { endsWithinPage = true }
            let size = ogg_sync_pageseek(&sync, &page)
            if size > 0 {
                endsWithinPage = false
                return Page(content: page)
            }
            if size < 0, mayBePage { checkBudget -= 1 }
            if size == 0, !fill() { return nil }
        }
        return nil
    }

    /// Gives libogg more bytes, and zeros at the end: so a page that is cut has a wrong checksum, unless only zeros are missing, and pages are
    /// searched for in its bytes.
    private func fill() -> Bool {
        guard !isAtEnd, let target = ogg_sync_buffer(&sync, Self.step) else { return false }
        let count = reader.read(into: target, count: Self.step)
        isAtEnd = count == 0
        // Safe: libogg has made room for so many bytes.
        if isAtEnd { target.update(repeating: 0, count: Self.step) }
        return ogg_sync_wrote(&sync, isAtEnd ? Self.step : count) == 0
    }

    /// The granule position at the end of a file of one stream; nil: there are several, or its last 128 KiB tell none.
    static func lastGranule(_ file: InputFile, _ range: Range<Int64>, serial: UInt32) -> Int64? {
        let reader = OggReader(file, max(range.lowerBound, range.upperBound - 128 * 1024)..<range.upperBound)
        var granule: Int64?
        while let page = reader.next() {
            if page.isFirst, granule != nil { return nil }
            granule = page.serial == serial ? page.granule : -1
        }
        return granule == -1 ? nil : granule
    }
}
