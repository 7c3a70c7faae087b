internal import Hemiola
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
        let isWide = stream.spells("RF64") || stream.spells("BW64")
        let bigEndian = stream.spells("RIFX")
        guard isWide || bigEndian || stream.spells("RIFF"), stream.spells("WAVE", at: 8) else {
            throw ForeignFormat.refusal(of: stream)
        }
        let total = stream.word32(at: 4, bigEndian: bigEndian)
        stream.take(12)

        var format: PCMFormat?
        var wideLength: UInt64?
        while true {
            guard try stream.holds(8) else { throw Self.cut(stream.name) }
            let length = stream.word32(at: 4, bigEndian: bigEndian)
            let isFormat = stream.spells("fmt ")
            let isWideLength = stream.spells("ds64")
            let isAudio = stream.spells("data")
            stream.take(8)
            if isAudio {
                guard let format else {
                    throw CaptureError("\(stream.name): this WAV stream has samples before it says in which format; convert it with ffmpeg")
                }
                self.format = format
                let promise = Self.promise(length, wide: isWide ? wideLength : nil, total: total, in: stream)
                byteCount = promise.flatMap { $0 / Int64(format.frameByteCount) > Self.longestPromise ? nil : $0 }
                return
            }
            if isFormat {
                let needed = min(length, 40)
                guard needed >= 16 else { throw CaptureError("\(stream.name): the format of this WAV stream is cut short") }
                guard try stream.holds(Int(needed)) else { throw Self.cut(stream.name) }
                format = try Self.format(stream, length: Int(needed), bigEndian: bigEndian)
            } else if isWideLength, length >= 16 {
                guard try stream.holds(16) else { throw Self.cut(stream.name) }
                wideLength = stream.word64(at: 8)
            }
            // Chunks begin at even places.
            guard try stream.skip(length + length % 2) else { throw Self.cut(stream.name) }
        }
    }

    static func empty(_ name: String) -> CaptureError {
        CaptureError("\(name) is empty: not one byte came; did the program before the pipe fail?")
    }

    private static func cut(_ name: String) -> CaptureError {
        CaptureError("\(name): this WAV stream ends within its header, before any samples")
    }

    // MARK: - Length

    /// 265 days at 48 kHz: a longer promise is damage.
    private static let longestPromise: Int64 = 1 << 40

    /// Lengths that stand for "not known": all ones (ffmpeg, RF64), the largest signed one less a block or a header (SoX
    /// 0x7ffff000, arecord 0x7fffff00, others 0x7fffffff and 0x80000000), and 0x7f000000.
    private static func isPlaceholder(_ length: Int64) -> Bool {
        (0x7f00_0000...0x7f00_ffff).contains(length) || (0x7fff_0000...0x8000_0000).contains(length) || length >= 0xffff_0000
    }

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
        if length == 0 { return total + 8 > stream.taken && !isPlaceholder(total) ? 0 : nil }
        guard isPlaceholder(length) else { return length }
        guard let size = stream.size, length < 0xffff_0000, stream.taken + length <= size else { return nil }
        return length
    }

    // MARK: - Format

    private static let integer = 1
    private static let float = 3
    private static let extensible = 0xfffe

    /// The GUID of an extensible format after its first two bytes: Microsoft's, and the one of ambisonic B-format.
    private static let subformats: [StaticString] = [
        "\0\0\0\0\u{10}\0", "\0\0\u{21}\u{07}",
    ]

    private static func format(_ stream: ByteStream, length: Int, bigEndian: Bool) throws(CaptureError) -> PCMFormat {
        var tag = stream.word16(at: 0, bigEndian: bigEndian)
        let channelCount = stream.word16(at: 2, bigEndian: bigEndian)
        let mask = tag == extensible && length >= 24 ? UInt32(stream.word32(at: 20, bigEndian: bigEndian)) : 0
        let sampleRate = Int(stream.word32(at: 4, bigEndian: bigEndian))
        let blockBytes = stream.word16(at: 12, bigEndian: bigEndian)
        let bits = stream.word16(at: 14, bigEndian: bigEndian)
        if tag == extensible, length >= 40, subformats.contains(where: { stream.spells($0, at: 26) }) {
            tag = stream.word16(at: 24, bigEndian: bigEndian)
        }
        guard tag == integer || tag == float else {
            throw ForeignFormat.refusal(of: stream, because: "this WAV stream holds \(name(ofTag: tag))")
        }
        guard channelCount > 0, sampleRate > 0 else {
            throw CaptureError("\(stream.name): this WAV stream claims \(channelCount) channels at \(sampleRate) Hz; it is damaged")
        }
        let format = StreamFormat(
            sampleRate: sampleRate, channelCount: channelCount, channelMap: ChannelMap(waveMask: mask, channelCount: channelCount))
        guard format.isSupported else {
            let (rates, counts) = (StreamFormat.sampleRates, StreamFormat.channelCounts)
            throw CaptureError(
                "\(stream.name): \(sampleRate) Hz and \(channelCount) channels are outside \(rates.lowerBound)...\(rates.upperBound) Hz "
                    + "and \(counts.lowerBound)...\(counts.upperBound) channels; convert it on the way: "
                    + "ffmpeg -v error -i - -ar 48000 -ac 2 -f wav - | hemiola analyze -")
        }
        // The container counts, not the bits that are used: a sample is as wide as its share of the block.
        let bytes = blockBytes > 0 && blockBytes.isMultiple(of: channelCount) ? blockBytes / channelCount : (bits + 7) / 8
        guard let encoding = encoding(isFloat: tag == float, bytes: bytes, bits: bits, bigEndian: bigEndian) else {
            throw ForeignFormat.refusal(
                of: stream, because: "this WAV stream has \(bits)-bit \(tag == float ? "float" : "integer") samples in \(bytes) bytes")
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
