internal import Hemiola
internal import HemiolaRIFF
internal import HemiolaSignal

/// The header of a WAV stream: RIFF, RIFX, RF64 or BW64. Parsed by `HemiolaRIFF`.
struct WAVHeader {
    var format: PCMFormat
    /// Declared size of the samples in bytes; nil where it is unknown and the stream is read to its end.
    var byteCount: Int64?

    /// Reads a header, and leaves the stream at the first sample. Blocks until the header is complete.
    init(reading stream: ByteStream) throws(CaptureError) {
        guard try stream.load(12) else {
            guard stream.count > 0 else { throw Self.empty(stream.name) }
            throw UnsupportedFormat.error(for: stream)
        }
        guard let riff = try WaveFileHeader(stream.bytes(at: stream.consumed, count: WaveFileHeader.size)) else {
            throw UnsupportedFormat.error(for: stream)
        }
        var reader = ChunkReader(stream, layout: riff.layout, from: stream.consumed + Int64(WaveFileHeader.size))
        var format: PCMFormat?
        var size64: UInt64?
        while let chunk = try reader.next() {
            switch chunk.name {
            case "data":
                guard let format else {
                    throw CaptureError("\(stream.name): this WAV stream has its data before its format; convert it with ffmpeg")
                }
                guard try stream.skip(to: chunk.offset) else { throw Self.truncated(stream.name) }
                self.format = format
                let declared = Self.declaredSize(chunk.size, size64: riff.is64Bit ? size64 : nil, fileSize: riff.fileSize, in: stream)
                byteCount = declared.flatMap { $0 / Int64(format.frameByteCount) > DeclaredLength.maximumFrames ? nil : $0 }
                return
            case "fmt ":
                guard chunk.size >= 16 else {
                    throw CaptureError(
                        "\(stream.name): this WAV stream is damaged: its format chunk is too short; check the program that writes it")
                }
                let content = try reader.content(of: chunk, limit: WaveFormat.maximumSize)
                guard content.count == min(chunk.size, Int64(WaveFormat.maximumSize)),
                    let wave = WaveFormat(content, isBigEndian: riff.isBigEndian)
                else { throw Self.truncated(stream.name) }
                format = try Self.format(wave, of: stream, isBigEndian: riff.isBigEndian)
            case "ds64" where chunk.size >= 16:
                let lengths = try reader.content(of: chunk, limit: 16)
                guard lengths.count == 16 else { throw Self.truncated(stream.name) }
                size64 = lengths.unsigned64(at: 8, isBigEndian: false)
            default: break
            }
        }
        throw Self.truncated(stream.name)
    }

    static func empty(_ name: String) -> CaptureError {
        CaptureError("\(name) is empty (0 bytes); check whether the program before the pipe failed")
    }

    private static func truncated(_ name: String) -> CaptureError {
        CaptureError(
            "\(name): this WAV stream ends within its header, before any samples; check whether the program before the pipe failed")
    }

    // MARK: - Length

    /// The declared size of the samples in bytes; nil where it is unknown.
    ///
    /// A size of 0 is a placeholder, unless the declared size of the file says that other chunks follow. A placeholder value is the actual
    /// size where the file is long enough for it.
    ///
    /// - Parameters:
    ///   - size64: The size in `ds64`.
    ///   - fileSize: The declared size of the file less 8.
    private static func declaredSize(_ length: Int64, size64: UInt64?, fileSize: Int64, in stream: ByteStream) -> Int64? {
        if let size64, length >= 0xffff_0000 {
            return size64 == 0 ? nil : Int64(exactly: size64)
        }
        if length == 0 { return fileSize + 8 > stream.consumed && !DeclaredLength.isPlaceholder(fileSize) ? 0 : nil }
        guard DeclaredLength.isPlaceholder(length) else { return length }
        guard let size = stream.size, length < 0xffff_0000, stream.consumed + length <= size else { return nil }
        return length
    }

    // MARK: - Format

    private static func format(_ wave: WaveFormat, of stream: ByteStream, isBigEndian: Bool) throws(CaptureError) -> PCMFormat {
        let tag = wave.hasStandardSubformat ? wave.subformatTag ?? wave.formatTag : wave.formatTag
        let (channelCount, sampleRate, bits) = (wave.channelCount, wave.sampleRate, wave.bitsPerSample)
        guard tag == WaveFormat.pcm || tag == WaveFormat.float else {
            throw UnsupportedFormat.error(for: stream, because: "this WAV stream holds \(name(ofTag: tag))")
        }
        guard channelCount > 0, sampleRate > 0 else {
            throw CaptureError(
                "\(stream.name): this WAV stream declares \(channelCount) channels at \(sampleRate) Hz; check the program that writes it")
        }
        let format = StreamFormat(sampleRate: sampleRate, channelCount: channelCount, channelMap: wave.channelMap)
        guard format.isSupported else {
            let (rates, counts) = (StreamFormat.sampleRates, StreamFormat.channelCounts)
            throw CaptureError(
                "\(stream.name): \(sampleRate) Hz and \(channelCount) channels are outside \(rates.lowerBound)...\(rates.upperBound) Hz "
                    + "and \(counts.lowerBound)...\(counts.upperBound) channels; \(stream.advice.conversion)")
        }
        // A sample may use fewer bits than its container: the size of the container is the block size divided by the channels.
        let bytes = wave.blockSize > 0 && wave.blockSize.isMultiple(of: channelCount) ? wave.blockSize / channelCount : (bits + 7) / 8
        guard let encoding = encoding(isFloat: tag == WaveFormat.float, bytes: bytes, bits: bits, bigEndian: isBigEndian) else {
            throw UnsupportedFormat.error(
                for: stream,
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
