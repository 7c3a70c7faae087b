import HemiolaSignal
import HemiolaTonal
import References
import Testing

@Suite struct `ChromaPersistence, known chroma` {
    private let chord: [Float] = [1, 0, 0.1, 0, 0.8, 0.1, 0, 0.9, 0, 0.2, 0, 0.1]
    private let silence = [Float](repeating: 0, count: 12)

    /// The value after each frame.
    private func values(_ frames: [[Float]], window: Double? = nil, frameSeconds: Double = 0.05) -> [Float] {
        var persistence = ChromaPersistence(window: window, frameSeconds: frameSeconds)
        return frames.map { frame in
            persistence.add(frame.span)
            return persistence.value
        }
    }

    @Test func `chords and noise: the values of numpy within 1e-5`() {
        let reference = TonalVectors.shared.chords
        let values = values(reference.chroma.map { $0.map { Float($0) } }, window: 5, frameSeconds: reference.frameS)
        for (value, expected) in zip(values, reference.persistence) { #expect(abs(Double(value) - expected) < 1e-5) }
        #expect(values.count == reference.persistence.count)
    }

    @Test(arguments: [0.05, 0.1, 0.2, 1]) func `steady chord: 1 but for the frames of the first 0,2 s`(frameSeconds: Double) {
        let lag = max(1, Int((0.2 / frameSeconds).rounded()))
        let values = values(Array(repeating: chord, count: 40), frameSeconds: frameSeconds)
        #expect(values[..<lag].allSatisfy { $0 == 0 })
        #expect(abs(values[39] - Float(40 - lag) / 40) < 1e-5)
    }

    @Test func `other pitch classes in each frame, or sounds of one frame: about 0`() {
        var random = SplitMix64(seed: 3)
        let noise = (0..<2000).map { _ in chord.map { _ in Float(random.uniform()) } }
        #expect(abs(values(noise).last!) < 0.03)
        #expect(values((0..<100).map { $0.isMultiple(of: 3) ? chord : silence }).last == 0)
    }

    @Test func `silence and no sound at all: the value stays, and is 0`() {
        let values = values(Array(repeating: chord, count: 100) + Array(repeating: silence, count: 200), window: 5)
        #expect(values[99] > 0.9 && abs(values[299] - values[103]) < 1e-3)
        #expect(self.values(Array(repeating: silence, count: 20)).last == 0)
    }

    @Test func `lost audio: what follows is not compared with what was before; reset: as new`() {
        var persistence = ChromaPersistence(window: nil, frameSeconds: 0.05)
        for _ in 0..<8 { persistence.add(chord.span) }
        persistence.skip()
        for _ in 0..<8 { persistence.add(chord.span) }
        #expect(abs(persistence.value - 0.5) < 1e-5)
        persistence.reset()
        for _ in 0..<8 { persistence.add(chord.span) }
        #expect(persistence.value == values(Array(repeating: chord, count: 8)).last)
    }
}
