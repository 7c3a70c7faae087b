internal import CBeatWeights
internal import HemiolaSignal

/// An error in a weights file of `BeatNetwork`.
struct NetworkWeightsError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = "weights of the beat network: \(description)"
    }
}

/// One convolution of `BeatNetwork` over `taps` frames, `dilation` frames apart.
///
/// A frame has `rows · channels` values, row by row; the outputs too. An output row is computed from `run` consecutive values of each
/// tap. The runs of neighbouring rows begin `step` values apart.
struct Convolution: Sendable {
    var taps: Int
    var dilation = 1
    var run: Int
    var step = 0
    var rows = 1
    /// Outputs of a row, in vectors of eight.
    var vectors: Int
    /// Indices in `NetworkWeights.values`: of the biases [vector][8], and of the weights [vector][tap][value of the run][8].
    var firstBias: Int
    var firstWeight: Int
}

/// The contents of a weights file, arranged for `BeatNetwork`: whole vectors of eight outputs. `Training/FEATURES.md` describes the file.
struct NetworkWeights: Sendable {
    static let channels = 8
    static let blockCount = 9
    private static let magic: UInt32 = 0x4e42_4d48  // "HMBN"
    private static let version: UInt32 = 1

    /// Whether the network reads no frame after the current one.
    let isCausal: Bool
    /// Share of the onset activation in the beat activation.
    let onsetShare: Float
    /// Factors and summands of the normalization, each for levels and increases.
    let scales: SIMD2<Float>
    let offsets: SIMD2<Float>
    let first, second, entry, heads: Convolution
    /// The convolution over time and the 1 × 1 convolution of each block.
    let blocks: [(dilated: Convolution, mixing: Convolution)]
    let values: [Float]

    /// The network for live audio, which is a part of the program.
    static func causal() -> NetworkWeights { built(cbeatweights_causal()) }

    /// The network for whole files, which is a part of the program.
    static func wholeFile() -> NetworkWeights { built(cbeatweights_whole_file()) }

    private static func built(_ file: cbeatweights_file) -> NetworkWeights {
        do {
            return try NetworkWeights(UnsafeRawBufferPointer(start: file.bytes, count: file.count))
        } catch {
            preconditionFailure(error.description)
        }
    }

    /// Decodes the contents of a weights file.
    init(_ bytes: UnsafeRawBufferPointer) throws(NetworkWeightsError) {
        var reader = WeightsReader(bytes)
        guard try reader.integer() == Self.magic else { throw NetworkWeightsError("not a weights file") }
        guard try reader.integer() == Self.version else { throw NetworkWeightsError("unsupported version; export the network again") }
        var header: [Int] = []
        for _ in 0..<7 { header.append(Int(try reader.integer())) }
        let (width, bits) = (header[3], header[6])
        guard header[0] <= 1, header[1] == BandFilter.bandCount, header[2] == Self.channels, (1...256).contains(width),
            header[4] == Self.blockCount, header[5] <= 1, [8, 16, 32].contains(bits)
        else { throw NetworkWeightsError("unsupported dimensions; export the network again") }
        reader.bits = bits
        isCausal = header[0] == 1
        onsetShare = try reader.float()
        scales = SIMD2(try reader.float(), try reader.float())
        offsets = SIMD2(try reader.float(), try reader.float())
        let secondRows = (BandFilter.bandCount - 3) / 2
        let entryRows = (secondRows - 1) / 2
        first = try reader.convolution(outputs: Self.channels, channels: 2, frames: 3, bands: 5, rows: secondRows)
        second = try reader.convolution(outputs: Self.channels, channels: Self.channels, frames: 3, bands: 3, rows: entryRows)
        entry = try reader.convolution(outputs: width, channels: Self.channels, bands: entryRows, others: header[5])
        var blocks: [(Convolution, Convolution)] = []
        for index in 0..<Self.blockCount {
            var dilated = try reader.convolution(outputs: width, channels: width, frames: 5)
            dilated.dilation = 1 << index
            blocks.append((dilated, try reader.convolution(outputs: width, channels: width)))
        }
        self.blocks = blocks
        heads = try reader.convolution(outputs: 3, channels: width)
        guard reader.offset == bytes.count else { throw NetworkWeightsError("\(bytes.count - reader.offset) bytes too many") }
        values = reader.values
    }
}

/// Reads a weights file from its start.
private struct WeightsReader {
    private let bytes: UnsafeRawBufferPointer
    private(set) var offset = 0
    /// Bits of a weight: 8 and 16 are integers with a scale for each output, 32 is floating point.
    var bits = 32
    private(set) var values: [Float] = []

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    private mutating func read<Value: BitwiseCopyable>(_: Value.Type) throws(NetworkWeightsError) -> Value {
        guard bytes.count - offset >= MemoryLayout<Value>.size else { throw NetworkWeightsError("truncated") }
        defer { offset += MemoryLayout<Value>.size }
        return bytes.loadUnaligned(fromByteOffset: offset, as: Value.self)
    }

    mutating func integer() throws(NetworkWeightsError) -> UInt32 {
        UInt32(littleEndian: try read(UInt32.self))
    }

    mutating func float() throws(NetworkWeightsError) -> Float {
        Float(bitPattern: try integer())
    }

    private mutating func weight() throws(NetworkWeightsError) -> Float {
        switch bits {
        case 8: Float(try read(Int8.self))
        case 16: Float(Int16(littleEndian: try read(Int16.self)))
        default: try float()
        }
    }

    /// Reads a convolution: biases, scales, and weights [output][channel][frame][band]. Appends them to `values`, with zeros up to
    /// whole vectors of outputs and of channels.
    ///
    /// - Parameter others: Number of further inputs after those of all channels. One value per row is reserved for them.
    mutating func convolution(
        outputs: Int, channels: Int, frames: Int = 1, bands: Int = 1, rows: Int = 1, others: Int? = nil
    ) throws(NetworkWeightsError) -> Convolution {
        let paddedChannels = channels == 2 ? 2 : (channels + 7) & ~7
        // An even number of values.
        let run = bands * paddedChannels + (others == nil ? 0 : 2)
        let vectors = (outputs + 7) / 8
        let firstBias = values.count
        let firstWeight = firstBias + 8 * vectors
        values += Array(repeating: 0, count: 8 * vectors * (1 + frames * run))
        for output in 0..<outputs { values[firstBias + output] = try float() }
        var scales = Array(repeating: Float(1), count: outputs)
        if bits < 32 { for output in 0..<outputs { scales[output] = try float() } }
        for output in 0..<outputs {
            let start = firstWeight + output / 8 * frames * run * 8 + output % 8
            for channel in 0..<channels {
                for frame in 0..<frames {
                    for band in 0..<bands {
                        values[start + 8 * (frame * run + band * paddedChannels + channel)] = try weight() * scales[output]
                    }
                }
            }
            for other in 0..<(others ?? 0) { values[start + 8 * (bands * paddedChannels + other)] = try weight() * scales[output] }
        }
        return Convolution(
            taps: frames, run: run, step: 2 * paddedChannels, rows: rows, vectors: vectors, firstBias: firstBias, firstWeight: firstWeight)
    }
}
