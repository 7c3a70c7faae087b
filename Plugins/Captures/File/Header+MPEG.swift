internal import HemiolaRIFF

extension Header {
    /// MPEG audio has no file header; encoders put a silent frame first that declares the length (`Xing`, `Info`, `VBRI`).
    ///
    /// Without that tag, libsndfile derives the length from the size of the first frame and never reads beyond it, which loses most
    /// of a file with variable bit rate. So the reported end of file is then beyond any file's.
    mutating func readMPEG(_ file: InputFile, from start: Int64) {
        var head = file.bytes(at: start, count: 4096)
        guard let frame = head.indices.first(where: { MPEGFrame(head, at: $0) != nil }), frame == 0 || start > 0 else { return }
        let isVersion1 = head[frame + 1] & 0x08 != 0
        let isMono = head[frame + 3] & 0xc0 == 0xc0
        let tag = frame + 4 + (isVersion1 ? (isMono ? 17 : 32) : (isMono ? 9 : 17))
        let ending = Self.tagsAtEnd(of: file)
        if head.hasText("Xing", at: tag) || head.hasText("Info", at: tag), head.count >= tag + 16 {
            let flags = head.unsigned32(at: tag + 4, isBigEndian: true)
            hasLengthTag = flags & 1 != 0
            if flags & 3 == 3 {
                let declared = Int64(head.unsigned32(at: tag + 12, isBigEndian: true))
                let audio = start + Int64(frame)
                data = DataRegion(offset: audio, declared: declared, present: max(0, file.size - audio))
                if data!.isTruncated {
                    // mpg123 would print an error about the difference.
                    view.reportedEnd = audio + declared
                } else if file.size - ending > audio + declared, file.firstMPEGFrame(from: audio + declared) != nil {
                    // Concatenated files: with the tag of the first one, libsndfile would not read the others.
                    hasLengthTag = false
                    data = nil
                    head.replaceSubrange(tag..<tag + 4, with: [0, 0, 0, 0])
                    view = ByteView(header: head, replacedCount: start + Int64(head.count))
                } else {
                    view.reportedEnd = audio + declared
                }
            }
        } else if head.hasText("VBRI", at: frame + 36) {
            hasLengthTag = true
        }
        if !hasLengthTag {
            view.reportedEnd = 1 << 50
            view.trimmedCount = ending
        }
        findMPEGSections(file, from: start + Int64(frame), to: file.size - ending)
    }

    /// Walks from frame to frame, and makes a section of each range between two places where frames are missing or damaged.
    ///
    /// mpg123 skips such a place without an error, which shifts the audio after it, or stops there.
    private mutating func findMPEGSections(_ file: InputFile, from start: Int64, to end: Int64) {
        var reader = MPEGFrameReader(file)
        var position = start
        var sectionStart = start
        var frameCount: Int64 = 0
        // Size of all frames and of the first one, in bytes.
        var sounding: Int64 = 0
        var firstSize: Int64 = 0
        var kind: UInt16?
        var found: [Section] = []
        var lossBefore = Section.Loss.nothing
        while position < end {
            if let frame = reader.frame(at: position), frame.kind == kind ?? frame.kind {
                kind = frame.kind
                position += Int64(frame.size)
                if frameCount == 0 { firstSize = Int64(frame.size) }
                sounding += Int64(frame.size)
                frameCount += 1
                continue
            }
            guard let kind, frameCount > 0, found.count < Self.sectionLimit, let next = file.nextMPEGFrame(from: position, kind: kind),
                next < end
            else { break }
            // The format changes: the decoder reports it.
            if next == position { break }
            let tag = file.bytes(at: position, count: 16)
            if tag.isTag {
                // Concatenated files: nothing is missing.
                let end = tag.id3Size.map { position + $0 } ?? next
                if end > next, reader.frame(at: end)?.kind == kind {
                    position = end
                    continue
                }
                if end > next {
                    // The tag declares more bytes than it has: mpg123 would skip the frames among them.
                    found.append(mpegSection(from: sectionStart, to: position, of: file, lossBefore, isFirst: found.isEmpty))
                    lossBefore = .nothing
                    sectionStart = next
                }
                position = next
                continue
            }
            // The first frame may be a length tag of another size.
            let meanSize =
                frameCount > 1 ? Double(sounding - firstSize) / Double(frameCount - 1) : Double(max(firstSize, 1))
            let lost = Int64(max(1, (Double(next - position) / meanSize).rounded()))
            found.append(mpegSection(from: sectionStart, to: position, of: file, lossBefore, isFirst: found.isEmpty))
            lossBefore = .frames(lost * Int64(MPEGFrame.frameLength(kind)))
            sectionStart = next
            position = next
        }
        let isTruncated = position > end
        guard !found.isEmpty || isTruncated else { return }
        var last = mpegSection(from: sectionStart, to: end, of: file, lossBefore, isFirst: found.isEmpty)
        last.isTruncated = isTruncated
        sections = found + [last]
    }

    private func mpegSection(
        from start: Int64, to end: Int64, of file: InputFile, _ loss: Section.Loss, isFirst: Bool
    ) -> Section {
        var section = Section(view: view, lossBefore: loss)
        if !isFirst { section.view = ByteView(replacedCount: start, reportedEnd: 1 << 50) }
        section.view.trimmedCount = file.size - end
        return section
    }

    /// Size in bytes of the tags at the end of an MPEG audio file, APE and then ID3v1, which mpg123 would report as damaged frames.
    private static func tagsAtEnd(of file: InputFile) -> Int64 {
        var size: Int64 = 0
        if file.bytes(at: file.size - ByteView.tagSize, count: 3).hasText("TAG", at: 0) { size = ByteView.tagSize }
        let footer = file.bytes(at: file.size - size - 32, count: 32)
        guard footer.count == 32, footer.hasText("APETAGEX", at: 0) else { return size }
        // The size includes the items and this footer, but not the optional header.
        let items = Int64(footer.unsigned32(at: 12, isBigEndian: false))
        let header: Int64 = footer[23] & 0x80 != 0 ? 32 : 0
        return items + header + size < file.size ? size + items + header : size
    }
}

/// The four-byte header of a frame of MPEG audio. ISO/IEC 11172-3, 2.4.1.3, and 13818-3 for the lower rates.
struct MPEGFrame: Hashable {
    /// Version, layer, sample rate and whether the frame is mono: constant within a stream.
    var kind: UInt16
    /// Size of the frame in bytes, including this header.
    var size: Int

    /// nil where no frame begins: no sync word, or a forbidden value in a field. A frame with "free" bit rate has no known size and
    /// counts as none.
    init?(_ bytes: [UInt8], at offset: Int) {
        guard offset >= 0, bytes.count >= offset + 4, bytes[offset] == 0xff, bytes[offset + 1] & 0xe0 == 0xe0 else { return nil }
        // 0: version 2.5, 2: version 2, 3: version 1; layers count down from 3, which is layer I.
        let version = Int(bytes[offset + 1] >> 3 & 3)
        let layer = 4 - Int(bytes[offset + 1] >> 1 & 3)
        let rateIndex = Int(bytes[offset + 2] >> 2 & 3)
        let bitRateIndex = Int(bytes[offset + 2] >> 4)
        guard version != 1, layer != 4, rateIndex != 3, (1...14).contains(bitRateIndex) else { return nil }
        let rate = [44100, 48000, 32000][rateIndex] >> (version == 3 ? 0 : version == 2 ? 1 : 2)
        let kilobits = (version == 3 ? Self.kilobits1[layer - 1] : Self.kilobits2[min(layer, 2) - 1])[bitRateIndex - 1]
        let padding = Int(bytes[offset + 2] >> 1 & 1)
        size =
            switch layer {
            case 1: (12000 * kilobits / rate + padding) * 4
            case 3 where version != 3: 72000 * kilobits / rate + padding
            default: 144000 * kilobits / rate + padding
            }
        let isMono: UInt16 = bytes[offset + 3] & 0xc0 == 0xc0 ? 1 : 0
        kind = UInt16(bytes[offset + 1] & 0xfe) << 8 | UInt16(bytes[offset + 2] & 0x0c) | isMono
    }

    /// Bit rates of version 1 by layer, in kbit/s.
    private static let kilobits1 = [
        [32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
        [32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
        [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
    ]
    /// Bit rates of versions 2 and 2.5, in kbit/s: layer I, then layers II and III.
    private static let kilobits2 = [
        [32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
        [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
    ]
}

extension MPEGFrame {
    /// Samples per channel in a frame.
    static func frameLength(_ kind: UInt16) -> Int {
        // The second byte of the frame: version 3 is MPEG-1; layers count down from 3, which is layer I.
        let (version, layer) = (kind >> 11 & 3, 4 - (kind >> 9 & 3))
        return layer == 1 ? 384 : layer == 3 && version != 3 ? 576 : 1152
    }
}

/// Reads the headers of MPEG frames, buffered.
private struct MPEGFrameReader {
    private let file: InputFile
    private var window: [UInt8] = []
    private var windowStart: Int64 = 0

    init(_ file: InputFile) { self.file = file }

    /// nil where no frame begins.
    mutating func frame(at position: Int64) -> MPEGFrame? {
        if position < windowStart || position + 4 > windowStart + Int64(window.count) {
            window = file.bytes(at: position, count: 1 << 17)
            windowStart = position
        }
        return MPEGFrame(window, at: Int(position - windowStart))
    }
}

extension [UInt8] {
    /// Whether these bytes begin with a tag that players put before or after MPEG audio.
    fileprivate var isTag: Bool {
        hasText("ID3", at: 0) || hasText("TAG", at: 0) || hasText("APETAGEX", at: 0) || hasText("LYRICSBEGIN", at: 0)
    }

    /// Declared size in bytes of the ID3 tag that these bytes begin with, including header and footer; nil without a tag.
    fileprivate var id3Size: Int64? {
        guard count >= 10, hasText("ID3", at: 0), self[6..<10].allSatisfy({ $0 < 0x80 }) else { return nil }
        return 10 + self[6..<10].reduce(0) { $0 << 7 | Int64($1) } + (self[5] & 0x10 != 0 ? 10 : 0)
    }
}

extension InputFile {
    /// Offset of the next MPEG audio of a kind within 64 KiB, else of any kind. The preference matters because four damaged headers in
    /// a row may look like those of another kind.
    func nextMPEGFrame(from offset: Int64, kind: UInt16) -> Int64? {
        firstMPEGFrame(from: offset, kind: kind, within: 1 << 16) ?? firstMPEGFrame(from: offset)
    }

    /// Finds the first of four consecutive frames of one kind, or of at least two that end with the file.
    ///
    /// - Parameters:
    ///   - wanted: The kind; nil: any.
    ///   - limit: Number of bytes to search.
    /// - Returns: The offset in bytes; nil when there is none.
    func firstMPEGFrame(from offset: Int64, kind wanted: UInt16? = nil, within limit: Int64 = 16 << 20) -> Int64? {
        let block = 1 << 16
        for start in stride(from: offset, to: min(size, offset + limit), by: block) {
            // Includes the frames that follow one at the end of the block.
            let bytes = bytes(at: start, count: block + 4 * 2881)
            for index in 0..<min(block, bytes.count) where bytes[index] == 0xff {
                var next = index
                var count = 0
                let kind = MPEGFrame(bytes, at: index)?.kind
                if let wanted, kind != wanted { continue }
                while count < 4, let frame = MPEGFrame(bytes, at: next), frame.kind == kind {
                    next += frame.size
                    count += 1
                }
                if count == 4 || count > 1 && start + Int64(next) == size { return start + Int64(index) }
            }
        }
        return nil
    }
}
