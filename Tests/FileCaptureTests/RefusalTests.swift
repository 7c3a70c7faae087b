import Foundation
import Hemiola
import HemiolaSignal
import TestSupport
import Testing

@testable import FileCapture

/// What cannot be read is refused in one line that names the file and the way out.
@Suite struct RefusalTests {
    let workshop: Workshop

    init() throws { workshop = try Workshop() }

    private func line(for bytes: [UInt8], named name: String = "a.wav") throws -> String? {
        let path = try workshop.write(bytes, to: name)
        let line = refusal(of: path)
        if let line { #expect(!line.contains("\n") && line.hasPrefix(path + ": ")) }
        return line.map { String($0.dropFirst(path.count + 2)) }
    }

    // MARK: Not a file

    @Test func `a missing file is answered with a name like it`() throws {
        try workshop.write([], to: "song.wav")
        let path = workshop.path("sogn.wav")
        #expect(refusal(of: path) == "\(path): there is no such file; did you mean \(workshop.path("song.wav"))?")
        let other = workshop.path("Beethoven, symphony no. 9.flac")
        #expect(refusal(of: other) == "\(other): there is no such file; to see what is there: ls '\(workshop.folder)'")
        let lost = workshop.path("nowhere/song.wav")
        #expect(
            refusal(of: lost) == "\(lost): there is no folder \(workshop.path("nowhere")) that can be read; name a file that is there")
        #expect(refusal(of: "/tmp/a\0b.wav")?.hasPrefix("/tmp/a\\u{0}b.wav: there is no such file") == true)
    }

    @Test func `addresses and home folders that the shell left alone are explained`() {
        #expect(
            refusal(of: "https://example.org/a b.mp3")
                == "https://example.org/a b.mp3: is an address, not a file; to analyse what it names: "
                + "ffmpeg -v error -i 'https://example.org/a b.mp3' -f wav - | hemiola analyze -")
        #expect(refusal(of: "file:///tmp/none.wav") == "file:///tmp/none.wav: is an address, not a path; leave out its file://")
        #expect(
            refusal(of: "~/none/none.wav")
                == "~/none/none.wav: the shell has not put the home folder in the place of ~; write \"$HOME/none/none.wav\"")
    }

    @Test func `a folder is refused with a way to analyse what is in it`() {
        let folder = workshop.folder
        #expect(
            refusal(of: folder) == "\(folder): is a folder; to analyse what is in it: "
                + "find '\(folder)' -type f -print0 | hemiola analyze --files-from - -0")
    }

    @Test func `a pipe is refused without waiting for a writer`() throws {
        let path = workshop.path("a fifo")
        try #require(mkfifo(path, 0o600) == 0)
        #expect(
            refusal(of: path) == "\(path): is a pipe, not a file; to analyse what flows through it: hemiola analyze - < '\(path)'")
    }

    @Test func `a device is refused`() {
        #expect(
            refusal(of: "/dev/null")
                == "/dev/null: is a device, not a file; name a file that holds sound, or pipe it in: hemiola analyze - < FILE")
        #expect(Complaint.cannotOpen("/dev/snd/pcmC0D0c", .device).message.hasSuffix("record what it hears first: arecord -f cd out.wav"))
    }

    @Test func `a file of somebody else is refused in words`() {
        #expect(
            Complaint.cannotOpen("/music/it's.wav", .notPermitted).message
                == #"/music/it's.wav: may not be read by this user; to see whose it is: ls -ld '/music/it'\''s.wav'"#)
        #expect(InputFile.Refusal(EACCES) == .notPermitted)
        #expect(InputFile.Refusal(EPERM) == .notPermitted)
        #expect(InputFile.Refusal(ENOTDIR) == .missing)
    }

    @Test func `a name that is too long and links in a circle are refused in the system's words`() throws {
        #expect(refusal(of: workshop.path(String(repeating: "x", count: 300)))?.contains("cannot be opened (File name too long)") == true)
        let path = workshop.path("circle.wav")
        try #require(symlink("circle.wav", path) == 0)
        #expect(refusal(of: path)?.contains("cannot be opened (Too many levels of symbolic links)") == true)
    }

    // MARK: Not audio

    @Test func `an empty file is refused`() throws {
        #expect(try line(for: []) == "is empty, 0 bytes; name a file that holds sound")
    }

    @Test(arguments: [
        ("Dear reader,\nthis is no audio.\n", "text"), ("käse ist kein Klang", "text"),
        ("<!DOCTYPE html>\n<html>404</html>", "an HTML page"), ("  <html><body>", "an HTML page"), ("<?xml version=\"1.0\"?>", "XML"),
        ("#EXTM3U\nsong.mp3\n", "a playlist"),
        ("{\"error\": 404}", "JSON"), ("%PDF-1.7 ", "a PDF document"), ("MThd\0\0\0\u{6}", "a MIDI file: notes, not sound"),
        ("GIF89a", "a GIF image"), (String(repeating: "\0", count: 300), "nothing but zero bytes"),
    ])
    func `what is not audio is named`(content: String, likeness: String) throws {
        #expect(try line(for: Array(content.utf8)) == "is not audio: it looks like \(likeness); name a file that holds sound")
    }

    @Test(
        arguments: [
            ([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0], "a PNG image"), ([0xff, 0xd8, 0xff, 0xe0, 0], "a JPEG image"),
            ([0x50, 0x4b, 0x03, 0x04], "a ZIP archive"), ([0x1f, 0x8b, 8], "a gzip archive"), ([0x7f, 0x45, 0x4c, 0x46], "a program"),
            ([0xff, 0xfe, 0x48, 0, 0x69, 0], "text in UTF-16"),
        ] as [([UInt8], String)])
    func `what is not audio is named by its first bytes`(content: [UInt8], likeness: String) throws {
        let bytes = content + [UInt8](repeating: 1, count: 200)
        #expect(try line(for: bytes) == "is not audio: it looks like \(likeness); name a file that holds sound")
    }

    @Test(
        arguments: [
            (Array("\0\0\0\u{20}ftypM4A ".utf8), "an MPEG-4 file (m4a, mp4, mov)"), ([0xff, 0xf1, 0x50, 0x80, 0x2e, 0x7f, 0xfc], "AAC"),
            ([0x1a, 0x45, 0xdf, 0xa3], "a Matroska file (webm, mka, mkv)"),
            ([0x30, 0x26, 0xb2, 0x75, 0x8e, 0x66, 0xcf, 0x11], "a Windows Media file (wma, wmv, asf)"), (Array("wvpk".utf8), "WavPack"),
        ] as [([UInt8], String)])
    func `what only ffmpeg reads is shown the pipe through it`(content: [UInt8], likeness: String) throws {
        let name = "it's\ta song.m4a"
        let path = try workshop.write(content + [UInt8](repeating: 0, count: 500), to: name)
        let quoted = "$'" + workshop.folder + #"/it\'s\011a song.m4a'"#
        #expect(
            refusal(of: path) == workshop.folder + #"/it's\ta song.m4a: looks like "# + likeness
                + ", which is not read directly; pipe it through ffmpeg: ffmpeg -v error -i \(quoted) -f wav - | hemiola analyze -")
    }

    @Test(.enabled(if: Program.ffmpeg.isRequired, "ffmpeg is not installed"), arguments: ["a.aac", "a.m4a", "a.mka", "a.wma"])
    func `what ffmpeg makes and libsndfile does not read is refused`(name: String) throws {
        let input = try workshop.write(WAVBytes.sines(channels: 2, frames: 20_000).bytes, to: "input.wav")
        try Program.ffmpeg.run(["-v", "error", "-y", "-i", input, workshop.path(name)])
        #expect(refusal(of: workshop.path(name))?.contains("which is not read directly; pipe it through ffmpeg: ffmpeg") == true)
    }

    @Test func `AAC behind a tag is not taken for MP3`() throws {
        let tag = Array("ID3".utf8) + [4, 0, 0, 0, 0, 0, 4] + [UInt8](repeating: 0, count: 4)
        let line = try line(for: tag + [0xff, 0xf1, 0x50, 0x80, 0x2e, 0x7f, 0xfc] + [UInt8](repeating: 0x21, count: 500))
        #expect(line?.hasPrefix("looks like AAC, which is not read directly; ") == true)
    }

    @Test func `bytes of no kind are refused with a way for bare samples`() throws {
        let bytes = (0..<5000).map { UInt8(truncatingIfNeeded: ($0 &* 7919) >> 4) | 1 }
        let line = try #require(try line(for: bytes))
        #expect(line.hasPrefix("is not audio that can be recognized; if it is bare 16-bit samples: ffmpeg -v error -f s16le "))
    }

    @Test func `a header without its rest is refused in libsndfile's words`() throws {
        let bytes = WAVBytes.sines(frames: 10).bytes
        #expect(try line(for: Array(bytes.prefix(12)))?.hasPrefix("looks like a WAV file, but cannot be decoded (") == true)
        #expect(try line(for: Array(bytes.prefix(20)))?.hasPrefix("looks like a WAV file, but cannot be decoded (") == true)
    }

    // MARK: Outside what is analysed

    @Test func `channels outside 1...32 are refused`() throws {
        var wav = WAVBytes.sines(frames: 100)
        wav.statedChannelCount = 0
        let path = workshop.path("a.wav")
        #expect(try line(for: wav.bytes) == "0 channels are outside 1...32; to read it as stereo: sox -c 2 '\(path)' out.wav")
        let many = WAVBytes.sines(channels: 33, frames: 100).bytes
        #expect(try line(for: many) == "33 channels are outside 1...32; to mix them down to two: sox '\(path)' -c 2 out.wav")
        wav.statedChannelCount = 65535
        #expect(try line(for: wav.bytes)?.hasPrefix("65535 channels are outside 1...32; ") == true)
    }

    @Test(arguments: [1, 7_999, 384_001, 5_000_000, .max] as [UInt32])
    func `rates outside 8000...384000 are refused`(rate: UInt32) throws {
        var wav = WAVBytes.sines(frames: 100)
        wav.statedSampleRate = rate
        #expect(
            try line(for: wav.bytes) == "sample rate \(rate) Hz is outside 8000...384000 Hz; to bring it inside: "
                + "ffmpeg -i '\(workshop.path("a.wav"))' -ar 48000 out.wav")
    }

    @Test func `a rate of 0 is refused with another way out`() throws {
        var wav = WAVBytes.sines(frames: 100)
        wav.statedSampleRate = 0
        #expect(
            try line(for: wav.bytes) == "sample rate 0 Hz is outside 8000...384000 Hz; to give it one: "
                + "sox -r 48000 '\(workshop.path("a.wav"))' out.wav")
    }

    @Test(.enabled(if: Program.sox.isRequired, "sox is not installed"))
    func `the ways out by sox work`() throws {
        var wav = WAVBytes.sines(channels: 2, frames: 1000)
        wav.statedSampleRate = 0
        let noRate = try workshop.write(wav.bytes, to: "no-rate.wav")
        try Program.sox.run(["-r", "48000", noRate, workshop.path("rate.wav")])
        #expect(try Recording(of: workshop.path("rate.wav")).source.format == StreamFormat(sampleRate: 48_000, channelCount: 2))
        wav.statedSampleRate = nil
        wav.statedChannelCount = 0
        let noChannels = try workshop.write(wav.bytes, to: "no-channels.wav")
        try Program.sox.run(["-c", "2", noChannels, workshop.path("channels.wav")])
        #expect(try Recording(of: workshop.path("channels.wav")).source.format.channelCount == 2)
        let many = try workshop.write(WAVBytes.sines(channels: 40, frames: 1000).bytes, to: "many.wav")
        try Program.sox.run([many, "-c", "2", workshop.path("few.wav")])
        #expect(try Recording(of: workshop.path("few.wav")).frameCount == 1000)
    }
}
