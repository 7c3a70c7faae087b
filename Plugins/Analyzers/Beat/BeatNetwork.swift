internal import HemiolaSignal

/// Computes activations of onsets, beats and downbeats from the values of `BandFilter`: two convolutions over bands, nine blocks of
/// dilated convolutions over time, and three sigmoids. `Training/FEATURES.md` describes the layers.
///
/// In the causal network, an output depends on the frames up to its own; in the network for whole files, also on the 1024 frames after
/// it. Each layer reads zeros outside the recording.
///
/// - Complexity: 53 000 multiplications per frame, no allocation; 0.35 MB.
struct BeatNetwork: Sendable {
    /// The activations of one frame, 0…1.
    struct Output: Sendable {
        var onset: Float = 0
        /// Mean of `networkBeat` and the onset activation of `BandFilter`, weighted with the network's onset share.
        var beat: Float = 0
        var networkBeat: Float = 0
        var downbeat: Float = 0
    }

    /// A convolution and the latest frames of its input: as many as it spans.
    private struct Layer {
        let convolution: Convolution
        /// The 1 × 1 convolution of a block, whose output is added to the block's input.
        let mixing: Convolution?
        var input: FrameRing
        /// Number of frames that the convolution reads after the frame of its output.
        let lookahead: Int
        /// Number of frames until the first output.
        var missing: Int
    }

    private let weights: NetworkWeights
    private var layers: [Layer] = []
    /// The ring buffers of all layers, then the hidden values of a block.
    private var memory: [Float]
    private let hidden: FrameRing
    /// The onset activations of the latest frames, for the delay between input and output.
    private var onsets: [Float]
    /// Numbers of frames so far: of the input, of the input of the layer `entry`, and of the output.
    private var counts = (input: 0, entry: 0, output: 0)
    /// Index in `layers` of the layer that reads the onset activation.
    private static let entry = 2

    init(_ weights: NetworkWeights) {
        self.weights = weights
        var size = 0
        for (convolution, mixing) in weights.layers {
            let span = (convolution.taps - 1) * convolution.dilation
            let lookahead = weights.isCausal ? 0 : span / 2
            let width = ((convolution.rows - 1) * convolution.step + convolution.run + 7) & ~7
            let input = FrameRing(start: size, width: width, frames: span + 1)
            layers.append(Layer(convolution: convolution, mixing: mixing, input: input, lookahead: lookahead, missing: lookahead))
            size += width * (span + 1)
        }
        hidden = FrameRing(start: size, width: 8 * layers[Self.entry].convolution.vectors, frames: 1)
        memory = Array(repeating: 0, count: size + hidden.width)
        onsets = Array(repeating: 0, count: 1 + layers.reduce(0) { $0 + $1.lookahead })
    }

    /// Number of frames between the input and the output: 0 or 1024.
    var delay: Int { onsets.count - 1 }

    /// Returns to the initial state: at the start, and after a gap.
    mutating func reset() {
        for index in memory.indices { memory[index] = 0 }
        for index in layers.indices { (layers[index].input.next, layers[index].missing) = (0, layers[index].lookahead) }
        counts = (0, 0, 0)
    }

    /// Processes the next frame.
    ///
    /// - Returns: The output of the frame `delay` frames earlier; nil during the first frames.
    mutating func advance(_ bands: BandFilter) -> Output? {
        onsets[counts.input % onsets.count] = bands.onset
        counts.input += 1
        let start = layers[0].input.nextIndex
        for band in 0..<BandFilter.bandCount {
            let index = BandFilter.firstIndex + band
            let values = weights.scales * SIMD2(bands.levels[index], bands.increases[index]) + weights.offsets
            (memory[start + 2 * band], memory[start + 2 * band + 1]) = (values.x, values.y)
        }
        return run(from: 0)
    }

    /// Processes the end of the recording: passes the outputs of the last `delay` frames to `body`, and returns to the initial state.
    mutating func finish(_ body: (Output) -> Void) {
        for index in layers.indices {
            for _ in 0..<layers[index].lookahead {
                let input = layers[index].input
                for value in input.nextIndex..<input.nextIndex + input.width { memory[value] = 0 }
                if let output = run(from: index) { body(output) }
            }
        }
        reset()
    }

    /// Runs the layers from `first` on, whose next input frame is in its ring buffer.
    ///
    /// - Returns: The output; nil if a layer lacks frames.
    private mutating func run(from first: Int) -> Output? {
        let hidden = hidden
        for index in first..<layers.count {
            layers[index].input.advance()
            guard layers[index].missing == 0 else {
                layers[index].missing -= 1
                return nil
            }
            let layer = layers[index]
            if index == Self.entry {
                memory[layer.input.start + layer.convolution.run - 2] = onsets[counts.entry % onsets.count]
                counts.entry += 1
            }
            let (isHeads, isLastBlock) = (index + 1 == layers.count, index + 2 == layers.count)
            let output = isHeads ? hidden.start : layers[index + 1].input.nextIndex
            weights.values.withUnsafeBufferPointer { weights in
                memory.withUnsafeMutableBufferPointer { memory in
                    let (weights, memory) = (weights.baseAddress!, memory.baseAddress!)
                    if let mixing = layer.mixing {
                        layer.convolution.run(weights, memory, input: layer.input, output: hidden.start)
                        memory.apply(hidden.start, count: hidden.width) { $0.elu }
                        mixing.run(weights, memory, input: hidden, output: output)
                        let residual = layer.input.index(age: layer.lookahead)
                        for lanes in stride(from: 0, to: hidden.width, by: 8) {
                            let sum = memory.lanes(output + lanes) + memory.lanes(residual + lanes)
                            memory.store(isLastBlock ? sum.elu : sum, output + lanes)
                        }
                    } else {
                        layer.convolution.run(weights, memory, input: layer.input, output: output)
                        memory.apply(output, count: 8 * layer.convolution.rows * layer.convolution.vectors) {
                            isHeads ? $0.sigmoid : $0.elu
                        }
                    }
                }
            }
        }
        let onset = onsets[counts.output % onsets.count]
        counts.output += 1
        let beat = memory[hidden.start + 1]
        return Output(
            onset: memory[hidden.start], beat: beat + weights.onsetShare * (onset - beat), networkBeat: beat,
            downbeat: memory[hidden.start + 2])
    }
}

/// A ring buffer of frames in an array of several.
struct FrameRing: Sendable {
    /// Index of the first value in the array.
    let start: Int
    /// Values of a frame.
    let width: Int
    let frames: Int
    /// Number of the frame that is written next.
    var next = 0

    /// Index of the frame that is written next.
    var nextIndex: Int { start + next * width }

    /// Index of the frame that is `age` frames older than the newest; `age` is less than `frames`.
    func index(age: Int) -> Int {
        let frame = next - 1 - age
        return start + (frame < 0 ? frame + frames : frame) * width
    }

    /// Makes the next frame the newest.
    mutating func advance() {
        next = next + 1 == frames ? 0 : next + 1
    }
}

extension Convolution {
    /// Computes one frame of outputs from `input`, a ring buffer in `memory`, and writes it to `memory` from index `output` on.
    ///
    /// The order of the additions is fixed. Even and odd values of the runs are added separately, which halves the time.
    func run(_ weights: UnsafePointer<Float>, _ memory: UnsafeMutablePointer<Float>, input: FrameRing, output: Int) {
        for row in 0..<rows {
            var weight = weights + start + 8 * vectors
            for vector in 0..<vectors {
                var (even, odd) = (weights.lanes(start + 8 * vector), Lanes.zero)
                for tap in 0..<taps {
                    let values = memory + input.index(age: (taps - 1 - tap) * dilation) + row * step
                    for index in stride(from: 0, to: run, by: 2) {
                        even += Lanes(repeating: values[index]) * weight.lanes(0)
                        odd += Lanes(repeating: values[index + 1]) * weight.lanes(8)
                        weight += 16
                    }
                }
                memory.store(even + odd, output + 8 * (row * vectors + vector))
            }
        }
    }
}

extension UnsafeMutablePointer<Float> {
    /// Replaces `count` values, a multiple of eight, by a function of them.
    @inline(__always)
    fileprivate func apply(_ start: Int, count: Int, _ function: (Lanes) -> Lanes) {
        for index in stride(from: start, to: start + count, by: 8) { store(function(lanes(index)), index) }
    }
}

extension Lanes {
    /// eˣ of each lane; constant below −87 and above 87.
    @inline(__always)
    private var exponential: Lanes {
        let power = self * 1.442_695_04
        return power.replacing(with: -126, where: power .< -126).replacing(with: 126, where: power .> 126).approximateExp2
    }

    /// x for x > 0, else eˣ − 1.
    @inline(__always)
    fileprivate var elu: Lanes {
        maximum(with: .zero) + (replacing(with: 0, where: self .> 0).exponential - 1)
    }

    /// 1 / (1 + e⁻ˣ).
    @inline(__always)
    fileprivate var sigmoid: Lanes {
        1 / ((-self).exponential + 1)
    }
}
