internal import CBeatWeights
internal import HemiolaSystem

/// A convolution of `BeatNetwork` over `taps` frames, `dilation` frames apart.
///
/// A row of outputs is computed from `run` consecutive values of each of these frames. The runs of neighbouring rows begin `step` values
/// apart.
struct Convolution: Sendable {
    var taps: Int
    var dilation: Int
    var run: Int
    var step: Int
    var rows: Int
    /// Outputs of a row, in vectors of eight.
    var vectors: Int
    /// Index in `NetworkWeights.values` of the biases [vector][8]. The weights [vector][tap][value of the run][8] follow.
    var start: Int
}

/// The contents of a weights file, which `Training/FEATURES.md` describes, arranged for `BeatNetwork`.
struct NetworkWeights: Sendable {
    /// Whether the network reads no frame after the current one.
    let isCausal: Bool
    /// Share of the onset activation in the beat activation.
    let onsetShare: Float
    /// The normalization of levels and increases: scale · x + offset.
    let scales, offsets: SIMD2<Float>
    /// The layers in their order: two over bands, the entry, the blocks with their 1 × 1 convolutions, the heads.
    let layers: [(convolution: Convolution, mixing: Convolution?)]
    let values: [Float]

    /// The network for live audio, and the network for whole files, which are compiled into the program.
    static func causal() -> NetworkWeights { decode(cbeatweights_causal()) }
    static func wholeFile() -> NetworkWeights { decode(cbeatweights_whole_file()) }
    /// The causal network whose outputs are kick, snare and hi-hat, likewise.
    static func drums() -> NetworkWeights { decode(cbeatweights_drums()) }

    private static func decode(_ file: cbeatweights_file) -> NetworkWeights {
        do {
            return try NetworkWeights(UnsafeRawBufferPointer(start: file.bytes, count: file.count))
        } catch {
            preconditionFailure("weights of the beat network: \(error.description)")
        }
    }

    /// Decodes the contents of a weights file.
    init(_ bytes: UnsafeRawBufferPointer) throws(Problem) {
        var reader = WeightsReader(bytes: bytes)
        guard try reader.integer() == 0x4e42_4d48 else { throw Problem("not a weights file") }  // "HMBN"
        guard try reader.integer() == 1 else { throw Problem("unsupported version; export the network again") }
        let (causal, bands, channels) = (try reader.integer(), try reader.integer(), try reader.integer())
        let (width, blocks, onsetInputs) = (try reader.integer(), try reader.integer(), try reader.integer())
        reader.bits = try reader.integer()
        guard causal <= 1, bands == BandFilter.bandCount, channels == 8, (1...256).contains(width), (1...9).contains(blocks),
            onsetInputs <= 1,
            [8, 16, 32].contains(reader.bits)
        else { throw Problem("unsupported dimensions; export the network again") }
        isCausal = causal == 1
        onsetShare = try reader.float()
        scales = SIMD2(try reader.float(), try reader.float())
        offsets = SIMD2(try reader.float(), try reader.float())
        // Rows of the first and of the second convolution, each of which reads every second row of its input.
        let rows = ((bands - 3) / 2, ((bands - 3) / 2 - 1) / 2)
        var layers: [(Convolution, Convolution?)] = [
            (try reader.convolution(outputs: channels, channels: 2, frames: 3, bands: 5, rows: rows.0), nil),
            (try reader.convolution(outputs: channels, channels: channels, frames: 3, bands: 3, rows: rows.1), nil),
            (try reader.convolution(outputs: width, channels: channels, bands: rows.1, onsetInputs: onsetInputs), nil),
        ]
        for block in 0..<blocks {
            let dilated = try reader.convolution(outputs: width, channels: width, frames: 5, dilation: 1 << block)
            layers.append((dilated, try reader.convolution(outputs: width, channels: width)))
        }
        layers.append((try reader.convolution(outputs: 3, channels: width), nil))
        guard reader.offset == bytes.count else { throw Problem("\(bytes.count - reader.offset) bytes too many") }
        (self.layers, values) = (layers, reader.values)
    }
}

/// Reads a weights file from its start.
private struct WeightsReader {
    let bytes: UnsafeRawBufferPointer
    var offset = 0
    /// Bits of a weight: 8 and 16 are integers with a scale for each output, 32 is floating point.
    var bits = 32
    /// The biases and weights of the convolutions so far.
    var values: [Float] = []

    private mutating func read<Value: FixedWidthInteger & BitwiseCopyable>() throws(Problem) -> Value {
        guard bytes.count - offset >= MemoryLayout<Value>.size else { throw Problem("truncated") }
        defer { offset += MemoryLayout<Value>.size }
        return Value(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Value.self))
    }

    mutating func integer() throws(Problem) -> Int { Int(try read() as UInt32) }

    mutating func float() throws(Problem) -> Float { Float(bitPattern: try read()) }

    private mutating func weight() throws(Problem) -> Float {
        bits == 8 ? Float(try read() as Int8) : bits == 16 ? Float(try read() as Int16) : try float()
    }

    /// Reads the biases, the scales and the weights [output][channel][frame][band] of a convolution. Appends biases and weights to
    /// `values`, with zeros up to whole vectors of outputs and of hidden channels.
    ///
    /// - Parameter onsetInputs: Number of inputs for the onset activation, 0 or 1, or nil. Unless nil, a run ends with the onset activation
    ///   and one unused value, because its number of values is even.
    mutating func convolution(
        outputs: Int, channels: Int, frames: Int = 1, dilation: Int = 1, bands: Int = 1, rows: Int = 1, onsetInputs: Int? = nil
    ) throws(Problem) -> Convolution {
        let padded = channels == 2 ? 2 : (channels + 7) & ~7
        let result = Convolution(
            taps: frames, dilation: dilation, run: bands * padded + (onsetInputs == nil ? 0 : 2), step: 2 * padded, rows: rows,
            vectors: (outputs + 7) / 8, start: values.count)
        values += Array(repeating: 0, count: 8 * result.vectors * (1 + frames * result.run))
        for output in 0..<outputs { values[result.start + output] = try float() }
        var scales = Array(repeating: Float(1), count: outputs)
        if bits < 32 { for output in 0..<outputs { scales[output] = try float() } }
        for output in 0..<outputs {
            let start = result.start + 8 * (result.vectors + output / 8 * frames * result.run) + output % 8
            for channel in 0..<channels {
                for frame in 0..<frames {
                    for band in 0..<bands {
                        values[start + 8 * (frame * result.run + band * padded + channel)] = try weight() * scales[output]
                    }
                }
            }
            if onsetInputs == 1 { values[start + 8 * bands * padded] = try weight() * scales[output] }
        }
        return result
    }
}
