import Foundation
import Hemiola
import TestSupport
import Testing

@testable import FileCapture

/// A file that cannot be read: one line that names the file, the error and what to do.
@Suite struct RefusalTests {
    let fixture: FileFixture

    init() throws { fixture = try FileFixture() }

    private func line(for bytes: [UInt8], named name: String = "a.wav") throws -> String? {
        let path = try fixture.write(bytes, to: name)
        let line = refusal(of: path)
        if let line { #expect(!line.contains("\n") && line.hasPrefix(path + ": ")) }
        return line.map { String($0.dropFirst(path.count + 2)) }
    }

    // MARK: Not a file

    @Test func `missing file: the message suggests a similar name`() throws {
        try fixture.write([], to: "song.wav")
        let path = fixture.path("sogn.wav")
        #expect(refusal(of: path) == "\(path): no such file; did you mean \(fixture.path("song.wav"))?")
        let other = fixture.path("Beethoven, symphony no. 9.flac")
        #expect(refusal(of: other) == "\(other): no such file; list the folder: ls '\(fixture.folder)'")
        let lost = fixture.path("nowhere/song.wav")
        #expect(
            refusal(of: lost)
                == "\(lost): no such file: the folder \(fixture.path("nowhere")) does not exist or cannot be read; check the path")
        #expect(refusal(of: "/tmp/a\0b.wav")?.hasPrefix("/tmp/a\\u0000b.wav: no such file") == true)
    }

    @Test func `URL or unexpanded ~: the message explains it`() {
        #expect(
            refusal(of: "https://example.org/a b.mp3")
                == "https://example.org/a b.mp3: is a URL, not a file; decode it with ffmpeg: "
                + "ffmpeg -v error -i 'https://example.org/a b.mp3' -f wav - | hemiola analyze -")
        #expect(refusal(of: "file:///tmp/none.wav") == "file:///tmp/none.wav: is a URL, not a path; remove the prefix file://")
        #expect(
            refusal(of: "~/none/none.wav")
                == "~/none/none.wav: the shell did not expand ~; write \"$HOME/none/none.wav\"")
    }

    @Test func `folder: refused with the command that analyses its files`() {
        let folder = fixture.folder
        #expect(
            refusal(of: folder) == "\(folder): is a folder; to analyse the sound files in it: hemiola analyze '\(folder)'")
    }

    @Test func `pipe without a writer: refused without blocking`() throws {
        let path = fixture.path("a fifo")
        try #require(mkfifo(path, 0o600) == 0)
        #expect(
            refusal(of: path) == "\(path): is a pipe, not a file; to read from it: hemiola analyze - < '\(path)'")
    }

    @Test func `device: refused`() {
        #expect(
            refusal(of: "/dev/null")
                == "/dev/null: is a device, not a file; specify an audio file, or pipe it in: hemiola analyze - < FILE")
        #expect(
            FileError.notRegular("/dev/snd/pcmC0D0c", .device)?.message.hasSuffix("record from it first: arecord -f cd out.wav") == true)
    }

    @Test func `file without read permission: refused with "permission denied"`() {
        for code in [SystemCallError.Code.permissionDenied, .notPermitted] {
            #expect(
                FileError.cannotOpen("/music/it's.wav", SystemCallError(code)).message
                    == #"/music/it's.wav: permission denied; show its owner and mode: ls -ld '/music/it'\''s.wav'"#)
        }
        #expect(FileError.cannotOpen("/music/a.wav", SystemCallError(.notDirectory)) == FileError.missing("/music/a.wav"))
    }

    @Test func `name that is too long, or a loop of symbolic links: refused with the system's message`() throws {
        #expect(refusal(of: fixture.path(String(repeating: "x", count: 300)))?.contains("cannot be opened (File name too long)") == true)
        let path = fixture.path("circle.wav")
        try #require(symlink("circle.wav", path) == 0)
        #expect(refusal(of: path)?.contains("cannot be opened (Too many levels of symbolic links)") == true)
    }

    // MARK: Not audio

    @Test func `empty file: refused`() throws {
        #expect(try line(for: []) == "is empty, 0 bytes; specify an audio file")
    }

    @Test(arguments: [
        ("Dear reader,\nthis is no audio.\n", "text"), ("käse ist kein Klang", "text"),
        ("<!DOCTYPE html>\n<html>404</html>", "an HTML page"), ("  <html><body>", "an HTML page"), ("<?xml version=\"1.0\"?>", "XML"),
        ("#EXTM3U\nsong.mp3\n", "a playlist"),
        ("{\"error\": 404}", "JSON"), ("%PDF-1.7 ", "a PDF document"), ("MThd\0\0\0\u{6}", "a MIDI file, which holds notes and no audio"),
        ("GIF89a", "a GIF image"), (String(repeating: "\0", count: 300), "nothing but zero bytes"),
    ])
    func `text, documents and images: refused with their type`(content: String, signature: String) throws {
        #expect(try line(for: Array(content.utf8)) == "is not audio: it looks like \(signature); specify an audio file")
    }

    @Test(
        arguments: [
            ([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0], "a PNG image"), ([0xff, 0xd8, 0xff, 0xe0, 0], "a JPEG image"),
            ([0x50, 0x4b, 0x03, 0x04], "a ZIP archive"), ([0x1f, 0x8b, 8], "a gzip archive"), ([0x7f, 0x45, 0x4c, 0x46], "a program"),
            ([0xff, 0xfe, 0x48, 0, 0x69, 0], "text in UTF-16"),
        ] as [([UInt8], String)])
    func `binary files: refused with their type by the first bytes`(content: [UInt8], signature: String) throws {
        let bytes = content + [UInt8](repeating: 1, count: 200)
        #expect(try line(for: bytes) == "is not audio: it looks like \(signature); specify an audio file")
    }

    @Test(
        arguments: [
            (Array("\0\0\0\u{20}ftypM4A ".utf8), "an MPEG-4 file (m4a, mp4, mov)"), ([0xff, 0xf1, 0x50, 0x80, 0x2e, 0x7f, 0xfc], "AAC"),
            ([0x1a, 0x45, 0xdf, 0xa3], "a Matroska file (webm, mka, mkv)"),
            ([0x30, 0x26, 0xb2, 0x75, 0x8e, 0x66, 0xcf, 0x11], "a Windows Media file (wma, wmv, asf)"), (Array("wvpk".utf8), "WavPack"),
        ] as [([UInt8], String)])
    func `format that only ffmpeg decodes, without ffmpeg: the message names the format and how to install it`(
        content: [UInt8], signature: String
    ) throws {
        let path = try fixture.write(content + [UInt8](repeating: 0, count: 500), to: "it's\ta song.m4a")
        #expect(
            refusal(of: path) == fixture.folder + #"/it's\ta song.m4a: looks like "# + signature
                + ", which needs ffmpeg, and ffmpeg is not installed; install it: apt install ffmpeg")
    }

    @Test(.enabled(if: Program.ffmpeg.isRequired, "ffmpeg is not installed"), arguments: ["a.aac", "a.m4a", "a.mka", "a.wma"])
    func `AAC, MPEG-4, Matroska and Windows Media without ffmpeg: refused`(name: String) throws {
        let input = try fixture.write(WAVBytes.sines(channels: 2, frames: 20_000).bytes, to: "input.wav")
        try Program.ffmpeg.run(["-v", "error", "-y", "-i", input, fixture.path(name)])
        #expect(
            refusal(of: fixture.path(name))?.hasSuffix("which needs ffmpeg, and ffmpeg is not installed; install it: apt install ffmpeg")
                == true)
    }

    @Test func `AAC after an ID3 tag: not taken for MP3`() throws {
        let tag = Array("ID3".utf8) + [4, 0, 0, 0, 0, 0, 4] + [UInt8](repeating: 0, count: 4)
        let line = try line(for: tag + [0xff, 0xf1, 0x50, 0x80, 0x2e, 0x7f, 0xfc] + [UInt8](repeating: 0x21, count: 500))
        #expect(line?.hasPrefix("looks like AAC, which needs ffmpeg") == true)
    }

    @Test func `unknown bytes: refused with the command for raw samples, unless the name is that of another format`() throws {
        let bytes = (0..<5000).map { UInt8(truncatingIfNeeded: ($0 &* 7919) >> 4) | 1 }
        let raw = try #require(try line(for: bytes, named: "a.raw"))
        #expect(raw.hasPrefix("unknown audio format; to analyse raw 16-bit samples: ffmpeg -v error -f s16le "))
        for name in ["a.mp3", "a.tak", "a.ofr", "a.wav"] {
            #expect(try line(for: bytes, named: name)?.hasPrefix("is not sound of a known format") == true)
        }
    }

    @Test func `incomplete header: refused with the reason`() throws {
        let bytes = WAVBytes.sines(frames: 10).bytes
        #expect(try line(for: Array(bytes.prefix(12)))?.hasPrefix("looks like a WAV file, but cannot be decoded (") == true)
        #expect(try line(for: Array(bytes.prefix(20)))?.hasPrefix("looks like a WAV file, but cannot be decoded (") == true)
    }

    // MARK: Unsupported formats

    @Test func `channels outside 1...32: refused`() throws {
        var wav = WAVBytes.sines(frames: 100)
        wav.statedChannelCount = 0
        let path = fixture.path("a.wav")
        #expect(try line(for: wav.bytes) == "0 channels are outside 1...32; read it as stereo: sox -c 2 '\(path)' out.wav")
        let many = WAVBytes.sines(channels: 33, frames: 100).bytes
        #expect(
            try line(for: many)
                == "33 channels are outside 1...32; take two of them: ffmpeg -i '\(path)' -af 'pan=stereo|c0=c0|c1=c1' out.wav")
        wav.statedChannelCount = 65535
        #expect(try line(for: wav.bytes)?.hasPrefix("65535 channels are outside 1...32; ") == true)
    }

    @Test(arguments: [1000, 7_999, 384_001, 5_000_000, .max] as [UInt32])
    func `sample rates outside 8000...384000 Hz: refused`(rate: UInt32) throws {
        var wav = WAVBytes.sines(frames: 100)
        wav.statedSampleRate = rate
        #expect(
            try line(for: wav.bytes) == "sample rate \(rate) Hz is outside 8000...384000 Hz; resample: "
                + "ffmpeg -i '\(fixture.path("a.wav"))' -ar 48000 out.wav")
    }

    @Test(arguments: [0, 1, 999] as [UInt32]) func `sample rate below 1 kHz: refused with the command that sets one, with ffmpeg too`(
        rate: UInt32
    ) throws {
        var wav = WAVBytes.sines(frames: 100)
        wav.statedSampleRate = rate
        #expect(refusal(of: try fixture.write(wav.bytes, to: "a.wav"), ffmpeg: FFmpegDecoder()) == refusal(of: fixture.path("a.wav")))
        #expect(
            try line(for: wav.bytes) == "sample rate \(rate) Hz is outside 8000...384000 Hz; set it: "
                + "sox -r 48000 '\(fixture.path("a.wav"))' out.wav")
    }

    @Test(.enabled(if: Program.sox.isRequired && Program.ffmpeg.isRequired, "sox or ffmpeg is not installed"))
    func `commands of the messages: they make the file readable`() throws {
        var wav = WAVBytes.sines(channels: 2, frames: 1000)
        wav.statedSampleRate = 0
        let noRate = try fixture.write(wav.bytes, to: "no-rate.wav")
        try Program.sox.run(["-r", "48000", noRate, fixture.path("rate.wav")])
        #expect(try Recording(of: fixture.path("rate.wav")).source.format == StreamFormat(sampleRate: 48_000, channelCount: 2))
        wav.statedSampleRate = nil
        wav.statedChannelCount = 0
        let noChannels = try fixture.write(wav.bytes, to: "no-channels.wav")
        try Program.sox.run(["-c", "2", noChannels, fixture.path("channels.wav")])
        #expect(try Recording(of: fixture.path("channels.wav")).source.format.channelCount == 2)
        for count in [33, 64, 65, 300] {
            let many = try fixture.write(WAVBytes.sines(channels: count, frames: 1000).bytes, to: "many.wav")
            #expect(try line(for: WAVBytes.sines(channels: count, frames: 1000).bytes)?.contains(count > 64 ? "sox" : "ffmpeg") == true)
            if count > 64 {
                try Program.sox.run([many, fixture.path("few.wav"), "remix", "1", "2"])
            } else {
                try Program.ffmpeg.run(["-v", "error", "-y", "-i", many, "-af", "pan=stereo|c0=c0|c1=c1", fixture.path("few.wav")])
            }
            #expect(try Recording(of: fixture.path("few.wav")).frameCount == 1000)
        }
    }
}
