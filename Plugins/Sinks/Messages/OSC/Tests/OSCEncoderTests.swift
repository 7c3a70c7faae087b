import HemiolaNetwork
import HemiolaRecords
import TestSupport
import Testing

@testable import OSCSink

/// Packets byte for byte, from the examples of the specification.
@Suite struct OSCEncoderTests {
    @Test func `message of the specification with one number`() {
        var encoder = OSCEncoder()
        encoder.append("/oscillator/4/frequency", [.number(440)])
        #expect(encoder.bytes == bytes("/oscillator/4/frequency\0", [0x2C, 0x66, 0, 0, 0x43, 0xDC, 0, 0]))
    }

    @Test func `message of the specification with five arguments`() {
        var encoder = OSCEncoder()
        encoder.append("/foo", [.integer(1000), .integer(-1), .text("hello"), .number(1.234), .number(Double(Float(5.678)))])
        let expected: [UInt8] = [
            0x2F, 0x66, 0x6F, 0x6F, 0, 0, 0, 0, 0x2C, 0x69, 0x69, 0x73, 0x66, 0x66, 0, 0, 0, 0, 0x03, 0xE8, 0xFF, 0xFF, 0xFF, 0xFF, 0x68,
            0x65, 0x6C, 0x6C, 0x6F, 0, 0, 0, 0x3F, 0x9D, 0xF3, 0xB6, 0x40, 0xB5, 0xB2, 0x2D,
        ]
        #expect(encoder.bytes == expected)
    }

    @Test func `truth has a tag and no bytes; no value is the zero of its type`() {
        var encoder = OSCEncoder()
        encoder.append(
            "/a", [.boolean(true), .boolean(false), .none, .none, .none], types: [.boolean, .boolean, .integer, .text, .number])
        #expect(
            encoder.bytes == bytes("/a\0\0,TFisf\0\0", .zeros(12)))
    }

    @Test func `numbers that OSC cannot express: limited to 32 bits, not finite becomes 0`() {
        var encoder = OSCEncoder()
        encoder.append("/a", [.integer(.max), .number(.nan)])
        #expect(encoder.bytes == bytes("/a\0\0,if\0", [0x7F, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0]))
    }

    @Test func `bundle: name, time and sized elements`() {
        var message = OSCEncoder()
        message.append("/a", [])
        var encoder = OSCEncoder()
        encoder.appendBundle(at: OSCTime(since1970: 0.5))
        encoder.append(sized: message.bytes)
        #expect(encoder.bytes == bytes("#bundle\0", [0x83, 0xAA, 0x7E, 0x80, 0x80, 0, 0, 0, 0, 0, 0, 8], "/a\0\0,\0\0\0"))
    }

    @Test func `time tag: immediately is 1, and 2036 is the second era`() {
        #expect(OSCTime.immediately.value == 1)
        #expect(OSCTime(since1970: 2_085_978_496).value == 0)
    }

    @Test(arguments: ["a", "", "/a b", "/a#", "/ä", "/a*", "/a{b}", "/a\0"])
    func `address that OSC does not allow: refused`(address: String) {
        #expect(OSCAddress.fault(in: address) != nil)
    }

    @Test func `name as a part of an address: forbidden characters are replaced`() {
        #expect(OSCAddress.part("musical-key") == "musical-key")
        #expect(OSCAddress.part("a/b*ä") == "a_b__")
    }
}
