import AnalysisSupport
import Foundation
import HemiolaRecords
import References
import Testing

@testable import HemiolaSignal

private let everything: SpectrumParts = [.power, .magnitude, .complex]

@Suite struct `SpectrumBank, reference vectors` {
    /// One row of magnitudes per chosen batch, of one window and size of one input.
    struct Case: Sendable, CustomTestStringConvertible {
        var input: ReferenceVectors.Input
        var magnitudes: ReferenceVectors.Magnitudes

        var testDescription: String { "\(input.file), \(magnitudes.window) \(magnitudes.size)" }
    }

    static let cases = [ReferenceVectors.shared.mono, ReferenceVectors.shared.stereo].flatMap { input in
        input.magnitudes.map { Case(input: input, magnitudes: $0) }
    }

    @Test(arguments: cases)
    func `magnitudes: within 1e-5 of the peak bin`(_ one: Case) throws {
        let window = try #require(WindowShape(rawValue: one.magnitudes.window))
        var run = BankRun(
            [SpectrumRequest(size: one.magnitudes.size, window: window, parts: .magnitude)], sampleRate: one.input.sampleRate)
        let frames = run.advance(through: try Audio(wav: one.input.path).mono)[0]
        #expect(frames.count == one.input.batches)
        let scale = 2 / window.sum(size: one.magnitudes.size)
        for (batch, expected) in zip(one.magnitudes.batches, one.magnitudes.values) {
            let peak = expected.max()!
            let magnitude = frames[batch].magnitude
            #expect(magnitude.count == expected.count)
            let worst = expected.indices.map { bin in
                let twins = bin == 0 || bin == expected.count - 1 ? 0.5 : 1
                return abs(Double(magnitude[bin]) * scale * twins - expected[bin])
            }.max()!
            #expect(worst <= 1e-5 * peak, "batch \(batch)")
        }
    }

    @Test(arguments: [0, 1])
    func `power: within 1e-5 of the peak bin`(input: Int) throws {
        let reference = [ReferenceVectors.shared.mono, ReferenceVectors.shared.stereo][input]
        var run = BankRun([SpectrumRequest(size: 2048)], sampleRate: reference.sampleRate)
        let frames = run.advance(through: try Audio(wav: reference.path).mono)[0]
        let scale = 2 / (2048 * WindowShape.hann.energy(size: 2048))
        for (batch, expected) in zip(reference.power.batches, reference.power.values) {
            let peak = expected.max()!
            let worst = expected.indices.map { bin in
                let twins = bin == 0 || bin == expected.count - 1 ? 0.5 : 1
                return abs(Double(frames[batch].power[bin]) * scale * twins - expected[bin])
            }.max()!
            #expect(worst <= 1e-5 * peak, "batch \(batch)")
        }
    }
}

@Suite struct SpectrumBankTests {
    @Test(arguments: [1, 5, 31, 255, 510], [512, 1024])
    func `sine at a bin, rectangular window: energy in that bin only`(bin: Int, size: Int) {
        // Rectangular window: the main lobe of another window includes neighbouring bins.
        var run = BankRun([SpectrumRequest(size: size, window: .rectangular, parts: .magnitude)])
        let bin = bin * size / 1024
        guard bin > 0 else { return }
        let sine = Audio.sine(44_100 * Double(bin) / Double(size), frames: 1024)
        let magnitude = run.advance(sine.samples)[0][0].magnitude
        #expect(abs(magnitude[bin] - Float(size) / 2) < 1e-5 * Float(size))
        for other in magnitude.indices where other != bin { #expect(magnitude[other] < 1e-5 * magnitude[bin]) }
    }

    @Test(arguments: [(WindowShape.hann, 1), (.hamming, 1), (.blackmanHarris, 3)], [64, 100, 500])
    func `windowed sine: energy in the main lobe only`(_ window: (shape: WindowShape, reach: Int), bin: Int) {
        var run = BankRun([SpectrumRequest(size: 1024, window: window.shape, parts: .magnitude)])
        let magnitude = run.advance(Audio.sine(44_100 * Double(bin) / 1024, frames: 1024).samples)[0][0].magnitude
        #expect(abs(Double(magnitude[bin]) * 2 / window.shape.sum(size: 1024) - 1) < 1e-5)
        for other in magnitude.indices where abs(other - bin) > window.reach {
            #expect(magnitude[other] < 1e-5 * magnitude[bin], "bin \(other)")
        }
    }

    @Test(arguments: [32, 60, 64, 100, 1000, 2048, 4096, 8192, 65_536], WindowShape.allCases)
    func `any size and window: energies agree with Parseval's theorem`(size: Int, window: WindowShape) {
        var run = BankRun([SpectrumRequest(size: size, window: window, parts: everything)])
        let noise = Audio.noise(frames: (size + 1023) / 1024 * 1024, seed: UInt64(size)).samples
        let frame = run.advance(through: noise)[0].last!
        #expect(frame.power.count == size / 2 + 1)
        #expect(frame.complex.count == size + 2)
        // The last window ends with the last sample.
        let windowed = zip(noise.suffix(size), window.values(size: size)).reduce(0) { $0 + pow(Double($1.0) * Double($1.1), 2) }
        let twins = frame.power.dropFirst().dropLast().reduce(0) { $0 + Double($1) }
        let total = Double(frame.power.first!) + Double(frame.power.last!) + 2 * twins
        #expect(abs(total / Double(size) / windowed - 1) < 1e-5)
        let isConsistent = frame.power.indices.allSatisfy { bin in
            let (real, imaginary) = (frame.complex[2 * bin], frame.complex[2 * bin + 1])
            return abs(frame.power[bin] - (real * real + imaginary * imaginary)) <= 2e-7 * frame.power[bin]
                && abs(frame.magnitude[bin] - frame.power[bin].squareRoot()) <= 2e-7 * frame.magnitude[bin]
        }
        #expect(isConsistent, "power, magnitude and complex are three forms of one spectrum")
    }

    @Test(arguments: [48, 64])
    func `any size: equal to the definition of the discrete Fourier transform`(size: Int) {
        var run = BankRun([SpectrumRequest(size: size, window: .hamming, parts: .complex)])
        let noise = Audio.noise(frames: 1024, seed: 5).samples
        let complex = run.advance(noise)[0][0].complex
        let windowed = zip(noise.suffix(size), WindowShape.hamming.values(size: size)).map { Double($0) * Double($1) }
        for bin in 0...size / 2 {
            let turn = -2 * Double.pi * Double(bin) / Double(size)
            let real = windowed.indices.reduce(0) { $0 + windowed[$1] * cos(turn * Double($1)) }
            let imaginary = windowed.indices.reduce(0) { $0 + windowed[$1] * sin(turn * Double($1)) }
            #expect(abs(Double(complex[2 * bin]) - real) < 1e-5)
            #expect(abs(Double(complex[2 * bin + 1]) - imaginary) < 1e-5)
        }
    }

    @Test func `equal requests with different parts: one transform`() {
        var run = BankRun([
            SpectrumRequest(size: 1024, parts: .power), SpectrumRequest(size: 1024, parts: .magnitude),
            SpectrumRequest(size: 1024, window: .hamming), SpectrumRequest(size: 512), SpectrumRequest(size: 1024, parts: .power),
        ])
        let frames = run.advance(through: Audio.noise(frames: 3 * 1024).samples)
        #expect(run.bank.transformCount == 3 * 3)
        for hop in 0..<3 {
            #expect(frames[0][hop].power == frames[4][hop].power)
            #expect(frames[1][hop].magnitude == frames[0][hop].power.map { $0.squareRoot() })
            #expect(frames[2][hop].power != frames[0][hop].power)
        }
    }

    @Test func `same hops in two banks: equal bits`() {
        let noise = Audio.noise(frames: 8 * 1024, seed: 9).samples
        var (one, other) = (BankRun([SpectrumRequest(size: 2048)]), BankRun([SpectrumRequest(size: 4096), SpectrumRequest(size: 2048)]))
        let (first, second) = (one.advance(through: noise)[0], other.advance(through: noise)[1])
        #expect(first.map(\.power) == second.map(\.power))
    }

    @Test func `first windows: zeros before the first frame`() {
        var run = BankRun([SpectrumRequest(size: 4096, window: .rectangular, parts: everything)])
        let noise = Audio.noise(frames: 4096, seed: 2).samples
        let frames = run.advance(through: noise)[0]
        #expect(frames.map(\.center) == [-1024, 0, 1024, 2048])
        // With a rectangular window, DC is the sum of all samples up to the end of the window.
        for (hop, frame) in frames.enumerated() {
            let sum = noise[..<(1024 * (hop + 1))].reduce(0) { $0 + Double($1) }
            #expect(abs(Double(frame.complex[0]) - sum) < 1e-3)
        }
    }

    @Test func `clear: the next spectra contain no earlier audio`() {
        var (fresh, cleared) = (BankRun([SpectrumRequest(size: 4096)]), BankRun([SpectrumRequest(size: 4096)]))
        let noise = Audio.noise(frames: 4096).samples
        _ = cleared.advance(through: noise)
        cleared.bank.clear()
        #expect(cleared.advance(noise[..<1024])[0][0].power == fresh.advance(noise[..<1024])[0][0].power)
    }

    @Test func `no requests: no slots`() {
        let bank = SpectrumBank([], hopFrames: 1024, sampleRate: 44_100)
        bank.advance([Float](repeating: 1, count: 1024).span, at: 0)
        #expect(bank.transformCount == 0)
        #expect(bank.slots(0..<0).isEmpty)
    }
}

@Suite struct `SpectrumBank, hop in seconds` {
    @Test(arguments: [256, 480, 1000, 1024], [0.005, 0.01, 0.023_219_954_648_526_078, 0.1])
    func `any batch length: windows end at multiples of the hop since the stream's start`(hopFrames: Int, seconds: Double) {
        let size = 512
        var run = BankRun([SpectrumRequest(size: size, hop: .seconds(seconds), parts: .power)], hopFrames: hopFrames)
        let noise = Audio.noise(frames: 40 * hopFrames, seed: 4).samples
        let frames = run.advance(through: noise)[0]
        // Also half frames: 5 ms are 220.5 frames.
        let every = seconds == 0.005 ? 220.5 : (seconds * 44_100).rounded()
        let ends = (1...).lazy.map { Double($0) * every }.prefix { Int($0.rounded()) <= noise.count }
        #expect(frames.map(\.center) == ends.map { $0 - Double(size) / 2 })
        #expect(run.bank.transformCount == frames.count)
    }

    @Test func `hop in seconds: spectra as of a bank with that hop length`() {
        let noise = Audio.noise(frames: 16 * 1024, seed: 6).samples
        var inSeconds = BankRun([SpectrumRequest(size: 1024, hop: .seconds(256 / 44_100.0))], hopFrames: 1024)
        var everyHop = BankRun([SpectrumRequest(size: 1024)], hopFrames: 256)
        let (some, all) = (inSeconds.advance(through: noise)[0], everyHop.advance(through: noise)[0])
        #expect(some.count == 64)
        #expect(some.map(\.power) == all.map(\.power))
        #expect(some.map(\.center) == all.map(\.center))
    }

    @Test func `spectra per hop: none, one or several`() {
        var run = BankRun([SpectrumRequest(size: 64, hop: .seconds(600 / 44_100.0))], hopFrames: 256)
        let counts = (0..<7).map { _ in run.advance([])[0].count }
        #expect(counts == [0, 0, 1, 0, 1, 0, 0])
        var dense = BankRun([SpectrumRequest(size: 64, hop: .seconds(100 / 44_100.0))], hopFrames: 256)
        #expect((0..<4).map { _ in dense.advance([])[0].count } == [2, 3, 2, 3])
    }
}

@Suite struct WindowShapeTests {
    @Test(arguments: WindowShape.allCases, [32, 60, 2048, 4096])
    func `sum and energy: those of the values, and as the cosine terms give them`(shape: WindowShape, size: Int) {
        let values = shape.values(size: size).map(Double.init)
        #expect(values.count == size)
        #expect(abs(shape.sum(size: size) - values.reduce(0, +)) < 1e-9 * Double(size))
        #expect(abs(shape.energy(size: size) - values.reduce(0) { $0 + $1 * $1 }) < 1e-9 * Double(size))
        // Of a periodic cosine sum a₀ − a₁cos … the mean is a₀ and the mean square a₀² + ½Σaₖ².
        let terms =
            switch shape {
            case .hann: [0.5, 0.5]
            case .hamming: [0.54, 0.46]
            case .blackmanHarris: [0.35875, 0.48829, 0.14128, 0.01168]
            case .rectangular: [1.0]
            }
        let energy = terms[0] * terms[0] + terms.dropFirst().reduce(0) { $0 + $1 * $1 / 2 }
        #expect(abs(shape.sum(size: size) / Double(size) - terms[0]) < 1e-7)
        #expect(abs(shape.energy(size: size) / Double(size) - energy) < 1e-7)
    }

    @Test(arguments: WindowShape.allCases)
    func `values: symmetric about the middle, except the first`(shape: WindowShape) {
        let values = shape.values(size: 64)
        for index in 1..<64 { #expect(abs(values[index] - values[64 - index]) < 1e-6) }
        #expect(abs(values[32] - 1) < 1e-6)
    }
}
