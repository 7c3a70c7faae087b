internal import Hemiola
internal import HemiolaFiles

/// Writes a WAV file, which becomes an RF64 file (EBU Tech 3306) when it is larger than 4 GiB.
///
/// The header is written again every second of audio, so that a file whose writer was killed is valid up to then.
final class WAVEncoder: AudioEncoder {
    /// RIFF, JUNK or ds64, extensible fmt, fact, and the header of the data chunk.
    static let headerSize: Int64 = 12 + 36 + 48 + 12 + 8

    private let output: OutputFile
    private let format: StreamFormat
    private let isFloat: Bool
    private let bytesPerSample: Int
    private var quantizer: Quantizer
    private var bytes: [UInt8] = []
    /// Frames that the header states.
    private var headerFrames: Int64 = 0
    private var bytesPerFrame: Int { bytesPerSample * format.channelCount }

    init(_ output: OutputFile, _ format: StreamFormat, _ encoding: SampleEncoding) throws(Problem) {
        self.output = output
        self.format = format
        isFloat = encoding == .float
        bytesPerSample = isFloat ? 4 : encoding.bits / 8
        quantizer = Quantizer(bits: encoding.bits)
        try writeHeader()
    }

    var clippedSamples: Int64 { quantizer.clippedSamples }
    var writtenFrames: Int64 { max(0, output.size - Self.headerSize) / Int64(bytesPerFrame) }

    func write(_ samples: Span<Float>) throws(Problem) {
        if isFloat {
            try samples.bytes.withUnsafeBytes { bytes throws(Problem) in try append(bytes) }
        } else {
            quantizer.convert(samples)
            bytes.removeAll(keepingCapacity: true)
            for value in quantizer.values {
                for byte in 0..<bytesPerSample { bytes.append(UInt8(truncatingIfNeeded: value >> (8 * Int32(byte)))) }
            }
            let bytes = bytes
            try bytes.span.bytes.withUnsafeBytes { bytes throws(Problem) in try append(bytes) }
        }
        if writtenFrames - headerFrames >= Int64(format.sampleRate) { try writeHeader() }
    }

    private func append(_ bytes: UnsafeRawBufferPointer) throws(Problem) {
        try output.write(bytes, at: output.size)
    }

    func complete() throws(Problem) {
        // A chunk of odd length is followed by a byte of padding.
        let length = writtenFrames * Int64(bytesPerFrame)
        output.truncate(to: Self.headerSize + length)
        try writeHeader()
        if length % 2 == 1 {
            let padding: [UInt8] = [0]
            try padding.span.bytes.withUnsafeBytes { bytes throws(Problem) in try append(bytes) }
        }
    }

    private func writeHeader() throws(Problem) {
        let frames = writtenFrames
        let header = header(frames: frames)
        try header.span.bytes.withUnsafeBytes { bytes throws(Problem) in try output.write(bytes, at: 0) }
        headerFrames = frames
    }

    private func header(frames: Int64) -> [UInt8] {
        let length = frames * Int64(bytesPerFrame)
        let riffSize = Self.headerSize - 8 + length + length % 2
        let isLarge = riffSize >= 0xFFFF_FFFF
        func limited(_ size: Int64) -> UInt64 { isLarge ? 0xFFFF_FFFF : UInt64(size) }
        var header = LittleEndianBytes()
        header.append(isLarge ? "RF64" : "RIFF")
        header.append(limited(riffSize), 4)
        header.append("WAVE")
        header.append(isLarge ? "ds64" : "JUNK")
        header.append(28, 4)
        header.append(isLarge ? UInt64(riffSize) : 0, 8)
        header.append(isLarge ? UInt64(length) : 0, 8)
        header.append(isLarge ? UInt64(frames) : 0, 8)
        header.append(0, 4)
        header.append("fmt ")
        header.append(40, 4)
        header.append(0xFFFE, 2)
        header.append(UInt64(format.channelCount), 2)
        header.append(UInt64(format.sampleRate), 4)
        header.append(UInt64(format.sampleRate * bytesPerFrame), 4)
        header.append(UInt64(bytesPerFrame), 2)
        header.append(UInt64(8 * bytesPerSample), 2)
        header.append(22, 2)
        header.append(UInt64(8 * bytesPerSample), 2)
        header.append(UInt64(channelMask), 4)
        // The subformat: KSDATAFORMAT_SUBTYPE_PCM or KSDATAFORMAT_SUBTYPE_IEEE_FLOAT.
        header.append(isFloat ? 3 : 1, 4)
        header.append(0x0010_0000, 4)
        header.append(0x719B_3800_AA00_0080, 8)
        header.append("fact")
        header.append(4, 4)
        header.append(limited(frames), 4)
        header.append("data")
        header.append(limited(length), 4)
        return header.bytes
    }

    /// The loudspeakers of WAVE_FORMAT_EXTENSIBLE; 0: not known.
    private var channelMask: UInt32 {
        switch format.channelCount {
        case 1: 0x4
        case 2: 0x3
        default: (format.channelMap?.positions ?? []).reduce(0) { $0 | 1 << UInt32($1.rawValue - 1) }
        }
    }
}

private struct LittleEndianBytes {
    private(set) var bytes: [UInt8] = []

    mutating func append(_ text: String) {
        bytes += Array(text.utf8)
    }

    /// Appends the lowest `count` bytes of a number.
    mutating func append(_ number: UInt64, _ count: Int) {
        for byte in 0..<count { bytes.append(UInt8(truncatingIfNeeded: number >> UInt64(8 * byte))) }
    }
}
