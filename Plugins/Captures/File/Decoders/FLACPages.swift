/// FLAC in Ogg as native FLAC: what the pages of one logical stream hold, then those of the next one in a chained file.
///
/// A page with a wrong checksum is missing; the numbers of the frames tell what was on it.
final class FLACPages {
    let reader: OggReader
    /// What is left of the page. Valid until the next one is read.
    private var rest = UnsafeRawBufferPointer(start: nil, count: 0)[...]
    /// The serial number of the logical stream.
    private(set) var serial: UInt32 = 0
    /// Pages of the logical stream that were read.
    private var count = 0
    /// Whether the last of them says that it is the last one.
    private(set) var hasLastPage = false
    /// Whether the page is the first one of the next logical stream. Reading goes on when this is set to false.
    var isLinkOver = false

    init(_ file: InputFile, _ range: Range<Int64>) { reader = OggReader(file, range) }

    /// Copies the next bytes to `target`, at most `count`; 0 at the end of the logical stream and after an error.
    func read(into target: UnsafeMutableRawPointer, count: Int) -> Int {
        while rest.isEmpty, let page = reader.next() { begin(page) }
        if isLinkOver { return 0 }
        let next = rest.prefix(count)
        // Safe: at most `count` bytes.
        UnsafeMutableRawBufferPointer(start: target, count: next.count).copyMemory(from: UnsafeRawBufferPointer(rebasing: next))
        rest = rest[next.endIndex...]
        return next.count
    }

    private func begin(_ page: OggReader.Page) {
        // Of several streams whose first pages precede all others, the first one is read.
        if page.isFirst, count != 1, page.body.starts(with: "\u{7f}FLAC".utf8) {
            isLinkOver = count > 0
            (serial, count) = (page.serial, 1)
            // Before "fLaC": five bytes, the version of the mapping and the number of packets.
            rest = page.body.dropFirst(9)
        } else if count > 0, page.serial == serial {
            count += 1
            hasLastPage = page.isLast
            rest = page.body[...]
        }
    }
}
