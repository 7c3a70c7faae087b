import HemiolaSignal
import Testing

@Suite struct SplitMix64Tests {
    @Test func `numbers in turn, and each at its place: those of the reference`() {
        // The first numbers of the reference implementation for this seed.
        let seed: UInt64 = 1_234_567
        let expected: [UInt64] = [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        var generator = SplitMix64(seed: seed)
        let numbers = expected.map { _ in generator.next() }
        #expect(numbers == expected)
        #expect(expected.indices.map { SplitMix64.number(at: Int64($0), ofSeed: seed) } == expected)
    }
}
