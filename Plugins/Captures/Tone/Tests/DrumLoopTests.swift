import Hemiola
import Testing

@testable import ToneCapture

@Suite struct DrumLoopTests {
    @Test func `same seed: same samples for every buffer size and after a rewind; another seed: other samples`() throws {
        let spec = "tone:loop,bpm=174,seconds=12,channels=2"
        let capture = try tone(spec)
        _ = try capture.open(FormatRequest())
        let whole = try capture.samples(2, frames: 4096)
        #expect(whole.count == 12 * 44_100 * 2)
        try capture.rewind()
        #expect(try capture.samples(2, frames: 333) == whole)
        let again = try tone("\(spec),seed=0")
        _ = try again.open(FormatRequest())
        #expect(try again.samples(2, frames: 1) == whole)
        let other = try tone("\(spec),seed=1")
        _ = try other.open(FormatRequest())
        #expect(try other.samples(2) != whole)
    }

    @Test(arguments: [-60.0, -12, -3, 0]) func `level_db: not exceeded, and almost reached`(level: Double) throws {
        for seed in 0..<4 {
            let peak = Double(try mono("tone:loop,bpm=174,seconds=12,seed=\(seed),level_db=\(level)").peak)
            #expect(peak <= level.asAmplitude * (1 + 1e-6) && peak > level.asAmplitude * 0.8, "seed \(seed): \(peak)")
        }
    }

    @Test(arguments: [(174, 44_100), (174, 48_000), (61.8, 22_050)] as [(Double, Int)])
    func `beat k: at round(k · 60 / bpm · rate), a kick first and the snare second and fourth in the bar`(
        tempo: Double, sampleRate: Int
    ) throws {
        let kit = DrumKit(sampleRate: sampleRate)
        func start(of drum: DrumKit.Drum) -> [Float] {
            kit.withSound(of: drum, isRight: false) { Array($0.prefix(sampleRate / 16)) }
        }
        let (kick, snare) = (start(of: .kick), differences(start(of: .snare)))
        let samples = try mono("tone:loop,bpm=\(tempo),rate=\(sampleRate),seconds=\(60 / tempo * 34)")
        let changes = differences(samples)
        // Seconds. The other drums and the bass disturb the correlation of the kick, a low sine, more than that of the snare, noise.
        let (kickTolerance, snareTolerance) = (0.002, 0.000_25)
        for beat in 1...32 where beat % 4 != 2 {
            let expected = Int((Double(beat) * 60 / tempo * Double(sampleRate)).rounded())
            let isKick = beat % 4 == 0
            // The offset with the highest cross-correlation.
            let best = (-sampleRate / 200...sampleRate / 200).map { offset in
                (offset, isKick ? correlation(samples, kick, at: expected + offset) : correlation(changes, snare, at: expected + offset))
            }.max { $0.1 < $1.1 }
            let error = Double(best?.0 ?? .max) / Double(sampleRate)
            #expect(abs(error) <= (isKick ? kickTolerance : snareTolerance), "beat \(beat)")
        }
    }

    private func differences(_ samples: some Sequence<Float>) -> [Float] {
        zip(samples, samples.dropFirst()).map { $1 - $0 }
    }

    private func correlation(_ samples: [Float], _ sound: [Float], at start: Int) -> Float {
        var sum: Float = 0
        for index in sound.indices { sum += samples[start + index] * sound[index] }
        return sum
    }

    @Test(arguments: [(1, 8_000), (1_000, 96_000)] as [(Double, Int)])
    func `slowest and fastest tempo: finite samples, not silent`(tempo: Double, sampleRate: Int) throws {
        let samples = try mono("tone:loop,bpm=\(tempo),rate=\(sampleRate),seconds=20")
        #expect(samples.allSatisfy(\.isFinite) && samples.rootMeanSquare > 0.01)
    }

    @Test func `two channels: differ, with almost the same level`() throws {
        let capture = try tone("tone:loop,bpm=174,seconds=12,channels=2")
        _ = try capture.open(FormatRequest())
        let samples = try capture.samples(2)
        let left = stride(from: 0, to: samples.count, by: 2).map { samples[$0] }
        let right = stride(from: 1, to: samples.count, by: 2).map { samples[$0] }
        #expect(left != right && abs(left.rootMeanSquare / right.rootMeanSquare - 1) < 0.05)
    }

    @Test func `spectrum: bass, body and treble are present`() throws {
        let samples = try mono("tone:loop,bpm=174,seconds=11")
        // A first difference attenuates 50 Hz by 43 dB and leaves 10 kHz as it is.
        let (all, treble) = (samples.rootMeanSquare, differences(samples).rootMeanSquare)
        #expect(treble > 0.03 * all && treble < 0.8 * all)
        #expect(stride(from: 40.0, through: 60, by: 1).contains { amplitude(of: $0, in: samples) > 1e-3 })
    }
}
