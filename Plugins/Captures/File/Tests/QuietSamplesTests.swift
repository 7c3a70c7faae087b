import Foundation
import Hemiola
import HemiolaTesting
import TestSupport
import Testing

@testable import FileCapture

/// Formats without a signature of ours, with quiet samples: their bytes contain many headers of MPEG frames.
@Suite struct QuietSamplesTests {
    let fixture: FileFixture

    init() throws { fixture = try FileFixture() }

    /// Noise between -40 and 40 of 32 768.
    private static let quiet = TestSignal.noise(seed: 5, frames: 160_000).map { ($0 * 40).rounded() / 32_768 }

    private func source() throws -> (path: String, samples: [Float]) {
        let path = try fixture.write(WAVBytes(samples: Self.quiet, sampleRate: 16_000).bytes, to: "in.wav")
        return (path, try Recording(of: path).samples)
    }

    @Test(
        .enabled(if: Program.sox.isRequired, "sox is not installed"),
        arguments: ["a.sph -L", "a.sph -B", "a.voc", "a.sf", "a.paf", "a.avr", "a.htk", "a.pvf"])
    func `quiet samples in a format that libsndfile reads: those of the WAV`(recipe: String) throws {
        let (path, samples) = try source()
        let words = recipe.split(separator: " ").map(String.init)
        try Program.sox.run(["-D", path] + words.dropFirst() + [fixture.path(words[0])])
        let recording = try Recording(of: fixture.path(words[0]))
        #expect(recording.samples == samples && recording.others == [.end])
        // The content decides, not the name.
        let unnamed = try Recording(of: fixture.write(fixture.bytes(of: words[0]), to: "unnamed"))
        #expect(unnamed.samples == samples && unnamed.others == [.end])
    }

    @Test(.enabled(if: Program.sox.isRequired, "sox is not installed"))
    func `8SVX: the samples of eight bits`() throws {
        let (path, _) = try source()
        try Program.sox.run(["-D", path, "-b", "8", fixture.path("b.wav"), "gain", "40"])
        try Program.sox.run([fixture.path("b.wav"), fixture.path("a.8svx")])
        #expect(try Recording(of: fixture.path("a.8svx")).samples == Recording(of: fixture.path("b.wav")).samples)
    }

    @Test(arguments: [" ", "\n"]) func `SPHERE whose header is filled with blanks or line feeds: the samples`(filler: String) throws {
        let head =
            "NIST_1A\n   1024\nchannel_count -i 1\nsample_count -i 160000\nsample_rate -i 16000\nsample_n_bytes -i 2\n"
            + "sample_byte_format -s2 01\nsample_sig_bits -i 16\nend_head\n"
        let header = head + String(repeating: filler, count: 1024 - head.utf8.count)
        let path = try fixture.write(Array(header.utf8) + WAVBytes(samples: Self.quiet).sound, to: "a.sph")
        let recording = try Recording(of: path)
        #expect(try recording.samples == source().samples && recording.source.format.sampleRate == 16_000)
    }

    @Test(
        .enabled(if: Program.ffmpeg.isRequired, "ffmpeg is not installed"),
        arguments: ["a.nut -c:a pcm_s16le", "a.m2ts -c:a mp2", "a.adx", "a.ts -c:a aac"])
    func `quiet samples in a format that ffmpeg reads: those that ffmpeg decodes`(recipe: String) throws {
        let (input, _) = try source()
        let words = recipe.split(separator: " ").map(String.init)
        let path = fixture.path(words[0])
        try Program.ffmpeg.run(["-v", "error", "-i", input] + words.dropFirst() + [path])
        try Program.ffmpeg.run(["-v", "error", "-i", path, "-c:a", "pcm_f32le", "-f", "f32le", fixture.path("expected")])
        let expected = try fixture.bytes(of: "expected").withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
        let recording = try Recording(of: path)
        #expect(recording.samples == expected && recording.others == [.end])
    }

    @Test(.enabled(if: Program.ffmpeg.isRequired, "ffmpeg is not installed"), arguments: ["wide", "free", "skip", "pnot"])
    func `QuickTime that begins with another atom than ftyp: its sound`(atom: String) throws {
        let (input, samples) = try source()
        let flags = ["-movflags", "frag_keyframe+empty_moov+default_base_moof"]
        try Program.ffmpeg.run(["-v", "error", "-i", input, "-c:a", "pcm_s16le"] + flags + [fixture.path("a.mov")])
        let bytes = [0, 0, 0, 8] + Array(atom.utf8) + (try fixture.bytes(of: "a.mov"))
        #expect(try Recording(of: fixture.write(bytes, to: "b.mov")).samples == samples)
    }

    @Test(arguments: ["a", "a.dat", "a.mpp", "a.mp3"])
    func `raw samples, and frames of MPEG audio at their end: refused`(name: String) throws {
        let noise = WAVBytes(samples: TestSignal.noise(seed: 7, frames: 50_000).map { $0 / 4 }).sound
        // Two frames of silence, of 128 kbit/s.
        let frame: [UInt8] = [0xff, 0xfb, 0x90, 0xc4] + [UInt8](repeating: 0, count: 413)
        let path = try fixture.write([1] + noise + frame + frame, to: name)
        #expect(throws: Problem.self) { try FileCapture(path).open(FormatRequest()) }
    }

    @Test func `Microsoft Project file: refused by its type, and not selected in a folder`() throws {
        let path = try fixture.write([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1] + [UInt8](repeating: 1, count: 5000), to: "a.mpp")
        #expect(refusal(of: path) == "\(path): is not audio: it looks like a Microsoft Office document; specify an audio file")
        #expect(!FileTypes.sound.extensions.contains("mpp"))
    }
}
