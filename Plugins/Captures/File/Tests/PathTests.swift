import Foundation
import Hemiola
import TestSupport
import Testing

@testable import FileCapture

/// Paths that are not UTF-8.
@Suite struct PathTests {
    @Test(
        arguments: [
            [0x61], [0xe9], [0x63, 0xe9, 0x2e], [0xff, 0xfe], [0xc3], [0xe2, 0x82], [0xf0, 0x9f, 0x8e], [0xed, 0xa0, 0x80],
            // U+EF80, which encodes a byte in such a path, and U+FFFD itself.
            [0xee, 0xbe, 0x80], [0xef, 0xbf, 0xbd], Array("käse 音楽".utf8),
        ] as [[UInt8]])
    func `path of any bytes: unchanged after conversion to text and back`(path: [UInt8]) {
        let text = PathText.text(of: path)
        #expect(PathText.bytes(of: text) == path)
        #expect(PathText.shown(text) == String(decoding: path, as: UTF8.self))
        let isNotUTF8 = String(validating: path, as: UTF8.self) == nil
        #expect(PathText.nonUTF8Bytes(of: text) == (isNotUTF8 ? path : nil))
    }

    @Test func `Base64: equal to that of Foundation`() {
        for count in 0..<10 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 97 &+ 200) }
            #expect(bytes.base64 == Data(bytes).base64EncodedString())
        }
    }

    @Test func `name that is not UTF-8: opened, shown with U+FFFD, and quoted by its bytes`() throws {
        let fixture = try FileFixture()
        let bytes = Array(fixture.folder.utf8) + [0x2f, 0x63, 0xe9, 0x2e, 0x77, 0x61, 0x76]
        let text = PathText.text(of: bytes)
        let file = try #require(fopen(PathText.systemPath(text), "w"))
        let wav = WAVBytes.sines(frames: 100).bytes
        fwrite(wav, 1, wav.count, file)
        fclose(file)
        let recording = try Recording(of: text)
        #expect(recording.frameCount == 100)
        #expect(recording.source.name == fixture.folder + "/c\u{fffd}.wav")
        #expect(recording.source.nameBytes == bytes)
        #expect(PathText.text(of: [0x63, 0xe9, 0x2e]).quotedForShell == #"$'c\351.'"#)
        #expect(PathText.text(of: [0x63, 0xe9, 0x2e]).displayName == "c\u{fffd}.")
    }
}
