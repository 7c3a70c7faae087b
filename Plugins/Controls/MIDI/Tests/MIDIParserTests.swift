import HemiolaMIDI
import HemiolaRecords
import HemiolaSignal
import Testing

@Suite struct MIDIParserTests {
    private func messages(_ bytes: [UInt8]) -> [[UInt8]] {
        var parser = MIDIParser()
        return bytes.compactMap { parser.parse($0) }.map(\.bytes)
    }

    @Test func `messages of every length: as they were sent`() {
        let sent: [[UInt8]] = [
            [0x80, 1, 2], [0x9F, 127, 127], [0xA3, 0, 5], [0xB0, 7, 100], [0xC5, 9], [0xD0, 64], [0xE1, 0, 64], [0xF1, 3], [0xF2, 1, 2],
            [0xF3, 4], [0xF6], [0xF8], [0xFA], [0xFB], [0xFC], [0xFE], [0xFF],
        ]
        #expect(messages(sent.flatMap(\.self)) == sent)
    }

    @Test func `running status: messages without a status byte of their own`() {
        #expect(messages([0x92, 60, 100, 62, 0, 64, 90]) == [[0x92, 60, 100], [0x92, 62, 0], [0x92, 64, 90]])
        #expect(messages([0xC1, 5, 6]) == [[0xC1, 5], [0xC1, 6]])
    }

    @Test func `clock between the bytes of a message: both`() {
        #expect(messages([0x90, 0xF8, 60, 0xFE, 100, 0xF8, 61, 0xF9, 1]) == [[0xF8], [0xFE], [0x90, 60, 100], [0xF8], [0x90, 61, 1]])
    }

    @Test func `a system message ends running status`() {
        #expect(messages([0x90, 60, 100, 0xF6, 61, 100]) == [[0x90, 60, 100], [0xF6]])
        #expect(messages([0xF3, 1, 2, 3]) == [[0xF3, 1]])
    }

    @Test func `system exclusive of any length, with clock inside: skipped except for the clock`() {
        let long = [UInt8](repeating: 1, count: 100_000)
        let bytes = [0x90, 60, 1, 0xF0] + long + [0xF8] + long + [0xF7, 2, 3, 0x80, 4, 5]
        #expect(messages(bytes) == [[0x90, 60, 1], [0xF8], [0x80, 4, 5]])
    }

    @Test func `incomplete and undefined messages, data without a status: skipped`() {
        #expect(messages([1, 2, 3, 0x90, 60, 0x80, 1, 2, 0xF4, 5, 0xF5, 6, 0xFD, 0xB1, 7]) == [[0x80, 1, 2]])
    }

    @Test func `random bytes, two million: only valid messages, and the same however the bytes are cut`() {
        var random = SplitMix64(seed: 7)
        var (parser, other) = (MIDIParser(), MIDIParser())
        var (count, chunk) = (0, [UInt8]())
        for _ in 0..<2_000_000 {
            // Mostly data bytes: long runs of running status.
            let bits = random.next()
            let byte = UInt8(truncatingIfNeeded: bits) & (bits >> 32 % 3 == 0 ? 0xFF : 0x7F)
            chunk.append(byte)
            guard let message = parser.parse(byte) else { continue }
            count += 1
            let again = chunk.compactMap { other.parse($0) }
            chunk = []
            guard again == [message], message.status >= 0x80, message.bytes.dropFirst().allSatisfy({ $0 < 0x80 }),
                MIDIMessage(status: message.status, message.count > 1 ? message[1] : nil, message.count > 2 ? message[2] : nil) == message
            else {
                Issue.record("\(message.bytes) \(again.map(\.bytes))")
                return
            }
        }
        #expect(count > 100_000)
    }
}
