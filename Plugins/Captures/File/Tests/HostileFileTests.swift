import Foundation
import Hemiola
import HemiolaSignal
import TestSupport
import Testing

@testable import FileCapture

/// Files made to let ffmpeg read other files or addresses, or to take all of the disk, the memory or the processor.
@Suite(.mayNotHang) struct HostileFileTests {
    let fixture: FileFixture

    init() throws { fixture = try FileFixture() }

    // MARK: - Other files

    /// A DASH manifest that names the file `secret.m4a` in its folder; a live one names it again every second.
    private static func manifest(isLive: Bool) -> String {
        let time =
            isLive
            ? #"type="dynamic" availabilityStartTime="2020-01-01T00:00:00Z" minimumUpdatePeriod="PT1S""#
            : #"type="static" mediaPresentationDuration="PT2S""#
        let segments =
            isLive
            ? #"<SegmentTemplate media="secret.m4a" initialization="secret.m4a" duration="1" timescale="1" startNumber="1"/>"#
            : "<BaseURL>secret.m4a</BaseURL>"
        return
            #"<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" profiles="urn:mpeg:dash:profile:isoff-live:2011" minBufferTime="PT1S" \#(time)>"#
            + #"<Period><AdaptationSet mimeType="audio/mp4"><Representation id="0" bandwidth="128000" codecs="mp4a.40.2">"#
            + segments + "</Representation></AdaptationSet></Period></MPD>"
    }

    private func makeSecret() throws {
        let input = try fixture.write(WAVBytes.sines(channels: 2, frames: 96_000).bytes, to: "input.wav")
        try Program.ffmpeg.run(["-v", "error", "-i", input, fixture.path("secret.m4a")])
    }

    @Test(
        .enabled(if: Program.ffmpeg.isRequired, "ffmpeg is not installed"),
        arguments: ["<!--ftypjp2 -->", "<!--moov-->", "<!--mdat-->", "MP+", "wvpk", "FLV"], [false, true])
    func `DASH manifest with the signature of a sound format: refused, and the file that it names is not read`(
        signature: String, isLive: Bool
    ) throws {
        try makeSecret()
        let path = try fixture.write(Array((signature + Self.manifest(isLive: isLive)).utf8), to: "a.m4a")
        let line = try #require(refusal(of: path, ffmpeg: FFmpegDecoder()))
        #expect(line.hasPrefix("\(path): looks like ") && line.contains(", but ffmpeg cannot decode it ("), "\(line)")
        #expect(!line.contains("\n") && !line.contains("/proc/"))
    }

    @Test(
        .enabled(if: Program.ffmpeg.isRequired, "ffmpeg is not installed"),
        arguments: [
            "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nsecret.m4a\n#EXT-X-ENDLIST\n", "ffconcat version 1.0\nfile secret.m4a\n",
            "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=-\nc=IN IP4 127.0.0.1\nt=0 0\nm=audio 5004 RTP/AVP 0\n", manifest(isLive: false),
            #"<?xml version="1.0"?>"# + manifest(isLive: true),
        ], ["a.m4a", "a.mp4", "a.aac", "a.wav"])
    func `playlist, script or description with the name of a sound file: refused, and the file that it names is not read`(
        content: String, name: String
    ) throws {
        try makeSecret()
        let path = try fixture.write(Array(content.utf8), to: name)
        let line = try #require(refusal(of: path, ffmpeg: FFmpegDecoder()))
        #expect(line.hasPrefix("\(path): is not audio: ") && !line.contains("\n"), "\(line)")
    }

    /// A file with the signature of MPEG-4, and a shell script that takes the place of ffmpeg.
    private func fakeFFmpeg(_ lines: String) throws -> (path: String, ffmpeg: FFmpegDecoder) {
        let path = try fixture.write(Array("\0\0\0\u{20}ftypM4A ".utf8) + [UInt8](repeating: 0, count: 500), to: "-a:b.m4a")
        return (path, FFmpegDecoder(program: try fixture.writeScript(lines, to: "script")))
    }

    @Test func `any file: ffmpeg gets its bytes, not its name, and may open nothing but files of its format`() throws {
        let (path, ffmpeg) = try fakeFFmpeg(
            "printf '%s\\n' \"$@\" > '\(fixture.path("words"))'; cat > '\(fixture.path("bytes"))'; exit 1")
        #expect(refusal(of: path, ffmpeg: ffmpeg) != nil)
        #expect(try fixture.bytes(of: "bytes") == fixture.bytes(of: "-a:b.m4a"))
        let words = try String(decoding: fixture.bytes(of: "words"), as: UTF8.self).split(separator: "\n")
        #expect(!words.contains { $0.contains("a:b.m4a") })
        #expect(words.prefix(7).suffix(4) == ["-protocol_whitelist", "file", "-f", "mov"])
    }

    // MARK: - Limits

    @Test func `sound that is absurdly long for the size of the file: refused, and ffmpeg ends`() throws {
        let (path, ffmpeg) = try fakeFFmpeg("truncate -s 5G /dev/stdout; exec sleep 1000")
        let line = try #require(refusal(of: path, ffmpeg: ffmpeg))
        #expect(line.contains("ffmpeg cannot decode it (its 512 bytes hold more than 4 GiB of sound)"), "\(line)")
    }

    @Test func `processor time without sound: refused, and ffmpeg ends`() throws {
        var (path, ffmpeg) = try fakeFFmpeg("while :; do :; done")
        ffmpeg.timeLimit = 0.5
        let line = try #require(refusal(of: path, ffmpeg: ffmpeg))
        #expect(line.contains("ffmpeg cannot decode it (processor time without sound: 0.5 s)"), "\(line)")
    }

    @Test func `memory of ffmpeg: limited`() throws {
        let (path, ffmpeg) = try fakeFFmpeg("until [ \"$(ulimit -d)\" = 524288 ]; do sleep 0.01; done; echo limited >&2; exit 1")
        #expect(refusal(of: path, ffmpeg: ffmpeg)?.contains("(limited)") == true)
    }
}

/// Every format that ffmpeg decodes for this capture.
@Suite(.enabled(if: Program.ffmpeg.isRequired, "ffmpeg is not installed")) struct FFmpegFormatTests {
    let fixture: FileFixture

    init() throws { fixture = try FileFixture() }

    @Test(arguments: [
        "a.m4a", "a.mp4 -movflags frag_keyframe+empty_moov", "a.mov -c:a pcm_s16le", "alac.m4a -c:a alac", "a.aac",
        "a.aac -write_id3v2 1", "a.mka", "a.webm -c:a libopus", "a.wma", "a.avi", "a.flv -ar 44100", "a.mpg", "a.wv", "a.tta", "a.ac3",
        "a.eac3", "a.dts -strict -2 -c:a dca", "a.rm -c:a real_144 -ar 8000 -ac 1", "flac.ogg -c:a flac", "a.wav -c:a wmav2",
        "a.w64 -c:a ac3", "a.caf -c:a alac",
    ])
    func `file of a format: the samples that ffmpeg decodes when it guesses the format`(recipe: String) throws {
        let words = recipe.split(separator: " ").map(String.init)
        let input = try fixture.write(WAVBytes.sines(channels: 2, frames: 48_000).bytes, to: "input.wav")
        let path = fixture.path(words[0])
        try Program.ffmpeg.run(["-v", "error", "-i", input] + words.dropFirst() + [path])
        try Program.ffmpeg.run(["-v", "error", "-i", path, "-c:a", "pcm_f32be", fixture.path("decoded.au")])
        let (recording, expected) = (try Recording(of: path), try Recording(of: fixture.path("decoded.au")))
        #expect(recording.samples == expected.samples && recording.frameCount > 5000)
        #expect(recording.others == [.end])
    }
}
