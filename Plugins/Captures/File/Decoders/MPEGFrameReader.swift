internal import HemiolaPCM
internal import HemiolaSystem

/// Reads the frames of MPEG audio one after the other, and finds the next one after a tag or a damaged place.
final class MPEGFrameReader {
    /// The frame that was read last.
    private(set) var frame: MPEGFrame
    /// Its offset in the file, in bytes.
    private(set) var offset: Int64
    /// Bytes between it and the frame before that belong neither to a frame nor to a tag.
    private(set) var skipped: Int64 = 0
    /// Whether the last frame of the sound is incomplete.
    private(set) var isTruncated = false

    private let file: InputFile
    /// The bytes of the file that hold the sound.
    private let range: Range<Int64>
    private let reader: FileReader
    /// The offset in the file of the next frame.
    private var position: Int64
    // Safe: room for the largest frame with its padding; freed in `deinit`.
    private let buffer: UnsafeMutableRawPointer

    /// - Parameter range: The bytes that hold the frames.
    /// - Returns: nil when there is no frame.
    init?(_ file: InputFile, _ range: Range<Int64>) {
        let end = file.bytes(at: range.upperBound - 128, count: 3).hasText("TAG", at: 0) ? range.upperBound - 128 : range.upperBound
        // Where a frame is expected, two are enough. One may be anything: text in UTF-16 begins like layer I.
        guard
            let first = file.firstMPEGFrame(from: range.lowerBound, to: end, within: 1, count: 2)
                ?? file.firstMPEGFrame(from: range.lowerBound, to: end)
        else { return nil }
        (self.file, self.range, frame, offset, position) = (file, range.lowerBound..<end, first.frame, first.offset, first.offset)
        reader = FileReader(file, self.range)
        buffer = .allocate(byteCount: MPEGFrame.largest + 4, alignment: 4)
        guard next() else { return nil }
    }

    deinit { buffer.deallocate() }

    /// The bytes of the frame, until the next one is read.
    // Safe: as many bytes as the frame has were read.
    var bytes: UnsafeBufferPointer<UInt8> { UnsafeRawBufferPointer(start: buffer, count: frame.size).bindMemory(to: UInt8.self) }

    var error: Problem? { reader.error }

    /// Whether the skipped bytes were put into a file that ended at an offset: it is longer by as many, and no other file follows there.
    func hasAddedBytes(toEnd end: Int64) -> Bool {
        range.upperBound - end >= skipped && !file.bytes(at: end, count: 16).isTag(at: 0)
            && file.firstMPEGFrame(from: end, to: range.upperBound, within: 1, count: 2) == nil
    }

    /// Makes the frame the next one again.
    func unread() { position = offset }

    /// Reads the next frame; false at the end of the sound.
    func next() -> Bool {
        skipped = 0
        if read() { return true }
        if isTruncated { return false }
        // A tag is taken at its word where frames follow it. Others declare more bytes than they have.
        let head = file.bytes(at: position, count: 16)
        let following = head.id3Size.flatMap { file.firstMPEGFrame(from: position + $0, to: range.upperBound, within: 1) }
        guard let found = following ?? file.firstMPEGFrame(from: position, to: range.upperBound) else { return false }
        // A few bytes are no frame.
        let between = found.offset - position
        skipped = between >= 24 && !head.isTag(at: 0) ? between : 0
        (frame, position) = (found.frame, found.offset)
        return read()
    }

    /// Reads the frame at `position`; false where no whole frame of the same kind begins.
    private func read() -> Bool {
        // Safe: the buffer has room for the header, and for the largest frame.
        guard reader.seek(position - range.lowerBound) >= 0, reader.read(into: buffer, count: 4) == 4,
            let next = MPEGFrame(UInt32(bigEndian: buffer.load(as: UInt32.self)), freeSize: frame.freeSize), next.kind == frame.kind
        else { return false }
        isTruncated = reader.read(into: buffer + 4, count: next.size - 4) < next.size - 4
        if isTruncated { return false }
        (frame, offset) = (next, position)
        position += Int64(next.size)
        return true
    }
}

extension InputFile {
    /// Finds the first of several consecutive frames of one kind, or of at least two that end with the sound or before a tag.
    ///
    /// - Parameters:
    ///   - end: Where the sound ends, in bytes.
    ///   - limit: Number of bytes to search, so that a call has an end: a sparse file may have any size.
    ///   - count: The number of frames.
    ///   - mayEnd: Whether two are enough at the end.
    /// - Complexity: Linear in the bytes up to the frame.
    func firstMPEGFrame(
        from offset: Int64, to end: Int64, within limit: Int64 = 1 << 30, count: Int = 4, mayEnd: Bool = true
    ) -> (frame: MPEGFrame, offset: Int64)? {
        let block = 1 << 14
        for start in stride(from: offset, to: min(end, offset + limit), by: block) {
            // Includes the frames that follow one at the end of the block.
            let bytes = bytes(at: start, count: Int(min(Int64(block + 4 * MPEGFrame.largest + 16), end - start)))
            for index in 0..<min(block, bytes.count, Int(offset + limit - start)) where bytes[index] == 0xff {
                if let frame = MPEGFrame(bytes, at: index) ?? bytes.freeFrame(at: index),
                    bytes.hasFrames(count, like: frame, at: index, isEnd: mayEnd && start + Int64(bytes.count) == end)
                {
                    return (frame, start + Int64(index))
                }
            }
        }
        return nil
    }
}

extension [UInt8] {
    /// Whether a tag begins here that players put before or after MPEG audio.
    fileprivate func isTag(at offset: Int) -> Bool {
        hasText("ID3", at: offset) || hasText("TAG", at: offset) || hasText("APETAGEX", at: offset) || hasText("LYRICSBEGIN", at: offset)
    }

    /// A frame with free bit rate: only the distance to the next one tells its size.
    fileprivate func freeFrame(at index: Int) -> MPEGFrame? {
        guard let frame = MPEGFrame(self, at: index, freeSize: 1) else { return nil }
        for next in index + 48..<Swift.max(index + 48, Swift.min(index + MPEGFrame.largest, count)) where self[next] == 0xff {
            if let other = MPEGFrame(self, at: next, freeSize: 1), other.kind == frame.kind, other.freeSize == 1 {
                return MPEGFrame(self, at: index, freeSize: next - index - frame.size + 1)
            }
        }
        return nil
    }

    /// - Parameter isEnd: Whether the sound ends with these bytes.
    fileprivate func hasFrames(_ wanted: Int, like first: MPEGFrame, at index: Int, isEnd: Bool) -> Bool {
        var next = index
        for number in 0..<wanted {
            guard let frame = MPEGFrame(self, at: next, freeSize: first.freeSize), frame.kind == first.kind else {
                return number > 1 && (isEnd && next == count || isTag(at: next))
            }
            next += frame.size
            if next > count { return isEnd && number > 0 }
        }
        return true
    }
}
