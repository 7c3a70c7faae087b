import Hemiola
import HemiolaEngine
import HemiolaTesting
import SpectrumAnalyzer
import TestSupport
import Testing

@testable import HemiolaSignal

/// The spectra that analyzers request.
@Suite(.mayNotHang) struct SpectrumTests {
    @Test func `equal requests of several analyzers: computed once`() {
        let request = SpectrumRequest(size: 2048)
        let bank = SpectrumBank(
            [
                request, SpectrumRequest(size: 2048, parts: [.magnitude, .complex]), request, SpectrumRequest(size: 1024),
                SpectrumRequest(size: 2048, window: .rectangular),
            ], hopFrames: 1024, sampleRate: 44_100)
        let hop = TestSignal.sine(1000, frames: 1024)
        for index in 0..<5 { bank.advance(hop.span, at: Int64(index * 1024)) }
        #expect(bank.transformCount == 5 * 3)
    }

    @Test func `hop in seconds: as many spectra per hop as window ends in it`() {
        let bank = SpectrumBank(
            [SpectrumRequest(size: 512, hop: .seconds(0.01)), SpectrumRequest(size: 512, hop: .seconds(0.1))], hopFrames: 1024,
            sampleRate: 44_100)
        let hop = TestSignal.silence(frames: 1024)
        for index in 0..<100 { bank.advance(hop.span, at: Int64(index * 1024)) }
        #expect(bank.transformCount == 102_400 / 441 + 102_400 / 4410)
    }

    @Test(arguments: [256, 1000, 1024, 4096, 8192])
    func `hop in seconds: window centres are independent of the batch size`(batchFrames: Int) async throws {
        let request = SpectrumRequest(size: 1024, hop: .seconds(0.01))
        let music = TestSignal.sine(441, frames: 44_100)
        let stream = try await Trial([.samples(music)], analyzers: [.centres(request)], batchFrames: batchFrames).stream()
        let centres = stream.analyzerEvents("spectrum").map { $0.values[0] }
        let expected = (1...100).map { Double($0 * 441 - 512) }
        #expect(Array(centres.prefix(100)) == expected)
        // From the first complete window, the largest bin is that of the sine: 441 Hz is bin 10.24 of 1024.
        #expect(stream.analyzerEvents("spectrum").map { $0.values[1] }[3..<95].allSatisfy { $0 == 10 })
    }

    @Test(arguments: [(2048, 1024, 0.0), (1024, 1024, 512.0), (4096, 512, -1536.0), (32, 256, 240.0)])
    func `hop in frames: the window ends with the hop`(size: Int, batchFrames: Int, first: Double) async throws {
        let stream = try await Trial(
            [silence(batches: 5, of: batchFrames)], analyzers: [.centres(SpectrumRequest(size: size))], batchFrames: batchFrames
        ).stream()
        #expect(stream.analyzerEvents("spectrum").map { $0.values[0] } == (0..<5).map { first + Double($0 * batchFrames) })
    }

    @Test(arguments: WindowShape.allCases, [64, 1000, 2048, 8192])
    func `sine at a bin centre, any size and window: that bin is the largest`(window: WindowShape, size: Int) async throws {
        let bin = size / 8
        let format = StreamFormat(sampleRate: 48_000, channelCount: 1)
        let tone = TestSignal.sine(Double(bin) * 48_000 / Double(size), frames: 16_384, format: format)
        let stream = try await Trial(
            [.samples(tone)], format: format,
            analyzers: [.centres(SpectrumRequest(size: size, window: window))]
        ).stream()
        #expect(stream.analyzerEvents("spectrum").map { $0.values[1] }.suffix(6).allSatisfy { $0 == Double(bin) })
    }

    @Test func `two analyzers with different requests: each gets its own spectra`() async throws {
        let stream = try await Trial(
            [.samples(TestSignal.sine(1000, frames: 8192))],
            analyzers: [
                .centres(SpectrumRequest(size: 256), as: "low"), .spectrum, .centres(SpectrumRequest(size: 2048), as: "high"),
            ]
        ).stream()
        let bins = { (name: String) in
            stream.events.compactMap { event -> Double? in
                guard let analyzerEvent = AnalyzerEvent(event), analyzerEvent.analyzer == name else { return nil }
                return analyzerEvent.values[1]
            }
        }
        #expect(bins("low").dropFirst(3).allSatisfy { $0 == 6 })
        #expect(bins("high").dropFirst(3).allSatisfy { $0 == 46 })
    }
}
