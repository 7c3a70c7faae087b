import HemiolaSignal
import Testing

@testable import PCMCapture

@Suite struct PCMEncodingTests {
    @Test(arguments: PCMEncoding.allCases)
    func `every sample becomes the float that it stands for`(encoding: PCMEncoding) throws {
        let (bytes, floats) = samples(of: encoding)
        // Several times over, so that the vectorised part of the loop takes part.
        let repeated = (0..<9).flatMap { _ in bytes }
        let heard = try hear(repeated, "pcm:raw=\(encoding.rawValue):48000:1")
        #expect(heard.bits == (0..<9).flatMap { _ in floats.map(\.bitPattern) })
        #expect(heard.gaps.isEmpty)
    }

    @Test func `a NaN keeps its payload`() throws {
        let bits: UInt32 = 0xffc1_2345
        let heard = try hear(bits.bytes(), "pcm:raw=f32le:48000:1")
        #expect(heard.bits == [bits])
    }

    @Test func `silence of unsigned bytes is 128`() throws {
        #expect(try hear([128, 0, 255, 64], "pcm:raw=u8:8000:2").samples == [0, -1, 127 / 128, -0.5])
    }
}
