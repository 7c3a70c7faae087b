internal import Hemiola
internal import HemiolaRIFF
internal import HemiolaSignal

/// What stands before the samples of a WAV stream: RIFF, RIFX (big-endian), RF64 and BW64.
///
/// - Note: Microsoft's RIFF and WAVEFORMATEXTENSIBLE; EBU Tech 3306 (RF64); ITU-R BS.2088 (BW64).
struct WAVHeader {
    var format: PCMFormat
    /// Bytes of samples, or nil when the writer did not know and the stream goes on until it ends.
    var byteCount: Int64?

    /// Reads a header and leaves the stream at the first sample. Waits for it as long as it takes.
    init(reading stream: ByteStream) throws(CaptureError) {
        guard try stream.holds(12) else {
            guard stream.count > 0 else { throw Self.empty(stream.name) }
            throw ForeignFormat.refusal(of: stream)
        }
        guard let riff = try WaveFileHeader(stream.bytes(at: stream.taken, count: WaveFileHeader.size)) else {
            throw ForeignFormat.refusal(of: stream)
        }
        var reader = ChunkReader(stream, layout: riff.layout, from: stream.taken + Int64(WaveFileHeader.size))
        var format: PCMFormat?
        var wideLength: UInt64?
        while let chunk = try reader.next() {
            switch chunk.name {
            case "data":
                guard let format else {
                    throw CaptureError("\(stream.name): this WAV stream has samples before it says in which format; convert it with ffmpeg")
                }
                guard try stream.skip(to: chunk.offset) else { throw Self.cut(stream.name) }
                self.format = format
                let promise = Self.promise(chunk.size, wide: riff.is64Bit ? wideLength : nil, total: riff.fileSize, in: stream)
                byteCount = promise.flatMap { $0 / Int64(format.frameByteCount) > DeclaredLength.maximumFrames ? nil : $0 }
                return
            case "fmt ":
                guard chunk.size >= 16 else { throw CaptureError("\(stream.name): the format of this WAV stream is cut short") }
                let content = try reader.content(of: chunk, limit: WaveFormat.maximumSize)
                guard content.count == min(chunk.size, Int64(WaveFormat.maximumSize)),
                    let wave = WaveFormat(content, isBigEndian: riff.isBigEndian)
                else { throw Self.cut(stream.name) }
                format = try Self.format(wave, of: stream, isBigEndian: riff.isBigEndian)
            case "ds64" where chunk.size >= 16:
                let lengths = try reader.content(of: chunk, limit: 16)
                guard lengths.count == 16 else { throw Self.cut(stream.name) }
                wideLength = lengths.unsigned64(at: 8, isBigEndian: false)
            default: break
            }
        }
        throw Self.cut(stream.name)
    }

    static func empty(_ name: String) -> CaptureError {
        CaptureError("\(name) is empty: not one byte came; did the program before the pipe fail?")
    }

    private static func cut(_ name: String) -> CaptureError {
        CaptureError("\(name): this WAV stream ends within its header, before any samples")
    }

    // MARK: - Length

    /// How many bytes of samples the header really promises.
    ///
    /// A length of 0 is what a writer leaves that meant to come back and fill it in, unless the RIFF's own length says that
    /// something else follows. A placeholder that a file is long enough for is the truth.
    ///
    /// - Parameters:
    ///   - wide: The length in `ds64`.
    ///   - total: The RIFF's own length.
    private static func promise(_ length: Int64, wide: UInt64?, total: Int64, in stream: ByteStream) -> Int64? {
        if let wide, length >= 0xffff_0000 {
            return wide == 0 ? nil : Int64(exactly: wide)
        }
        if length == 0 { return total + 8 > stream.taken && !DeclaredLength.isPlaceholder(total) ? 0 : nil }
        guard DeclaredLength.isPlaceholder(length) else { return length }
        guard let size = stream.size, length < 0xffff_0000, stream.taken + length <= size else { return nil }
        return length
    }

    // MARK: - Format

    private static func format(_ wave: WaveFormat, of stream: ByteStream, isBigEndian: Bool) throws(CaptureError) -> PCMFormat {
        let tag = wave.hasStandardSubformat ? wave.subformatTag ?? wave.formatTag : wave.formatTag
        let (channelCount, sampleRate, bits) = (wave.channelCount, wave.sampleRate, wave.bitsPerSample)
        guard tag == WaveFormat.pcm || tag == WaveFormat.float else {
            throw ForeignFormat.refusal(of: stream, because: "this WAV stream holds \(name(ofTag: tag))")
        }
        guard channelCount > 0, sampleRate > 0 else {
            throw CaptureError("\(stream.name): this WAV stream claims \(channelCount) channels at \(sampleRate) Hz; it is damaged")
        }
        let format = StreamFormat(sampleRate: sampleRate, channelCount: channelCount, channelMap: wave.channelMap)
        guard format.isSupported else {
            let (rates, counts) = (StreamFormat.sampleRates, StreamFormat.channelCounts)
            throw CaptureError(
                "\(stream.name): \(sampleRate) Hz and \(channelCount) channels are outside \(rates.lowerBound)...\(rates.upperBound) Hz "
                    + "and \(counts.lowerBound)...\(counts.upperBound) channels; convert it on the way: "
                    + "ffmpeg -v error -i - -ar 48000 -ac 2 -f wav - | hemiola analyze -")
        }
        // The container counts, not the bits that are used: a sample is as wide as its share of the block.
        let bytes = wave.blockSize > 0 && wave.blockSize.isMultiple(of: channelCount) ? wave.blockSize / channelCount : (bits + 7) / 8
        guard let encoding = encoding(isFloat: tag == WaveFormat.float, bytes: bytes, bits: bits, bigEndian: isBigEndian) else {
            throw ForeignFormat.refusal(
                of: stream,
                because: "this WAV stream has \(bits)-bit \(tag == WaveFormat.float ? "float" : "integer") samples in \(bytes) bytes")
        }
        return PCMFormat(encoding, format)
    }

    private static func encoding(isFloat: Bool, bytes: Int, bits: Int, bigEndian: Bool) -> PCMEncoding? {
        guard bits <= 8 * bytes else { return nil }
        return switch (isFloat, bytes) {
        case (false, 1): .u8
        case (false, 2): bigEndian ? .s16be : .s16le
        case (false, 3): bigEndian ? .s24be : .s24le
        case (false, 4): bigEndian ? .s32be : .s32le
        case (true, 4): bigEndian ? .f32be : .f32le
        case (true, 8): bigEndian ? .f64be : .f64le
        default: nil
        }
    }

    private static func name(ofTag tag: Int) -> String {
        switch tag {
        case 2: "Microsoft ADPCM"
        case 6: "A-law"
        case 7: "µ-law"
        case 0x11: "IMA ADPCM"
        case 0x31: "GSM 6.10"
        case 0x50, 0x55: "MP3"
        default: "a codec (format 0x\(String(tag, radix: 16)))"
        }
    }
}
