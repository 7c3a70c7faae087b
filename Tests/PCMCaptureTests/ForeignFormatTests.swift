import Testing

@testable import PCMCapture

@Suite struct ForeignFormatTests {
    /// A first page of what each program really writes, filled up with zeros.
    private static func padded(_ bytes: [UInt8]) -> [UInt8] {
        bytes + Array(repeating: 0, count: max(0, 64 - bytes.count))
    }

    @Test(arguments: [
        (Array("fLaC\0\0\0\u{22}".utf8), "FLAC"),
        (Array("OggS\0\u{2}".utf8), "Ogg"),
        (Array("ID3\u{4}\0\0".utf8), "MP3"),
        (Array("\0\0\0\u{1c}ftypM4A ".utf8), "MP4 or M4A"),
        (Array("FORM\0\0\0\0AIFF".utf8), "AIFF"),
        (Array("caff\0\u{1}".utf8), "Core Audio (CAF)"),
        ([0x72, 0x69, 0x66, 0x66, 0x2e, 0x91, 0xcf, 0x11], "Wave64"),
        (Array("RIFF\0\0\0\0AVI ".utf8), "RIFF, but not WAVE"),
        ([0x1a, 0x45, 0xdf, 0xa3, 0x9f], "Matroska or WebM"),
        ([0x30, 0x26, 0xb2, 0x75, 0x8e, 0x66, 0xcf, 0x11], "Windows Media (ASF)"),
    ])
    func `what is no WAV is named, and the way out`(bytes: [UInt8], name: String) {
        #expect(
            failure(Self.padded(bytes))
                == "standard input looks like \(name), and pcm reads WAV and raw samples; decode it on the way: "
                + "ffmpeg -v error -i - -f wav - | hemiola analyze -, or save it to a file and analyse that")
    }

    @Test(arguments: [([0xff, 0xfb, 0x90, 0x64], "MP3"), ([0xff, 0xf1, 0x50, 0x80], "AAC")] as [([UInt8], String)])
    func `frames without a tag may be samples as well`(bytes: [UInt8], name: String) {
        let message = failure(Self.padded(bytes))
        #expect(message.contains("if it is \(name), decode it on the way"))
        #expect(message.hasSuffix("--raw f32le,44100,2"))
    }

    @Test func `samples without a format are told how to say it`() {
        #expect(
            failure(Self.padded([0, 0, 0x80, 0x3f]))
                == "standard input is no WAV stream (it begins with 00 00 80 3f); if it is raw samples, say how they are written: "
                + "--raw f32le,44100,2")
        #expect(failure([1]).contains("(it begins with 01)"))
    }

    @Test func `a file is better given by its path`() throws {
        let file = TemporaryFile(Self.padded(Array("fLaC".utf8)))
        let error = #expect(throws: (any Error).self) { try Heard(PCMCapture(settings("pcm:\(file.path)"))) }
        #expect("\(error!)".hasPrefix("\(file.path) looks like FLAC"))
        #expect("\(error!)".contains("give the path of the file to hemiola analyze"))
    }

    @Test(arguments: ["RIFF", "RF64"])
    func `a WAV stream is not heard as raw samples`(magic: String) {
        let wav = WAVBytes(magic: magic, samples: [1, 2, 3, 4]).bytes
        #expect(failure(wav, "pcm:raw=f32le:44100:2").hasSuffix("leave out --raw"))
    }
}
