internal import CBeatWeights
internal import HemiolaSignal

/// Computes activations of onsets, beats and downbeats from the values of `BandFilter`: two convolutions over bands, nine blocks of
/// dilated convolutions over time, and three sigmoids. `Training/FEATURES.md` describes the layers.
///
/// In the causal network, an output depends on the frames up to its own; in the network for whole files, also on the 1024 frames after
/// it. Each layer reads zeros outside the recording.
///
/// - Complexity: 149 000 multiplications per frame at width 48; no allocation.
struct BeatNetwork: Sendable {
    /// The number of frames that are processed together: those of a usual batch, so that each weight is loaded once for all of them.
    static let groupSize = 4

    /// The activations of one frame, 0…1.
    struct Output: Sendable {
        var onset: Float = 0
        /// Mean of `networkBeat` and the onset activation of `BandFilter`, weighted with the network's onset share.
        var beat: Float = 0
        var networkBeat: Float = 0
        var downbeat: Float = 0
        /// `isSilent` of `BandFilter`.
        var isSilent = true
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

    /// Number of frames between the input and the output: 0 or 1024.
    let delay: Int
    private let weights: NetworkWeights
    private var layers: [Layer] = []
    /// The ring buffers of all layers, then the hidden values of a block, and the outputs of the heads.
    private var memory: [Float]
    private let hidden: FrameRing
    /// Onset activation and silence of the latest frames, for the delay between input and output.
    private var sources: [(onset: Float, isSilent: Bool)]
    /// The outputs of the last group, and the number of frames of the next one.
    private(set) var outputs: [Output] = []
    private var pending = 0
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
            let input = FrameRing(start: size, width: width, frames: span + Self.groupSize)
            layers.append(Layer(convolution: convolution, mixing: mixing, input: input, lookahead: lookahead, missing: lookahead))
            size += width * input.frames
        }
        hidden = FrameRing(start: size, width: 8 * layers[Self.entry].convolution.vectors, frames: Self.groupSize)
        memory = Array(repeating: 0, count: size + hidden.width * hidden.frames)
        delay = layers.reduce(0) { $0 + $1.lookahead }
        sources = Array(repeating: (0, true), count: delay + Self.groupSize)
        outputs.reserveCapacity(Self.groupSize)
    }

    /// Returns to the initial state: at the start, and after a gap.
    mutating func reset() {
        for index in memory.indices { memory[index] = 0 }
        for index in layers.indices { (layers[index].input.next, layers[index].missing) = (0, layers[index].lookahead) }
        counts = (0, 0, 0)
        pending = 0
        outputs.removeAll(keepingCapacity: true)
    }

    /// Adds a frame to the next group, which has at most `groupSize` frames.
    mutating func add(_ bands: borrowing BandFilter) {
        precondition(pending < Self.groupSize)
        sources[counts.input % sources.count] = (bands.onset, bands.isSilent)
        counts.input += 1
        let start = layers[0].input.nextIndex(pending)
        for band in 0..<BandFilter.bandCount {
            let index = BandFilter.firstIndex + band
            let values = weights.scales * SIMD2(bands.levels[index], bands.increases[index]) + weights.offsets
            (memory[start + 2 * band], memory[start + 2 * band + 1]) = (values.x, values.y)
        }
        pending += 1
    }

    /// Whether the group has `groupSize` frames.
    var isGroupComplete: Bool { pending == Self.groupSize }

    /// Processes the group of frames, and sets `outputs` to the outputs of the frames `delay` frames earlier: none during the first
    /// frames. The outputs do not depend on how the frames are grouped.
    mutating func run() {
        outputs.removeAll(keepingCapacity: true)
        run(from: 0, frames: pending)
        pending = 0
    }

    /// Processes the end of the recording: passes the outputs of the last `delay` frames and of the current group to `body`, and returns
    /// to the initial state.
    mutating func finish(_ body: (Output) -> Void) {
        run()
        outputs.forEach(body)
        for index in layers.indices {
            for first in stride(from: 0, to: layers[index].lookahead, by: Self.groupSize) {
                let (input, frames) = (layers[index].input, min(Self.groupSize, layers[index].lookahead - first))
                for frame in 0..<frames {
                    for value in 0..<input.width { memory[input.nextIndex(frame) + value] = 0 }
                }
                outputs.removeAll(keepingCapacity: true)
                run(from: index, frames: frames)
                outputs.forEach(body)
            }
        }
        reset()
    }

    /// Runs the layers from `first` on, whose next input frames are in its ring buffer, and appends the outputs, if any.
    private mutating func run(from first: Int, frames: Int) {
        var frames = frames
        for index in first..<layers.count {
            layers[index].input.advance(by: frames)
            let skipped = min(frames, layers[index].missing)
            layers[index].missing -= skipped
            frames -= skipped
            if frames == 0 { return }
            run(index, frames: frames)
        }
    }

    /// Runs a layer for the newest `frames` outputs.
    private mutating func run(_ index: Int, frames: Int) {
        let (layer, hidden) = (layers[index], hidden)
        let (isHeads, isLastBlock) = (index + 1 == layers.count, index + 2 == layers.count)
        let next = isHeads ? hidden : layers[index + 1].input
        weights.values.withUnsafeBufferPointer { values in
            memory.withUnsafeMutableBufferPointer { memory in
                let (values, memory) = (values.baseAddress!, memory.baseAddress!)
                if index == Self.entry {
                    for frame in 0..<frames {
                        let onset = layer.input.index(age: frames - 1 - frame) + layer.convolution.run - 2
                        memory[onset] = sources[counts.entry % sources.count].onset
                        counts.entry += 1
                    }
                }
                let output = layer.mixing == nil ? next : hidden
                layer.convolution.run(values, memory, frames: frames) { frame, tap in
                    layer.input.index(age: frames - 1 - frame + (layer.convolution.taps - 1 - tap) * layer.convolution.dilation)
                } output: {
                    output.nextIndex($0)
                }
                for frame in 0..<frames {
                    memory.apply(output.nextIndex(frame), count: layer.convolution.outputCount) { isHeads ? $0.sigmoid : $0.elu }
                }
                guard let mixing = layer.mixing else { return }
                mixing.run(values, memory, frames: frames) { frame, _ in
                    hidden.nextIndex(frame)
                } output: {
                    next.nextIndex($0)
                }
                for frame in 0..<frames {
                    let (sum, residual) = (next.nextIndex(frame), layer.input.index(age: layer.lookahead + frames - 1 - frame))
                    for lanes in stride(from: 0, to: hidden.width, by: 8) {
                        let value = memory.lanes(sum + lanes) + memory.lanes(residual + lanes)
                        memory.store(isLastBlock ? value.elu : value, sum + lanes)
                    }
                }
            }
        }
        guard isHeads else { return }
        for frame in 0..<frames {
            let (source, output) = (sources[counts.output % sources.count], hidden.nextIndex(frame))
            let beat = memory[output + 1]
            counts.output += 1
            outputs.append(
                Output(
                    onset: memory[output], beat: beat + weights.onsetShare * (source.onset - beat), networkBeat: beat,
                    downbeat: memory[output + 2], isSilent: source.isSilent))
        }
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

    /// Index of the frame that is written `frame` frames after the next one.
    func nextIndex(_ frame: Int) -> Int {
        start + (next + frame < frames ? next + frame : next + frame - frames) * width
    }

    /// Index of the frame that is `age` frames older than the newest; `age` is less than `frames`.
    func index(age: Int) -> Int {
        let frame = next - 1 - age
        return start + (frame < 0 ? frame + frames : frame) * width
    }

    /// Makes the last of the next `count` frames the newest.
    mutating func advance(by count: Int) {
        next += next + count < frames ? count : count - frames
    }
}

extension Convolution {
    var outputCount: Int { 8 * rows * vectors }

    /// Computes `frames` frames of outputs, at most `BeatNetwork.groupSize`.
    ///
    /// - Parameters:
    ///   - input: The place in `memory` of the input of a frame and tap.
    ///   - output: The place of the output of a frame.
    fileprivate func run(
        _ weights: UnsafePointer<Float>, _ memory: UnsafeMutablePointer<Float>, frames: Int, input: (Int, Int) -> Int,
        output: (Int) -> Int
    ) {
        var convolution = cbeatweights_convolution(
            taps: Int32(taps), run: Int32(run), step: Int32(step), rows: Int32(rows), vectors: Int32(vectors))
        withUnsafeTemporaryAllocation(of: Int32.self, capacity: frames * (taps + 1)) { places in
            for frame in 0..<frames {
                for tap in 0..<taps { places[frame * taps + tap] = Int32(input(frame, tap)) }
                places[frames * taps + frame] = Int32(output(frame))
            }
            let inputs = places.baseAddress!
            cbeatweights_convolve(&convolution, weights + start, memory, inputs, inputs + frames * taps, Int32(frames))
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
