import Foundation
import Hemiola
import HemiolaSignal
import Synchronization
import TestSupport
import Testing

@testable import FileCapture

@Suite struct FFmpegDecoderTests {
    let workshop: Workshop

    init() throws { workshop = try Workshop() }

    private func encoded(_ name: String, frames: Int = 96_000) throws -> String {
        let recipe = FileCaptureTests.Recipe(name: name, program: .ffmpeg, arguments: ["-i", "IN", "OUT"])
        return try recipe.make(in: workshop, from: .sines(channels: 2, frames: frames))
    }

    @Test(.enabled(if: Program.ffmpeg.isRequired, "ffmpeg is not installed"), arguments: ["a.m4a", "a.mka", "-i x.m4a", "http:a.m4a"])
    func `format that libsndfile does not read: decoded by ffmpeg, twice the same`(name: String) throws {
        let path = try encoded("plain.m4a")
        let named = name == "a.mka" ? try encoded(name) : workshop.path(name)
        if name != "a.mka" { try FileManager.default.moveItem(atPath: path, toPath: named) }
        let capture = FileCapture(named)
        let source = try capture.open(FormatWish())
        defer { capture.close() }
        let recording = Recording(source, capture)
        #expect(source.format == StreamFormat(sampleRate: 48_000, channelCount: 2))
        #expect(source.name == named)
        #expect(recording.others == [.end])
        #expect(abs(recording.frameCount - 96_000) < 4096)
        #expect(abs(level(of: 1000, in: recording.channel(0), rate: 48_000) - 0.5) < 0.03)
        try capture.rewind()
        #expect(Recording(source, capture) == recording)
    }

    @Test(.enabled(if: Program.ffmpeg.isRequired, "ffmpeg is not installed"))
    func `damaged AAC: what ffmpeg decodes, then a gap of unknown length`() throws {
        var bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: encoded("a.aac", frames: 480_000))))
        for index in bytes.count / 2..<bytes.count / 2 + 3000 where index % 3 == 0 { bytes[index] ^= 0x5a }
        let recording = try Recording(of: workshop.write(bytes, to: "damaged.aac"))
        #expect(recording.frameCount > 100_000)
        #expect(recording.others == [.gap(Gap(frames: 0, reason: .damagedFile)), .end])
    }

    @Test(.enabled(if: Program.ffmpeg.isRequired, "ffmpeg is not installed"))
    func `truncated MPEG-4: refused in ffmpeg's words, the same in every run`() throws {
        let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: encoded("a.m4a"))))
        let path = try workshop.write(Array(bytes.prefix(bytes.count / 2)), to: "cut.m4a")
        #expect(
            refusal(of: path, ffmpeg: FFmpegDecoder())
                == "\(path): looks like an MPEG-4 file (m4a, mp4, mov), but ffmpeg cannot decode it (moov atom not found); "
                + "to see all that it says: ffmpeg -i '\(path)' -f null -")
    }

    @Test func `ffmpeg that is not installed: named with the way to install it`() throws {
        let path = try workshop.write(Array("\0\0\0\u{20}ftypM4A ".utf8) + [UInt8](repeating: 0, count: 500), to: "a.m4a")
        #expect(
            refusal(of: path, ffmpeg: FFmpegDecoder(program: workshop.path("none")))
                == "\(path): looks like an MPEG-4 file (m4a, mp4, mov), which ffmpeg decodes, and ffmpeg is not installed; "
                + "install it: apt install ffmpeg")
    }

    @Test(.mayNotHang) func `program that does not end: killed when the run is cancelled`() throws {
        let path = try workshop.write(Array("\0\0\0\u{20}ftypM4A ".utf8) + [UInt8](repeating: 0, count: 500), to: "a.m4a")
        let script = try workshop.write(Array("#!/bin/sh\necho $$ > '\(workshop.path("pid"))'\nexec sleep 1000\n".utf8), to: "slow")
        chmod(script, 0o755)
        let pidFile = workshop.path("pid")
        let capture = FileCapture(path, ffmpeg: FFmpegDecoder(program: script))
        let error = #expect(throws: CaptureError.self) {
            try capture.open(FormatWish(isCancelled: { (try? Data(contentsOf: URL(fileURLWithPath: pidFile)))?.last == 0x0a }))
        }
        #expect(error?.remedy == .finish)
        let number = try #require(pid_t(String(contentsOfFile: pidFile, encoding: .utf8).trimmingCharacters(in: .newlines)))
        #expect(kill(number, 0) == -1 && errno == ESRCH)
    }
}
