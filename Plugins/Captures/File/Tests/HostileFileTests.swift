import Foundation
import Hemiola
import TestSupport
import Testing

@testable import FileCapture

/// Files made to let ffmpeg read other files or addresses, or to take all of the disk, the memory or the processor.
@Suite(.mayNotHang) struct HostileFileTests {
    let fixture: FileFixture

    init() throws { fixture = try FileFixture() }

    // MARK: - Other files

    private func isRefused(_ path: String) -> Bool {
        let texts = ["its format is not a sound format", "its content is damaged or unknown"]
        return texts.map { undecoded(path).notDecoded($0) }.contains(failure(path))
    }

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
        #expect(isRefused(path))
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
        #expect(isRefused(path))
    }

    @Test(arguments: [false, true]) func `any file: the program gets its bytes, not its name, and may open nothing but sound files`(
        isProbe: Bool
    ) throws {
        var (path, ffmpeg) = try fixture.fakeFFmpeg(
            "printf '%s\\n' \"$@\" > '\(fixture.path("words"))'; cat > '\(fixture.path("bytes"))'; exit 1")
        if isProbe { ffmpeg = FFmpegDecoder(program: fixture.path("none"), probe: ffmpeg.program) }
        #expect(failure(path, ffmpeg) != nil)
        #expect(try fixture.bytes(of: "bytes") == fixture.bytes(of: "-a:b.m4a"))
        let words = try String(decoding: fixture.bytes(of: "words"), as: UTF8.self).split(separator: "\n")
        #expect(!words.contains { $0.contains("a:b.m4a") })
        let start = try #require(words.firstIndex(of: "-protocol_whitelist"))
        #expect(words[start + 1] == "file,subfile" && words[start + 2] == "-format_whitelist")
        #expect(words[start + 4] == "-i" && words[start + 5] == "subfile,,start,0,end,512,,:/proc/self/fd/0")
        let formats = words[start + 3].split(separator: ",")
        #expect(
            formats.contains("mov")
                && !formats.contains { ["dash", "hls", "concat", "sdp", "image2", "lavfi", "imf", "vobsub"].contains($0) })
    }

    // MARK: - Limits

    @Test func `sound that is absurdly long for the size of the file: refused, and ffmpeg ends`() throws {
        let (path, ffmpeg) = try fixture.fakeFFmpeg("truncate -s 5G /dev/stdout; exec sleep 1000")
        #expect(failure(path, ffmpeg) == undecoded(path).notDecoded("its 512 bytes hold more than 4 GiB of sound"))
    }

    @Test func `output of ffprobe without end: ffprobe ends, and ffmpeg decides`() throws {
        let (path, ffmpeg) = try fixture.fakeFFmpeg("truncate -s 5G /dev/stdout; exec sleep 1000")
        #expect(failure(path, FFmpegDecoder(program: fixture.path("none"), probe: ffmpeg.program)) == undecoded(path).withoutFFmpeg)
    }

    @Test func `processor time without sound: refused, and ffmpeg ends`() throws {
        var (path, ffmpeg) = try fixture.fakeFFmpeg("while :; do :; done")
        ffmpeg.timeLimit = 0.5
        #expect(failure(path, ffmpeg) == undecoded(path).notDecoded("processor time without sound: 0.5 s"))
    }

    @Test func `memory of ffmpeg: limited`() throws {
        // The limit is set while the program already runs. If it never is, the loop ends at the limit of the processor time.
        let (path, ffmpeg) = try fixture.fakeFFmpeg(
            "until [ \"$(ulimit -d)\" = 524288 ]; do :; done; echo 'No space left on device' >&2; exit 1")
        #expect(failure(path, ffmpeg) == undecoded(path).noSpace(in: ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"))
    }
}
