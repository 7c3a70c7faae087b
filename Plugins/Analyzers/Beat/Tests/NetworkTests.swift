import CBeatWeights
import Foundation
import HemiolaRecords
import HemiolaSignal
import HemiolaSystem
import HemiolaTesting
import Testing

@testable import BeatAnalyzer

/// The networks that are compiled into the program, in the order of the test vectors.
private enum Network: CaseIterable {
    case causal, wholeFile, drums

    var weights: NetworkWeights {
        switch self {
        case .causal: .causal()
        case .wholeFile: .wholeFile()
        case .drums: .drums()
        }
    }
}

/// The test vectors of `python -m beats.export vectors`: input and outputs of the reference in Training.
private struct Vectors {
    /// Band amplitudes of each frame.
    var amplitudes: [[Float]] = []
    /// Distance of the frames in `levels` and `increases`.
    var step: Int
    var levels: [[Float]] = []
    var increases: [[Float]] = []
    var onsets: [Float] = []
    /// The outputs of each frame, by network.
    var outputs: [Network: [[Float]]] = [:]

    init() throws {
        let url = try #require(Bundle.module.url(forResource: "vectors", withExtension: "bin"))
        var bytes = [UInt8](try Data(contentsOf: url))[...]
        func integer() -> Int { (0..<4).reduce(0) { $0 | Int(bytes.removeFirst()) << (8 * $1) } }
        func floats(_ count: Int) -> [Float] { (0..<count).map { _ in Float(bitPattern: UInt32(integer())) } }
        try #require(String(decoding: bytes.prefix(4), as: UTF8.self) == "HMBV")
        bytes.removeFirst(4)
        try #require(integer() == 1)
        let (frames, bands) = (integer(), integer())
        try #require(bands == BandFilter.bandCount)
        step = integer()
        try #require(integer() == Network.allCases.count)
        for _ in 0..<frames {
            amplitudes.append(bytes.prefix(bands).map { $0 == 0 ? 0 : Float(pow(10, (0.4 * Double($0) - 100) / 20)) })
            bytes.removeFirst(bands)
        }
        for _ in stride(from: 0, to: frames, by: step) {
            levels.append(floats(bands))
            increases.append(floats(bands))
        }
        onsets = floats(frames)
        for network in Network.allCases {
            try #require((integer() == 1) == network.weights.isCausal)
            outputs[network] = (0..<frames).map { _ in floats(3) }
        }
        try #require(bytes.isEmpty)
    }
}

@Suite struct BandFilterTests {
    @Test func `spectrum: 73 triangular bands with the amplitudes of the definition, between 22 and 10 250 Hz`() {
        var generator = SplitMix64(seed: 18)
        let spectrum = (0...1024).map { _ in Float.random(in: 0...500, using: &generator) }
        var edges: [Int] = []
        for index in 0...101 {
            let bin = Int((30 * pow(2, Double(index) / 12) * 2048 / 44_100 + 0.5).rounded(.down))
            if bin != edges.last { edges.append(bin) }
        }
        #expect(edges.count == 75 && edges.first == 1 && edges.last == 476)
        var amplitudes: [Float] = []
        for band in 0..<73 {
            let (low, center, high) = (Double(edges[band]), Double(edges[band + 1]), Double(edges[band + 2]))
            var (sum, shares) = (0.0, 0.0)
            for bin in edges[band]...edges[band + 2] {
                let n = Double(bin)
                let share = n < center ? (n - low) / (center - low) : (high - n) / (high - center)
                sum += share * Double(spectrum[bin])
                shares += share
            }
            amplitudes.append(Float(sum * 4 / (2048 * shares)))
        }
        var (filter, expected) = (BandFilter(), BandFilter())
        filter.advance(spectrum.span)
        expected.advance(amplitudes: amplitudes.span)
        for (level, other) in zip(filter.levels, expected.levels) { #expect(abs(level - other) < 1e-5) }
        #expect(filter.levels.max()! > 4.6)
        #expect(!filter.isSilent)
    }

    @Test func `test vectors: levels, increases and onset activation are those of the reference`() throws {
        let vectors = try Vectors()
        var filter = BandFilter()
        for (frame, amplitudes) in vectors.amplitudes.enumerated() {
            filter.advance(amplitudes: amplitudes.span)
            #expect(abs(filter.onset - vectors.onsets[frame]) < 1e-4, "frame \(frame)")
            guard frame % vectors.step == 0 else { continue }
            for band in 0..<73 {
                let index = BandFilter.firstIndex + band
                #expect(abs(filter.levels[index] - vectors.levels[frame / vectors.step][band]) < 1e-4, "frame \(frame), band \(band)")
                #expect(abs(filter.increases[index] - vectors.increases[frame / vectors.step][band]) < 1e-4, "frame \(frame), band \(band)")
            }
        }
    }

    @Test func `after a gap: the same values as at the start`() throws {
        let amplitudes = try Vectors().amplitudes
        var (filter, other) = (BandFilter(), BandFilter())
        for frame in amplitudes[..<100] { filter.advance(amplitudes: frame.span) }
        filter.reset()
        for frame in amplitudes[100..<200] {
            filter.advance(amplitudes: frame.span)
            other.advance(amplitudes: frame.span)
            #expect(filter.levels == other.levels && filter.increases == other.increases && filter.onset == other.onset)
        }
    }

    @Test func `silence: levels and onset activation of 0, and isSilent`() {
        let (zeros, ones) = ([Float](repeating: 0, count: 1025), [Float](repeating: 1, count: 1025))
        var filter = BandFilter()
        for _ in 0..<5 {
            filter.advance(zeros.span)
            #expect(filter.isSilent && filter.onset == 0 && filter.levels.max() == 0)
        }
        filter.advance(ones.span)
        #expect(!filter.isSilent && filter.onset > 0.9 && filter.increases.max()! > 4)
    }
}

@Suite struct BeatNetworkTests {
    /// The outputs of all frames, which are processed in groups of the given sizes in turn.
    private static func outputs(
        _ network: inout BeatNetwork, _ amplitudes: ArraySlice<[Float]>, groups: [Int] = [2, 3, 1, 4]
    ) -> [BeatNetwork.Output] {
        var (filter, outputs) = (BandFilter(), [BeatNetwork.Output]())
        var (added, group) = (0, 0)
        for frame in amplitudes {
            filter.advance(amplitudes: frame.span)
            network.add(filter)
            added += 1
            guard added == groups[group % groups.count] else { continue }
            network.run()
            outputs += network.outputs
            (added, group) = (0, group + 1)
        }
        network.run()
        outputs += network.outputs
        #expect(outputs.count == max(0, amplitudes.count - network.delay))
        network.finish { outputs.append($0) }
        #expect(outputs.count == amplitudes.count)
        return outputs
    }

    @Test(arguments: Network.allCases)
    fileprivate func `test vectors: the outputs are those of PyTorch, from the first to the last frame`(_ kind: Network) throws {
        let vectors = try Vectors()
        let weights = kind.weights
        var network = BeatNetwork(weights)
        #expect(network.delay == (kind == .wholeFile ? 1024 : 0))
        let expected = try #require(vectors.outputs[kind])
        for (frame, output) in Self.outputs(&network, vectors.amplitudes[...]).enumerated() {
            for (value, reference) in zip([output.onset, output.beat, output.downbeat], expected[frame]) {
                #expect(abs(value - reference) < 1e-4, "frame \(frame)")
            }
            let share = weights.onsetShare
            #expect(abs((1 - share) * output.networkBeat + share * vectors.onsets[frame] - output.beat) < 1e-4)
        }
    }

    @Test(arguments: Network.allCases)
    fileprivate func `after reset and finish: the same outputs again`(_ kind: Network) throws {
        let amplitudes = try Vectors().amplitudes
        var network = BeatNetwork(kind.weights)
        let first = Self.outputs(&network, amplitudes[..<40])
        #expect(Self.outputs(&network, amplitudes[..<40]).map(\.beat) == first.map(\.beat))
        var filter = BandFilter()
        for frame in amplitudes[40..<1300] {
            filter.advance(amplitudes: frame.span)
            network.add(filter)
            network.run()
        }
        network.reset()
        let again = Self.outputs(&network, amplitudes[..<40])
        #expect(again.map(\.onset) == first.map(\.onset) && again.map(\.downbeat) == first.map(\.downbeat))
    }

    @Test(arguments: [Network.causal, .wholeFile])
    fileprivate func `groups of one to four frames: the same outputs`(_ kind: Network) throws {
        let amplitudes = try Vectors().amplitudes[..<400]
        var network = BeatNetwork(kind.weights)
        let single = Self.outputs(&network, amplitudes, groups: [1])
        #expect(single.contains { $0.beat > 0.5 })
        for groups in [[2], [3, 2], [4], [1, 4, 3]] {
            let grouped = Self.outputs(&network, amplitudes, groups: groups)
            #expect(grouped.map(\.beat) == single.map(\.beat) && grouped.map(\.downbeat) == single.map(\.downbeat))
        }
    }

    @Test func `no frames: no output`() {
        var network = BeatNetwork(.wholeFile())
        network.finish { _ in Issue.record("output without a frame") }
    }

    // MARK: - Weights files

    /// The contents of the program's weights file.
    private static let file = [UInt8](UnsafeRawBufferPointer(start: cbeatweights_causal().bytes, count: cbeatweights_causal().count))

    private static func decode(_ bytes: [UInt8]) throws -> NetworkWeights {
        try bytes.withUnsafeBytes { try NetworkWeights($0) }
    }

    /// The program's weights file of the causal network with other bits per weight, and with `more` hidden units whose weights are 0.
    /// 8 bits are the upper ones of 16.
    private static func file(bits: Int, more: Int) -> [UInt8] {
        func integer(_ index: Int) -> UInt32 { (0..<4).reduce(0) { $0 | UInt32(file[index + $1]) << (8 * UInt32($1)) } }
        func bytes<Value: FixedWidthInteger>(_ value: Value) -> [UInt8] { withUnsafeBytes(of: value.littleEndian) { Array($0) } }
        let width = Int(integer(20))
        var result = Array(file[..<56])
        result.replaceSubrange(20..<24, with: bytes(UInt32(width + more)))
        result.replaceSubrange(32..<36, with: bytes(UInt32(bits)))
        var offset = 56
        func convert(outputs: Int, moreOutputs: Int, inputs: Int, moreInputs: Int, taps: Int) {
            result += file[offset..<offset + 4 * outputs] + Array(repeating: 0, count: 4 * moreOutputs)
            let scales = (0..<outputs).map { Float(bitPattern: integer(offset + 4 * (outputs + $0))) * (bits == 8 ? 256 : 1) }
            if bits < 32 { for scale in scales + Array(repeating: 1, count: moreOutputs) { result += bytes(scale.bitPattern) } }
            offset += 8 * outputs
            for output in 0..<outputs + moreOutputs {
                for index in 0..<(inputs + moreInputs) * taps {
                    let isNew = output >= outputs || index >= inputs * taps
                    let value = isNew ? 0 : Int16(truncatingIfNeeded: Int(file[offset]) | Int(file[offset + 1]) << 8)
                    if !isNew { offset += 2 }
                    switch bits {
                    case 8: result += bytes(Int8(value >> 8))
                    case 16: result += bytes(value)
                    default: result += bytes((output < outputs ? Float(value) * scales[output] : 0).bitPattern)
                    }
                }
            }
        }
        convert(outputs: 8, moreOutputs: 0, inputs: 2, moreInputs: 0, taps: 15)
        convert(outputs: 8, moreOutputs: 0, inputs: 8, moreInputs: 0, taps: 9)
        convert(outputs: width, moreOutputs: more, inputs: 136 + Int(integer(28)), moreInputs: 0, taps: 1)
        for _ in 0..<9 {
            convert(outputs: width, moreOutputs: more, inputs: width, moreInputs: more, taps: 5)
            convert(outputs: width, moreOutputs: more, inputs: width, moreInputs: more, taps: 1)
        }
        convert(outputs: 3, moreOutputs: 0, inputs: width, moreInputs: more, taps: 1)
        #expect(offset == file.count)
        return result
    }

    @Test func `weights of 32 and 16 bits: the same outputs; of 8 bits: similar ones; idle hidden units: no influence`() throws {
        try #require(Self.file[32] == 16)
        let amplitudes = try Vectors().amplitudes[..<300]
        func beats(bits: Int, more: Int) throws -> [Float] {
            var network = BeatNetwork(try Self.decode(Self.file(bits: bits, more: more)))
            return Self.outputs(&network, amplitudes).map(\.beat)
        }
        var network = BeatNetwork(.causal())
        let expected = Self.outputs(&network, amplitudes).map(\.beat)
        #expect(try beats(bits: 32, more: 0) == expected)
        #expect(try beats(bits: 16, more: 3) == expected)
        let coarse = try beats(bits: 8, more: 0)
        #expect(coarse != expected)
        #expect(zip(coarse, expected).allSatisfy { abs($0 - $1) < 0.2 })
    }

    @Test func `truncated weights file: an error at any length`() {
        for length in Array(0...200) + Array(stride(from: 201, to: Self.file.count, by: 997)) + [Self.file.count - 1] {
            #expect(throws: Problem.self, "\(length)") { try Self.decode(Array(Self.file.prefix(length))) }
        }
    }

    @Test(
        arguments: [
            (0, 1, "not a weights file"), (4, 2, "unsupported version"), (8, 2, "unsupported dimensions"),
            (12, 74, "unsupported dimensions"),
            (20, 0, "unsupported dimensions"), (20, file[20] + 1, "truncated"), (23, 255, "unsupported dimensions"),
            (32, 12, "unsupported dimensions"),
            (20, file[20] - 1, "bytes too many"),
        ] as [(Int, UInt8, String)])
    func `changed byte in the header of a weights file: an error that says which part is wrong`(
        index: Int, value: UInt8, message: String
    ) {
        var bytes = Self.file
        bytes[index] = value
        let error = #expect(throws: Problem.self) { try Self.decode(bytes) }
        #expect(error?.description.contains(message) == true, "\(error?.description ?? "")")
    }
}
