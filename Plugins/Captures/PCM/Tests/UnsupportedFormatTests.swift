import Testing

@testable import HemiolaPCM
@testable import PCMCapture

@Suite struct UnsupportedFormatTests {
    /// Pads the first bytes of a file with zeros.
    private static func padded(_ bytes: [UInt8]) -> [UInt8] {
        bytes + Array(repeating: 0, count: max(0, 64 - bytes.count))
    }

    @Test(arguments: [
        (Array("fLaC\0\0\0\u{22}".utf8), "a FLAC file"),
        (Array("OggS\0\u{2}".utf8), "an Ogg file"),
        (Array("\0\0\0\u{1c}ftypM4A ".utf8), "an MPEG-4 file (m4a, mp4, mov)"),
        (Array("FORM\0\0\0\08SVX".utf8), "an IFF file (8svx)"),
        (Array("RIFF\0\0\0\0AVI ".utf8), "an AVI video"),
        ([0x1a, 0x45, 0xdf, 0xa3, 0x9f], "a Matroska file (webm, mka, mkv)"),
        ([0x30, 0x26, 0xb2, 0x75, 0x8e, 0x66, 0xcf, 0x11], "a Windows Media file (wma, wmv, asf)"),
    ])
    func `other format: refused with its name and what to do`(bytes: [UInt8], name: String) {
        #expect(
            failure(Self.padded(bytes))
                == "standard input looks like \(name), but pcm supports only WAV, AIFF, AU, CAF, Wave64 and raw samples; decode it in the pipe: "
                + "ffmpeg -v error -i - -f wav - | hemiola analyze -, or save it to a file and analyse the file")
    }

    @Test(arguments: [([0xff, 0xfb, 0x90, 0x64], "MP3"), ([0xff, 0xf1, 0x50, 0x80], "AAC")] as [([UInt8], String)])
    func `MPEG or AAC frames without a tag: refused with both possibilities`(bytes: [UInt8], name: String) {
        let message = failure(Self.padded(bytes))
        #expect(message.contains("if it is \(name), decode it in the pipe"))
        #expect(message.hasSuffix("--raw f32le,44100,2"))
    }

    @Test func `raw samples without a format: refused with the option that gives it`() {
        #expect(
            failure(Self.padded([0, 0, 0x80, 0x3f]))
                == "standard input is not a WAV, AIFF, AU, CAF or Wave64 stream (first bytes: 00 00 80 3f); for raw samples, give their format: "
                + "--raw f32le,44100,2")
        #expect(failure([1]).contains("(first bytes: 01)"))
    }

    @Test func `other format in a file: the message suggests hemiola analyze PATH`() throws {
        let file = TemporaryFile(Self.padded(Array("fLaC".utf8)))
        let error = #expect(throws: (any Error).self) { try Recording(PCMReader(settings("pcm:\(file.path)"))) }
        #expect("\(error!)".hasPrefix("\(file.path) looks like a FLAC file"))
        #expect("\(error!)".contains("analyse it as a file: hemiola analyze PATH"))
    }

    @Test(arguments: ["RIFF", "RF64"])
    func `WAV stream with --raw: refused`(magic: String) {
        let wav = WAVBytes(magic: magic, samples: [1, 2, 3, 4]).bytes
        #expect(failure(wav, "pcm:raw=f32le:44100:2").hasSuffix("leave out --raw"))
    }
}
