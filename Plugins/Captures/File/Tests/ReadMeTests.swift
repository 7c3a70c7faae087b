import Hemiola
import TestSupport
import Testing

@testable import FileCapture

@Suite struct ReadMeTests {
    private let readMe: ReadMe

    init() throws {
        readMe = try ReadMe("Plugins/Captures/File")
    }

    @Test func `sample record: a header line of a file`() throws {
        let header = try #require(try readMe.records().first)
        let source = try #require(header["source"] as? [String: Any])
        #expect(header["type"] as? String == "header")
        #expect(source["kind"] as? String == CapturePlugin.file.about.id)
        #expect(source["name"] as? String == "song.flac")
        #expect(source["duration_s"] is Double)
    }

    @Test func `ffmpeg command: the same as in the error message`() {
        #expect(readMe.text.contains(FileError.ffmpegPipe("song.m4a")))
    }
}
