import Foundation
import Hemiola
import HemiolaSignal
import Synchronization
import TestSupport
import Testing

@testable import FileCapture

@Suite struct FFmpegDecoderTests {
    let fixture: FileFixture

    init() throws { fixture = try FileFixture() }

    private func encoded(_ name: String, frames: Int = 96_000) throws -> String {
        let recipe = FileCaptureTests.Recipe(name: name, program: .ffmpeg, arguments: ["-i", "IN", "OUT"])
        return try recipe.make(in: fixture, from: .sines(channels: 2, frames: frames))
    }

    @Test(.enabled(if: Program.ffmpeg.isRequired, "ffmpeg is not installed"), arguments: ["a.m4a", "a.mka", "-i x.m4a", "http:a.m4a"])
    func `format that libsndfile does not read: decoded by ffmpeg, twice the same`(name: String) throws {
        let path = try encoded("plain.m4a")
        let named = name == "a.mka" ? try encoded(name) : fixture.path(name)
        if name != "a.mka" { try FileManager.default.moveItem(atPath: path, toPath: named) }
        let capture = FileCapture(named)
        let source = try capture.open(FormatRequest())
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
        let recording = try Recording(of: fixture.write(bytes, to: "damaged.aac"))
        #expect(recording.frameCount > 100_000)
        #expect(recording.others == [.gap(Gap(frames: 0, reason: .damagedFile)), .end])
    }

    @Test(.enabled(if: Program.ffmpeg.isRequired, "ffmpeg is not installed"))
    func `truncated MPEG-4: refused with ffmpeg's message, the same in every run`() throws {
        let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: encoded("a.m4a"))))
        let path = try fixture.write(Array(bytes.prefix(bytes.count / 2)), to: "cut.m4a")
        #expect(
            refusal(of: path, ffmpeg: FFmpegDecoder())
                == "\(path): looks like an MPEG-4 file (m4a, mp4, mov), but ffmpeg cannot decode it (moov atom not found); "
                + "show all its messages: ffmpeg -f mov -i '\(path)' -f null -")
    }

    @Test func `ffmpeg not installed: the message says how to install it`() throws {
        let path = try fixture.write(Array("\0\0\0\u{20}ftypM4A ".utf8) + [UInt8](repeating: 0, count: 500), to: "a.m4a")
        #expect(
            refusal(of: path, ffmpeg: FFmpegDecoder(program: fixture.path("none")))
                == "\(path): looks like an MPEG-4 file (m4a, mp4, mov), which needs ffmpeg, and ffmpeg is not installed; "
                + "install it: apt install ffmpeg")
    }

    @Test(.mayNotHang) func `ffmpeg that does not end: killed when the run is cancelled`() throws {
        let path = try fixture.write(Array("\0\0\0\u{20}ftypM4A ".utf8) + [UInt8](repeating: 0, count: 500), to: "a.m4a")
        let script = try fixture.writeScript("echo $$ > '\(fixture.path("pid"))'\nexec sleep 1000", to: "slow")
        let pidFile = fixture.path("pid")
        let capture = FileCapture(path, ffmpeg: FFmpegDecoder(program: script))
        let error = #expect(throws: CaptureError.self) {
            try capture.open(FormatRequest(isCancelled: { (try? Data(contentsOf: URL(fileURLWithPath: pidFile)))?.last == 0x0a }))
        }
        #expect(error?.remedy == .finish)
        let number = try #require(pid_t(String(contentsOfFile: pidFile, encoding: .utf8).trimmingCharacters(in: .newlines)))
        #expect(kill(number, 0) == -1 && errno == ESRCH)
    }

    // MARK: - Failures of ffmpeg

    /// A file with the signature of MPEG-4, and a shell script that takes the place of ffmpeg.
    private func fakeFFmpeg(_ lines: String) throws -> (path: String, ffmpeg: FFmpegDecoder) {
        let path = try fixture.write(Array("\0\0\0\u{20}ftypM4A ".utf8) + [UInt8](repeating: 0, count: 500), to: "a.m4a")
        return (path, FFmpegDecoder(program: try fixture.writeScript(lines, to: "script")))
    }

    /// Writes an AU header and some samples.
    private static let someSound =
        #"printf '.snd\000\000\000\030\377\377\377\377\000\000\000\006\000\000\273\200\000\000\000\001'; "#
        + "head -c 4000 /dev/zero"

    @Test(.mayNotHang) func `full temporary folder: refused with the name of the folder`() throws {
        let (path, ffmpeg) = try fakeFFmpeg(
            "\(Self.someSound); echo 'av_interleaved_write_frame(): No space left on device' >&2; exit 1")
        let folder = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
        #expect(
            refusal(of: path, ffmpeg: ffmpeg)
                == "\(path): no space left in \(folder) for the decoded sound; set TMPDIR to a folder with more space")
    }

    @Test(.mayNotHang) func `ffmpeg killed by a signal: refused with the number of the signal`() throws {
        let (path, ffmpeg) = try fakeFFmpeg("\(Self.someSound); kill -9 $$")
        let line = try #require(refusal(of: path, ffmpeg: ffmpeg))
        #expect(line.hasPrefix("\(path): ffmpeg was killed by signal 9 while decoding; "), "\(line)")
    }

    @Test(.mayNotHang) func `ffmpeg that prints errors without end: the first line is in the message`() throws {
        let (path, ffmpeg) = try fakeFFmpeg(
            "[ -p /dev/fd/2 ] && echo 'through a pipe' >&2; head -c 1000000 /dev/zero | tr '\\0' x >&2; exit 1")
        let line = try #require(refusal(of: path, ffmpeg: ffmpeg))
        #expect(line.contains("ffmpeg cannot decode it (through a pipe);"), "\(line)")
    }

    @Test(.mayNotHang) func `ffmpeg that takes long: the wait does not count as a looping decoder`() throws {
        let (path, ffmpeg) = try fakeFFmpeg("sleep 0.3; exit 1")
        let watch = OpenWatch()
        #expect(throws: FFmpegDecoder.Failure.failed("it holds no audio")) {
            _ = try ffmpeg.decode(InputFile(path, watch: watch), as: "mov", isCancelled: { false })
        }
        #expect(watch.readCount > 2)
    }
}
