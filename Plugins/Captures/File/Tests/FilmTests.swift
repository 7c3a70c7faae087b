import Foundation
import Hemiola
import HemiolaPCM
import HemiolaTesting
import TestSupport
import Testing

@testable import FileCapture

/// Sound beside a picture.
@Suite(.enabled(if: Program.ffmpeg.isRequired, "ffmpeg is not installed")) struct FilmTests {
    let fixture: FileFixture

    init() throws { fixture = try FileFixture() }

    private static let picture = ["-f", "lavfi", "-i", "color=s=32x32:d=4:r=25"]
    private func tone(_ hertz: Int) -> [String] { ["-f", "lavfi", "-i", "aevalsrc='sin(2*PI*\(hertz)*t)/2':s=48000:d=4"] }

    private func make(_ name: String, _ arguments: [String]) throws -> String {
        try Program.ffmpeg.run(["-v", "error", "-y"] + arguments + ["-bitexact", fixture.path(name)])
        return fixture.path(name)
    }

    private func recording(_ path: String, track: Int? = nil) throws -> Recording {
        let capture = FileCapture(path, ffmpeg: FFmpegDecoder(track: track))
        let source = try capture.open(FormatRequest())
        defer { capture.close() }
        return Recording(source, capture)
    }

    // MARK: Tracks

    private func tracks(_ name: String, _ options: [String] = []) throws -> String {
        let maps = ["-map", "0:v", "-map", "1:a", "-map", "2:a", "-c:v", "mpeg4", "-c:a", "aac"]
        return try make(name, Self.picture + tone(1000) + tone(3000) + maps + options)
    }

    private static let secondIsDefault = ["-disposition:a:0", "0", "-disposition:a:1", "default"]

    @Test(arguments: ["a.mkv", "a.mp4"]) func `two audio tracks: the default one, and its number in the header`(name: String) throws {
        let second = try recording(tracks(name, Self.secondIsDefault))
        #expect(level(of: 3000, in: second.channel(0), rate: 48_000) > 0.4)
        #expect(try FFmpegRecording(of: fixture.path(name)).output.audioTrack == StreamSource.AudioTrack(number: 2, count: 2))
        let first = try recording(tracks(name))
        #expect(level(of: 1000, in: first.channel(0), rate: 48_000) > 0.4)
        #expect(try FFmpegRecording(of: fixture.path(name)).output.audioTrack == StreamSource.AudioTrack(number: 1, count: 2))
    }

    @Test func `setting audio_track: that track`() throws {
        let path = try tracks("a.mkv", Self.secondIsDefault)
        let capture = try CapturePlugin.file.make(CapturePlugin.file.about.values(parsing: "file:\(path),audio_track=1"))
        let source = try capture.open(FormatRequest())
        var samples = [Float](repeating: 0, count: 4800)
        var span = samples.mutableSpan
        #expect(try capture.read(into: &span) == .frames(4800))
        capture.close()
        #expect(source.audioTrack == StreamSource.AudioTrack(number: 1, count: 2))
        #expect(source.format.channelCount == 1 && level(of: 1000, in: samples, rate: 48_000) > 0.4)
    }

    @Test func `audio track that the file does not have: refused with the number of those that it has`() throws {
        let path = try tracks("a.mkv")
        #expect(refusal(of: path, ffmpeg: FFmpegDecoder(track: 3)) == "\(path): has no audio track 3; choose one of 1…2")
        let wav = try fixture.write(WAVBytes.sines(frames: 1000).bytes, to: "a.wav")
        #expect(refusal(of: wav, ffmpeg: FFmpegDecoder(track: 2)) == "\(wav): has no audio track 2; choose one of 1…1")
        #expect(try recording(wav, track: 1).frameCount == 1000)
    }

    // MARK: Time

    @Test(arguments: ["a.mp4", "a.mkv", "a.ts"]) func `sound that begins two seconds after the picture: at the time of the film`(
        name: String
    ) throws {
        let maps = ["-map", "1:v", "-map", "0:a", "-c:v", "mpeg4", "-c:a", "aac"]
        let path = try make(name, ["-itsoffset", "2"] + tone(1000) + Self.picture + maps)
        let recording = try recording(path)
        let onset = try #require(recording.samples.firstIndex { abs($0) > 0.1 })
        #expect(abs(onset - 96_000) < 2400 && recording.others == [.end])
        #expect(recording.samples[..<(onset - 2400)].allSatisfy { $0 == 0 })
        #expect(abs(recording.frameCount - 6 * 48_000) < 2400)
    }

    // MARK: Cut

    @Test(arguments: [("a.flv", ["-c:v", "flv", "-c:a", "mp3", "-ar", "44100"]), ("a.wmv", ["-c:v", "wmv2", "-c:a", "wmav2"])])
    func `cut Flash and Windows Media with a picture: a gap, and none in the whole file`(name: String, codecs: [String]) throws {
        let path = try make(name, Self.picture + tone(1000) + codecs)
        #expect(try recording(path).others == [.end])
        let cut = try recording(fixture.cut(name, as: "cut-" + name))
        #expect(cut.gap?.reason.isOfFile == true && cut.frameCount > 48_000)
    }

    @Test func `Windows Media that declares two seconds too much: no gap, and one where it is cut`() throws {
        _ = try make("a.wma", tone(1000))
        var bytes = try fixture.bytes(of: "a.wma")
        let name: [UInt8] = [0xa1, 0xdc, 0xab, 0x8c, 0x47, 0xa9, 0xcf, 0x11]
        let place = try #require(bytes.firstRange(of: name)).lowerBound + 64
        let duration = bytes[place..<place + 7].littleEndian + 20_480_000
        for index in 0..<7 { bytes[place + index] = UInt8(truncatingIfNeeded: duration >> (8 * index)) }
        #expect(try recording(fixture.write(bytes, to: "long.wma")).others == [.end])
        #expect(try recording(fixture.cut("long.wma", as: "cut.wma")).gap?.reason.isOfFile == true)
    }

    /// Numbers that a header may hold and no file can have.
    @Test func `header with the largest numbers: read without them`() throws {
        _ = try make("a.wma", tone(1000))
        var bytes = try fixture.bytes(of: "a.wma")
        let name: [UInt8] = [0xa1, 0xdc, 0xab, 0x8c, 0x47, 0xa9, 0xcf, 0x11]
        let place = try #require(bytes.firstRange(of: name)).lowerBound
        bytes.replaceSubrange(place + 56..<place + 60, with: repeatElement(0xff, count: 4))
        bytes.replaceSubrange(place + 92..<place + 100, with: repeatElement(0xff, count: 8))
        let file = try InputFile(fixture.write(bytes, to: "large.wma"))
        #expect(ContainerFacts(Array("[STREAM]\n[FORMAT]\nformat_name=asf\n".utf8), track: nil).isCut(file, end: file.size))
        let long = [UInt8](repeating: 0xff, count: 8) + [0x7f]
        for numbers in [long + [0x81] + long, [UInt8](repeating: 0xff, count: 60), long + long, []] {
            for start in ["MPCKSH\u{1}\0\0\0\0\0", "MPCKSH"] {
                let file = try InputFile(fixture.write(Array(start.utf8) + numbers, to: "a.mpc"))
                let text = "[STREAM]\ncodec_name=musepack8\nsample_rate=44100\n[FORMAT]\nformat_name=mpc8\n"
                let facts = ContainerFacts(Array(text.utf8), track: nil)
                #expect(facts.declaredFrames(file, rate: 44_100) ?? 0 <= DeclaredLength.maximumFrames)
                #expect(facts.filters(file, outputRate: nil).count <= 1)
            }
        }
    }

    @Test func `Speex with the largest numbers: read without them`() throws {
        let path = try make("a.spx", tone(1000) + ["-c:a", "libspeex", "-ar", "16000"])
        let text = "[STREAM]\ncodec_name=speex\nsample_rate=16000\n[FORMAT]\nformat_name=ogg\n"
        let facts = ContainerFacts(Array(text.utf8), track: nil)
        #expect(try facts.filters(InputFile(path), outputRate: nil).count == 1)
        let pages = try OggPageBytes.all(in: fixture.bytes(of: "a.spx"))
        var (first, last) = try (#require(pages.first), #require(pages.last))
        // The frames of a packet, and its size: behind the header of a page of one packet, which has 28 bytes.
        for offset in [56, 64] { first.bytes.replaceSubrange(28 + offset..<32 + offset, with: repeatElement(0xff, count: 4)) }
        first.seal()
        last.granule = .max
        for changed in [[first] + Array(pages[1...]), pages.dropLast() + [last]] {
            let file = try InputFile(fixture.write(changed.file, to: "large.spx"))
            #expect(facts.filters(file, outputRate: nil).isEmpty)
        }
    }

    @Test func `MPEG-4 cut behind its index: none of its sound is there`() throws {
        _ = try make("a.m4a", tone(1000) + ["-movflags", "faststart"])
        let bytes = try fixture.bytes(of: "a.m4a")
        let path = try fixture.write(Array(bytes.prefix(#require(bytes.firstRange(of: Array("mdat".utf8))).upperBound)), to: "cut.m4a")
        #expect(
            refusal(of: path, ffmpeg: FFmpegDecoder())?.contains("(none of its sound can be decoded: it is cut off or damaged)") == true)
    }

    // MARK: AMR

    /// AMR in MPEG-4 with five frames a sample, as telephones write it.
    @Test func `AMR with several frames in a sample: all of them`() throws {
        let noise: [UInt8] = TestSignal.noise(seed: 3, frames: 3200).map { UInt8(truncatingIfNeeded: Int($0 * 1000)) }
        var content = Array("#!AMR\n".utf8)
        for start in stride(from: 0, to: 3200, by: 32) { content += [0x3c] + noise[start..<start + 31] }
        let raw = try fixture.write(content, to: "a.amr")
        try Program.ffmpeg.run(["-v", "error", "-i", raw, "-c", "copy", fixture.path("a.3gp")])
        var bytes = try fixture.bytes(of: "a.3gp")
        func set(_ atom: String, _ offset: Int, _ value: UInt32) throws {
            let place = try #require(bytes.firstRange(of: Array(atom.utf8))).lowerBound + offset
            bytes.replaceSubrange(place..<place + 4, with: WAVBytes.big(value))
        }
        // 20 samples of 160 bytes and 800 frames of sound, in one chunk.
        try set("stsz", 8, 160)
        try set("stsz", 12, 20)
        try set("stsc", 16, 20)
        try set("stts", 12, 20)
        try set("stts", 16, 800)
        let recording = try Recording(of: fixture.write(bytes, to: "b.3gp"))
        #expect(try recording.samples == Recording(of: raw).samples && recording.frameCount == 16_000)
    }
}
