import Foundation
import HemiolaSignal
import NIOCore
import Testing

@testable import HemiolaBridge

/// A message of the framer.
private struct Framed: Equatable {
    var frame: Int64
    var samples: [Float]
}

@Suite struct SampleFramerTests {
    /// The sample of frame n and channel c is (n + c / 10) / 10000: the value identifies the frame.
    private static func value(_ frame: Int, _ channel: Int) -> Float { (Float(frame) + Float(channel) / 10) / 10_000 }

    private static func batch(_ frames: Range<Int>, _ channels: Int) -> [Float] {
        frames.flatMap { frame in (0..<channels).map { value(frame, $0) } }
    }

    private func messages(
        _ frames: Int, batch: Int, channels: Int, map: ChannelMap? = nil, lost: Range<Int> = 0..<0,
        values: (Range<Int>, Int) -> [Float] = batch
    ) -> [Framed] {
        var framer = SampleFramer()
        var messages: [Framed] = []
        func take(_ frame: Int64, _ samples: Span<Float>) {
            messages.append(Framed(frame: frame, samples: samples.withUnsafeBufferPointer(Array.init)))
        }
        framer.begin(StreamFormat(sampleRate: 44_100, channelCount: channels, channelMap: map))
        var start = 0
        while start < frames {
            let end = min(start + batch, frames)
            let samples = values(start..<end, channels)
            if !lost.overlaps(start..<end) { framer.add(samples.span, at: Int64(start), take) }
            start = end
        }
        framer.finish(take)
        return messages
    }

    @Test(arguments: [256, 257, 1024, 1280, 4096, 8192], [1, 2, 3, 6])
    func `batches of any size: messages have 1024 frames, and no frame is missing`(batch: Int, channels: Int) {
        let count = 10_000
        let messages = messages(count, batch: batch, channels: channels)
        #expect(messages.count == 10)
        #expect(messages.map(\.frame) == (0..<10).map { $0 * 1024 })
        #expect(messages.allSatisfy { $0.samples.count == 2048 })
        let samples = messages.flatMap(\.samples)
        // Without a channel map, both sides are the mean of three and six channels.
        let left = channels == 2 ? [0] : Array(0..<channels)
        let right = channels == 2 ? [1] : Array(0..<channels)
        for frame in 0..<count {
            let expected = [left, right].map { side in side.map { Self.value(frame, $0) }.reduce(0, +) / Float(side.count) }
            #expect(abs(samples[2 * frame] - expected[0]) < 1e-6 && abs(samples[2 * frame + 1] - expected[1]) < 1e-6)
        }
        #expect(samples[(2 * count)...].allSatisfy { $0 == 0 }, "the last message is padded with zeros")
    }

    @Test func `lost batches: the message before is padded, the next begins after them`() {
        let messages = messages(4096, batch: 256, channels: 2, lost: 256..<1536)
        #expect(messages.map(\.frame) == [0, 1536, 2560, 3584])
        #expect(messages[0].samples[511] != 0 && messages[0].samples[512...].allSatisfy { $0 == 0 })
        #expect(messages[1].samples[0] == Self.value(1536, 0))
    }

    @Test func `NaN becomes 0, samples above full scale are clipped`() {
        let messages = messages(1, batch: 256, channels: 6) { _, _ in [.nan, 3, .infinity, -0.5, 0.5, -7] }
        // (3 − 0.5 + 0.5 − 7) / 6
        #expect(abs(messages[0].samples[0] + 4.0 / 6) < 1e-6 && messages[0].samples[1] == messages[0].samples[0])
        let stereo = self.messages(2, batch: 256, channels: 2) { _, _ in [.nan, .infinity, -1.5, 1.25] }
        #expect(stereo[0].samples[..<4] == [0, 0, -1, 1])
    }

    @Test func `5.1: stereo downmix of ITU-R BS.775, clipped at full scale`() throws {
        let map = try #require(ChannelMap([.frontLeft, .frontRight, .frontCenter, .lowFrequency, .sideLeft, .sideRight]))
        let frames: [[Float]] = [
            [0.5, 0.25, 0, 0, 0, 0], [0, 0, 0.5, 0, 0, 0], [0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 0.5, -0.25], [0.9, -0.9, 0, 0, 0.9, -0.9],
            [0.1, 0.2, 0.3, .nan, .infinity, 0],
        ]
        let messages = messages(frames.count, batch: 256, channels: 6, map: map) { range, _ in frames[range].flatMap(\.self) }
        let minus3 = Float(0.5).squareRoot()
        let expected: [Float] = [
            0.5, 0.25, 0.5 * minus3, 0.5 * minus3, 0, 0, 0.5 * minus3, -0.25 * minus3, 1, -1, 0.1 + 0.3 * minus3, 0.2 + 0.3 * minus3,
        ]
        for (sample, value) in zip(messages[0].samples, expected) { #expect(abs(sample - value) < 1e-6) }
    }

    @Test func `second stream: begins at frame 0`() {
        var framer = SampleFramer()
        let mono = StreamFormat(sampleRate: 44_100, channelCount: 1)
        framer.begin(mono)
        var frames: [Int64] = []
        let samples = [Float](repeating: 0.5, count: 1500)
        framer.add(samples.span, at: 0) { frame, _ in frames.append(frame) }
        framer.begin(mono)
        framer.add(samples.span, at: 0) { frame, _ in frames.append(frame) }
        #expect(frames == [0, 0])
    }
}

@Suite struct SampleEncoderTests {
    private func text(_ samples: [Float], _ payload: SamplePayload, frame: Int64 = 7) throws -> String {
        var encoder = SampleEncoder()
        let message = encoder.encode(samples.span, at: frame, as: [payload])
        for other in [SamplePayload.json, .base64, .bare] where other != payload { #expect(message[other] == nil) }
        return String(buffer: try #require(message[payload]))
    }

    private static let samples: [Float] = (0..<2048).map { Float(sin(Double($0))) }

    @Test func `json: has the keys of the protocol and six decimals`() throws {
        let line = try text([0, -0.5, 1, -1, 0.1234567], .json)
        #expect(
            line == "{\"type\":\"pushSamples\",\"samples\":[0.000000,-0.500000,1.000000,-1.000000,0.123457],\"frame\":7}\n")
    }

    @Test(arguments: [SamplePayload.json, .bare]) func `json and bare: decoded samples are within 0.5e-6`(payload: SamplePayload) throws {
        let document = try JSONSerialization.jsonObject(with: Data(try text(Self.samples, payload).utf8))
        let values = try #require(payload == .bare ? document as? [Double] : (document as? [String: Any])?["samples"] as? [Double])
        #expect(values.count == 2048)
        for (value, sample) in zip(values, Self.samples) { #expect(abs(value - Double(sample)) <= 0.5e-6 + 1e-12) }
    }

    @Test func `16-bit audio: is restored exactly from six decimals`() throws {
        let levels = (0..<2048).map { Int16(truncatingIfNeeded: $0 * 32_749 - 32_768) }
        let document = try JSONSerialization.jsonObject(with: Data(try text(levels.map { Float($0) / 32_768 }, .bare).utf8))
        #expect((document as? [Double])?.map { Int16(($0 * 32_768).rounded()) } == levels)
    }

    @Test(arguments: [2048, 1, 2, 3]) func `base64: encodes the little-endian bytes of the floats`(count: Int) throws {
        let samples = Array(Self.samples.prefix(count))
        let bytes = samples.flatMap { value in withUnsafeBytes(of: value.bitPattern.littleEndian) { Array($0) } }
        #expect(
            try text(samples, .base64)
                == "{\"type\":\"pushSamples\",\"samples\":\"\(Data(bytes).base64EncodedString())\",\"frame\":7}\n")
    }
}
