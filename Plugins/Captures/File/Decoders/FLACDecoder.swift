internal import CFLAC
internal import Hemiola
internal import HemiolaPCM

extension SharedLibrary {
    static let flac = SharedLibrary(
        "libFLAC", soname: "libFLAC.so.12", package: "libflac12", licence: "BSD-3-Clause", relation: .suggests,
        use: "FLAC files", versionSymbol: .textPointer("FLAC__VERSION_STRING"))
}

/// FLAC, native or in Ogg, through libFLAC.
///
/// A block is what one frame of FLAC holds: samples of all channels, with a number and a checksum. libFLAC leaves out the blocks that are
/// damaged, and which ones are missing follows from the numbers of the others. The MD5 sum of all samples is not compared: it takes 36 %
/// of the time of a whole analysis, and finds only the damage that a block's checksum of 16 bits does not.
final class FLACDecoder: Decoder {
    private(set) var format = StreamFormat(sampleRate: 0, channelCount: 0)
    private(set) var tags = SoundTags()
    /// In the current format, up to the end of the current link of a chained file.
    private(set) var declaredFrames: Int64?

    private let file: InputFile
    private let range: Range<Int64>
    private let reader: FileReader
    /// nil: native FLAC.
    private let ogg: FLACPages?
    // Safe: created in `init`, deleted in `deinit`; its callbacks get `self`, and are called only by functions that `self` calls.
    private let decoder: UnsafeMutablePointer<FLAC__StreamDecoder>
    /// The block STREAMINFO of the stream.
    private var info: FLAC__StreamMetadata_StreamInfo?
    /// The mask of WAVE_FORMAT_EXTENSIBLE, for channels that are not in the default order (RFC 9639, section 8.6.2).
    private var channelMask: UInt32?

    // Safe: room for the largest block of 8 channels; freed in `deinit`. What no block needs takes no memory.
    private let block = UnsafeMutablePointer<Float>.allocate(capacity: 65_535 * 8)
    /// The header of the block that was decoded last.
    private var header = FLAC__FrameHeader()
    /// The blocks that one call of libFLAC has delivered.
    private var writtenCount = 0
    /// The end of the last whole block, in bytes from the start of the range; 0 in Ogg.
    private var blockEnd: FLAC__uint64 = 0
    /// Frames of the block that are still to be read.
    private var unread = 0..<0
    /// Whether libFLAC has found anything but blocks in the stream.
    private var hasError = false
    /// The number of the frame that follows the block; nil before the first block of the stream.
    private var nextNumber: Int64?
    /// Frames before it in the current format, lost ones included.
    private var position: Int64 = 0
    /// What comes before the rest of the block.
    private var pendingGap: Gap?
    private var pendingFormat: StreamFormat?
    /// Bytes that may still be read, an error counted as 1024: libFLAC goes back behind each header whose block is damaged, and a file may
    /// imitate headers at every tenth byte.
    private var budget: Int64

    /// Loads libFLAC. Returns nil, or why it cannot be loaded.
    static func missingLibrary() -> String? {
        cflac_load().map { "\(String(cString: $0)); \(SharedLibrary.flac.remedy)" }
    }

    /// Opens a range of a file that begins with "fLaC" or a frame, or, `isOgg`, with a page.
    init(_ file: InputFile, _ range: Range<Int64>, isOgg: Bool) throws(Problem) {
        if let missing = Self.missingLibrary() ?? (isOgg ? OggReader.missingLibrary() : nil) { throw Problem(missing) }
        guard let decoder = FLAC__stream_decoder_new() else { throw Problem("no memory") }
        (self.file, self.range, self.decoder) = (file, range, decoder)
        reader = FileReader(file, range)
        ogg = isOgg ? FLACPages(file, range) : nil
        budget = 8 * reader.size + 64 << 20
        try begin()
        if info == nil {
            guard try decodeBlock() else { throw Problem("no frame of FLAC") }
            accept()
        }
        if let first = pendingFormat.take() { format = first }
    }

    deinit {
        FLAC__stream_decoder_delete(decoder)
        block.deallocate()
    }

    func skip(_ count: Int64) -> Int64 {
        guard ogg == nil, count > 0, let declaredFrames, count < declaredFrames else { return 0 }
        writtenCount = 0
        // libFLAC delivers the rest of the block that holds the frame.
        let isFound = FLAC__stream_decoder_seek_absolute(decoder, FLAC__uint64(count)) != 0
        guard isFound, writtenCount == 1, header.number.sample_number == count else {
            try? begin()
            return 0
        }
        (nextNumber, position) = (count, count)
        _ = FLAC__stream_decoder_get_decode_position(decoder, &blockEnd)
        accept()
        return count
    }

    func read(into samples: inout MutableSpan<Float>) throws(Problem) -> ReadResult {
        while true {
            if let gap = pendingGap.take() { return .gap(gap) }
            if let next = pendingFormat.take() {
                format = next
                return .format(next)
            }
            if !unread.isEmpty {
                let channels = format.channelCount
                let count = min(unread.count, samples.count / channels)
                samples.withUnsafeMutableBufferPointer { buffer in
                    // Safe: `count` frames fit both.
                    buffer.baseAddress!.update(from: block + unread.lowerBound * channels, count: count * channels)
                }
                unread.removeFirst(count)
                return .frames(count)
            }
            guard try advance() else { return .end }
        }
    }

    /// Goes on to the next block, or to the next link of a chained file; false: there is none.
    private func advance() throws(Problem) -> Bool {
        if try decodeBlock() {
            accept()
            return true
        }
        guard let ogg, ogg.isLinkOver else { return false }
        if let declaredFrames { lose(declaredFrames - position) }
        ogg.isLinkOver = false
        try begin()
        return true
    }

    /// Reads the metadata of the stream that begins.
    private func begin() throws(Problem) {
        (info, channelMask, nextNumber, declaredFrames, hasError) = (nil, nil, nil, nil, false)
        let isNative = ogg == nil
        _ = FLAC__stream_decoder_finish(decoder)
        FLAC__stream_decoder_set_metadata_respond(decoder, FLAC__METADATA_TYPE_VORBIS_COMMENT)
        let status = FLAC__stream_decoder_init_stream(
            decoder, Self.read, isNative ? Self.seek : nil, isNative ? Self.tell : nil, Self.length, { _, _ in 0 }, Self.write,
            Self.metadata, Self.error, Unmanaged.passUnretained(self).toOpaque())
        guard status == FLAC__STREAM_DECODER_INIT_STATUS_OK else { throw Problem("no memory") }
        let isWhole = FLAC__stream_decoder_process_until_end_of_metadata(decoder) != 0
        if let error = inputError { throw error }
        // Where the metadata is damaged, the frames may be whole: they are searched for behind "fLaC".
        if !isWhole { seekBack(to: 4) }
        _ = FLAC__stream_decoder_get_decode_position(decoder, &blockEnd)
        guard let info else { return }
        change(Int(info.sample_rate), Int(info.channels))
        declaredFrames = info.total_samples == 0 ? nil : position + Int64(info.total_samples)
    }

    /// Decodes the next block that is whole; false: there is none.
    private func decodeBlock() throws(Problem) -> Bool {
        while budget > 0 {
            writtenCount = 0
            _ = FLAC__stream_decoder_process_single(decoder)
            if isOverwritten, ogg == nil {
                seekBack(to: blockEnd)
            } else if writtenCount > 0 {
                _ = FLAC__stream_decoder_get_decode_position(decoder, &blockEnd)
                return true
            }
            if let error = inputError { throw error }
            if FLAC__stream_decoder_get_state(decoder) == FLAC__STREAM_DECODER_END_OF_STREAM { return false }
            budget -= 1024
        }
        throw Problem("too many damaged frames")
    }

    /// Whether libFLAC has filled a loss with silence, and, as version 1.4 does, the block after the loss, which comes last. Without the
    /// memory of a block before the loss, it decodes that one as it is. In Ogg, that block is lost as well.
    private var isOverwritten: Bool { writtenCount > 1 }

    /// Makes libFLAC search for a frame from a byte on, without the memory of those before it. Not in Ogg.
    private func seekBack(to offset: FLAC__uint64) {
        if ogg == nil, FLAC__stream_decoder_flush(decoder) != 0 { _ = reader.seek(Int64(offset)) }
    }

    private func accept() {
        // libFLAC has converted the number of a frame to that of its first sample.
        let (number, count) = (Int64(truncatingIfNeeded: header.number.sample_number), Int64(header.blocksize))
        // A stream that was recorded from its middle, and declares no length, begins with another number than 0: with that of its first
        // block, or with one that is far behind the start.
        let isJoined = !hasError || number > 60 * Int64(header.sample_rate)
        let isRecorded = info.map { isJoined && Int64($0.total_samples) < number + count } ?? true
        lose(number - (nextNumber ?? (isRecorded ? number : 0)) + (isOverwritten ? count : 0))
        let (rate, channels) = (Int(header.sample_rate), Int(header.channels))
        if rate != format.sampleRate || channels != format.channelCount { change(rate, channels) }
        nextNumber = number + count
        if isOverwritten { return }
        position += count
        unread = 0..<Int(count)
    }

    /// Notes that frames are missing, if their number is not below 1: numbers go back where files are joined.
    private func lose(_ count: Int64) {
        guard count > 0 else { return }
        let gap = Gap(frames: min(count, DeclaredLength.maximumFrames), reason: .damagedFile)
        pendingGap = gap
        position += gap.frames
    }

    private func change(_ sampleRate: Int, _ channelCount: Int) {
        // Two channels are always left and right.
        let masks = channelCount > 2 ? [channelMask, Self.channelMasks[channelCount]] : []
        let map = masks.lazy.compactMap { $0.flatMap { ChannelMap(waveMask: $0, channelCount: channelCount) } }.first
        let next = StreamFormat(sampleRate: sampleRate, channelCount: channelCount, channelMap: map)
        guard next != format else { return }
        pendingFormat = next
        declaredFrames = declaredFrames.map { max(0, $0 - position) }
        position = 0
    }

    /// The default order of channels (RFC 9639, section 9.1.3) as masks: it is that of their bits.
    private static let channelMasks: [Int: UInt32] = [3: 0x7, 4: 0x33, 5: 0x37, 6: 0x3f, 7: 0x70f, 8: 0x63f]

    /// The declared length if a second decoder finds its last frame; in Ogg, if it is that of the last page.
    var presentFrames: Int64? {
        guard let declaredFrames else { return nil }
        if let ogg { return OggReader.lastGranule(file, range, serial: ogg.serial) == declaredFrames ? declaredFrames : nil }
        guard let probe = try? FLACDecoder(file, range, isOgg: false) else { return nil }
        let isFound = FLAC__stream_decoder_seek_absolute(probe.decoder, FLAC__uint64(declaredFrames - 1)) != 0
        return isFound && probe.writtenCount > 0 ? declaredFrames : nil
    }

    /// Where a length is declared, the missing frames tell what is wrong.
    var endDamage: Gap.Reason? {
        if declaredFrames != nil { return nil }
        if let ogg { return ogg.hasLastPage ? nil : .truncatedFile }
        // The code of synchronisation behind the last block: another one is there that is not whole.
        let bytes = file.bytes(at: range.lowerBound + Int64(blockEnd), count: 2)
        return bytes == [0xff, 0xf8] || bytes == [0xff, 0xf9] ? .truncatedFile : nil
    }

    private var inputError: Problem? { ogg?.reader.error ?? reader.error }
}

// MARK: - Callbacks

extension FLACDecoder {
    /// The decoder whose address the callbacks get.
    private static func decoder(_ data: UnsafeMutableRawPointer?) -> FLACDecoder {
        Unmanaged<FLACDecoder>.fromOpaque(data!).takeUnretainedValue()
    }

    private static let read: FLAC__StreamDecoderReadCallback = { _, buffer, size, data in
        let decoder = decoder(data)
        guard decoder.budget > 0, let buffer, let size else { return FLAC__STREAM_DECODER_READ_STATUS_ABORT }
        // Safe: the buffer has `size` bytes.
        let count = decoder.ogg?.read(into: buffer, count: size.pointee) ?? decoder.reader.read(into: buffer, count: size.pointee)
        size.pointee = count
        decoder.budget -= Int64(count)
        if count > 0 { return FLAC__STREAM_DECODER_READ_STATUS_CONTINUE }
        return decoder.inputError == nil ? FLAC__STREAM_DECODER_READ_STATUS_END_OF_STREAM : FLAC__STREAM_DECODER_READ_STATUS_ABORT
    }

    private static let seek: FLAC__StreamDecoderSeekCallback = { _, offset, data in
        let isDone = decoder(data).reader.seek(Int64(truncatingIfNeeded: offset)) >= 0
        return isDone ? FLAC__STREAM_DECODER_SEEK_STATUS_OK : FLAC__STREAM_DECODER_SEEK_STATUS_ERROR
    }

    private static let tell: FLAC__StreamDecoderTellCallback = { _, offset, data in
        offset?.pointee = FLAC__uint64(decoder(data).reader.position)
        return FLAC__STREAM_DECODER_TELL_STATUS_OK
    }

    private static let length: FLAC__StreamDecoderLengthCallback = { _, length, data in
        length?.pointee = FLAC__uint64(decoder(data).reader.size)
        return FLAC__STREAM_DECODER_LENGTH_STATUS_OK
    }

    private static let error: FLAC__StreamDecoderErrorCallback = { _, _, data in
        decoder(data).budget -= 1024
        decoder(data).hasError = true
    }

    private static let metadata: FLAC__StreamDecoderMetadataCallback = { _, metadata, data in
        guard let metadata = metadata?.pointee else { return }
        let decoder = decoder(data)
        if metadata.type == FLAC__METADATA_TYPE_STREAMINFO { decoder.info = metadata.data.stream_info }
        guard metadata.type == FLAC__METADATA_TYPE_VORBIS_COMMENT else { return }
        let block = metadata.data.vorbis_comment
        // Safe: libFLAC has read as many comments, each of so many bytes, and frees them after this call.
        let comments = UnsafeBufferPointer(start: block.comments, count: Int(block.num_comments))
            .lazy.map { UnsafeBufferPointer(start: UnsafePointer($0.entry), count: $0.entry == nil ? 0 : Int($0.length)) }
        decoder.tags = SoundTags(vorbisComments: comments)
        let mask = comments.lazy.compactMap { VorbisComment($0) }.first { $0.key == "WAVEFORMATEXTENSIBLE_CHANNEL_MASK" }
        let text = mask.map { String(decoding: $0.value.prefix(16), as: UTF8.self).lowercased() }
        if let text, text.hasPrefix("0x") { decoder.channelMask = UInt32(text.dropFirst(2), radix: 16) }
    }

    private static let write: FLAC__StreamDecoderWriteCallback = { _, frame, buffer, data in
        guard let header = frame?.pointee.header, let buffer else { return FLAC__STREAM_DECODER_WRITE_STATUS_ABORT }
        let (decoder, count, step) = (decoder(data), Int(header.blocksize), Int(header.channels))
        decoder.header = header
        decoder.writtenCount += 1
        // A power of two as factor rounds no number of up to 24 bits.
        let scale = 1 / Float(1 << (Int(header.bits_per_sample) - 1))
        // Safe: libFLAC passes `count` samples of each channel, and at most 65,535 of 8.
        let samples = decoder.block
        for channel in 0..<step {
            let values = buffer[channel]!
            for index in 0..<count { samples[index &* step &+ channel] = Float(values[index]) * scale }
        }
        return FLAC__STREAM_DECODER_WRITE_STATUS_CONTINUE
    }
}
