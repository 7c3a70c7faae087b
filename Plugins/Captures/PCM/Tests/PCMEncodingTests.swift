import Testing

@testable import HemiolaPCM
@testable import PCMCapture

@Suite struct PCMEncodingTests {
    @Test(arguments: PCMEncoding.allCases)
    func `every encoding: each sample becomes its float`(encoding: PCMEncoding) throws {
        let (bytes, floats) = samples(of: encoding)
        // Repeated, so that the vectorised part of the loop runs.
        let repeated = (0..<9).flatMap { _ in bytes }
        let recording = try record(repeated, "pcm:raw=\(encoding.rawValue):48000:1")
        #expect(recording.bits == (0..<9).flatMap { _ in floats.map(\.bitPattern) })
        #expect(recording.gaps.isEmpty)
    }

    @Test func `NaN: keeps its payload`() throws {
        let bits: UInt32 = 0xffc1_2345
        let recording = try record(bits.bytes(), "pcm:raw=f32le:48000:1")
        #expect(recording.bits == [bits])
    }

    @Test func `u8: 128 is zero`() throws {
        #expect(try record([128, 0, 255, 64], "pcm:raw=u8:8000:2").samples == [0, -1, 127 / 128, -0.5])
    }
}
