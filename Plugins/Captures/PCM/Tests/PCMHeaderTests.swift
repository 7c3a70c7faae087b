import Hemiola
import Testing

@testable import HemiolaPCM
@testable import PCMCapture

@Suite struct PCMHeaderTests {
    /// 100 frames of two channels.
    private static let bytes: [UInt8] = (0..<400).map { UInt8(truncatingIfNeeded: $0 &* 37) }

    private func raw(_ container: ContainerBytes) throws -> [UInt32] {
        try record(Self.bytes, "pcm:raw=\(container.encoding.rawValue):48000:2").bits
    }

    @Test(arguments: ContainerBytes.allCases, [1, 7, Int.max])
    func `container on a pipe, in fragments: samples, format and duration`(container: ContainerBytes, fragment: Int) throws {
        let recording = try record(container.bytes(Self.bytes), fragment: fragment)
        #expect(recording.bits == (try raw(container)))
        #expect(recording.source.format == StreamFormat(sampleRate: 48_000, channelCount: 2))
        #expect(recording.source.duration == 100.0 / 48_000)
        #expect(recording.gaps.isEmpty)
    }

    @Test(arguments: ContainerBytes.allCases)
    func `container that declares more or fewer samples than the pipe holds: a gap, or only those`(container: ContainerBytes) throws {
        let cut = try record(container.bytes(Self.bytes, declared: 480))
        #expect(cut.samples.count == 200 && cut.gaps == [Gap(frames: 20, reason: .truncatedFile)])
        let longer = try record(container.bytes(Self.bytes, declared: 200))
        #expect(longer.samples.count == 100 && longer.gaps.isEmpty)
    }

    @Test(arguments: ContainerBytes.allCases)
    func `container with the placeholder of an unknown length: read to the end of the pipe`(container: ContainerBytes) throws {
        let recording = try record(container.bytes(Self.bytes, declared: container.container == "AIFF" ? -8 : -1))
        #expect(recording.bits == (try raw(container)))
        #expect(recording.source.duration == nil && recording.gaps.isEmpty)
    }

    @Test(arguments: ContainerBytes.allCases)
    func `header truncated at any byte: refused, and the message names the container`(container: ContainerBytes) {
        let whole = container.bytes([])
        for length in stride(from: 12, to: whole.count, by: 3) {
            #expect(failure(Array(whole[..<length])).contains("this \(container.container) stream ends within its header"))
        }
    }

    @Test(arguments: ContainerBytes.allCases)
    func `stream with a header that is read as raw samples: refused`(container: ContainerBytes) {
        let message = failure(container.bytes(Self.bytes), "pcm:raw=f32le:44100:2")
        #expect(message.contains("is a \(container.container) stream") && message.hasSuffix("leave out --raw"))
    }

    @Test func `AIFF on a pipe whose samples precede their format: refused`() {
        #expect(failure(Array("FORM\0\0\0\u{18}AIFFSSND\0\0\0\u{c}\0\0\0\0\0\0\0\0abcd".utf8)).contains("its data before its format"))
    }

    @Test(arguments: [(1, "µ-law"), (27, "A-law"), (23, "encoding 23")])
    func `AU of another encoding: refused with its name`(code: UInt8, name: String) {
        var bytes = ContainerBytes.au.bytes(Self.bytes)
        bytes[15] = code
        #expect(failure(bytes).contains("this AU stream holds ") && failure(bytes).contains(name))
    }

    @Test func `odd chunk before the samples of a pipe, padded or not: the same samples`() throws {
        let wav = WAVBytes(channelCount: 2, before: [("note", [1, 2, 3])], samples: Self.bytes).bytes
        let pad = 12 + 24 + 8 + 3
        #expect(wav[pad] == 0)
        let bits = try record(wav).bits
        #expect(bits == (try raw(.wave64)))
        #expect(try record(Array(wav[..<pad] + wav[(pad + 1)...])).bits == bits)
    }

    // MARK: Core Audio layouts

    private func layout(_ tag: UInt32, bits: UInt32 = 0, labels: [UInt32] = [], count: UInt32? = nil) -> [String]? {
        let head = [tag, bits, count ?? UInt32(labels.count)].flatMap { $0.bytes(bigEndian: true) }
        return ChannelMap(coreAudioLayout: head + labels.flatMap { $0.bytes(bigEndian: true) + [UInt8](repeating: 0, count: 16) })?.names
    }

    @Test func `Core Audio layout by tag, bitmap or labels: the positions`() {
        #expect(layout(121 << 16 | 6) == ["FL", "FR", "FC", "LFE", "SL", "SR"])
        #expect(layout(124 << 16 | 6) == ["FC", "FL", "FR", "SL", "SR", "LFE"])
        #expect(layout(1 << 16, bits: 0x3f) == ["FL", "FR", "FC", "LFE", "BL", "BR"])
        #expect(layout(0, labels: [3, 1, 2, 4]) == ["FC", "FL", "FR", "LFE"])
    }

    @Test func `Core Audio layout with a wrong count, an unknown label or an unknown tag: no positions`() {
        #expect(layout(0, labels: [1, 2, 3], count: 4) == nil)
        #expect(layout(0, labels: [1, 2, 3], count: .max) == nil)
        #expect(layout(0, labels: [1, 2, 400]) == nil)
        #expect(layout(77 << 16 | 6) == nil)
        #expect(ChannelMap(coreAudioLayout: [0, 121]) == nil)
    }
}
