import Foundation
import Hemiola
import TestSupport
import Testing

@testable import FileCapture

@Suite struct ExcerptTests {
    let fixture: FileFixture

    init() throws { fixture = try FileFixture() }

    /// All that is delivered, without the waits.
    private func recording(_ path: String, _ excerpt: Excerpt, room: Int = 1024) throws -> Recording {
        let capture = FileCapture(path, excerpt: excerpt)
        let source = try capture.open(FormatRequest())
        defer { capture.close() }
        var recording = Recording(source, capture, room: room)
        recording.others.removeAll { $0 == .idle }
        return recording
    }

    static let formats: [(name: String, codec: String)] = [
        ("a.flac", "flac"), ("a.ogg", "libvorbis"), ("a.opus", "libopus"), ("a.mp3", "libmp3lame"), ("b.wav", "pcm_s16le"),
    ]

    @Test(.enabled(if: Program.ffmpeg.isRequired, "ffmpeg is not installed"), arguments: Self.formats)
    func `start and duration: the same samples as in the whole file`(name: String, codec: String) throws {
        let recipe = FileCaptureTests.Recipe(name: name, program: .ffmpeg, arguments: ["-i", "IN", "-c:a", codec, "OUT"])
        let path = try recipe.make(in: fixture)
        let whole = try Recording(of: path)
        for room in [1024, 100] {
            let part = try recording(path, Excerpt(start: 0.5, duration: 0.75), room: room)
            #expect(part.samples == Array(whole.samples[2 * 24_000..<2 * 60_000]))
            #expect(part.others == [.end])
            #expect(part.source.start == 0.5)
            #expect(part.source.duration == nil || part.source.duration == 0.75)
        }
        let rest = try recording(path, Excerpt(start: 1.25))
        #expect(rest.samples == Array(whole.samples[2 * 60_000..<whole.samples.count]))
        let first = try recording(path, Excerpt(duration: 0.25))
        #expect(first.samples == Array(whole.samples[..<(2 * 12_000)]))
        #expect(first.source.start == nil)
    }

    @Test(
        .enabled(if: Program.ffmpeg.isRequired, "ffmpeg is not installed"),
        arguments: ["a.wav", "a.aiff", "a.au", "a.caf", "a.w64", "a.flac"])
    func `start in a format that allows to seek: nothing before it is decoded, and the samples are the same`(name: String) throws {
        let path = try FileCaptureTests.Recipe(name: name, program: .ffmpeg, arguments: ["-i", "IN", "OUT"]).make(in: fixture)
        let whole = try Recording(of: path)
        for start in [1, 4096, 50_000, 95_999] {
            let decoder = try #require(try SoundContent(of: InputFile(path), named: path).choice).makeDecoder(InputFile(path))
            #expect(decoder.skip(Int64(start)) == start)
            var samples = [Float](repeating: 0, count: 8192)
            var span = samples.mutableSpan
            guard case .frames(let count) = try decoder.read(into: &span) else {
                Issue.record("no frames behind \(start)")
                continue
            }
            #expect(count > 0 && samples.prefix(2 * count).elementsEqual(whole.samples[(2 * start)...].prefix(2 * count)))
        }
    }

    @Test func `start and duration after a rewind: the same again`() throws {
        let path = try fixture.write(WAVBytes.sines(frames: 96_000).bytes, to: "a.wav")
        let capture = FileCapture(path, excerpt: Excerpt(start: 0.5, duration: 0.25))
        let source = try capture.open(FormatRequest())
        let first = Recording(source, capture)
        try capture.rewind()
        #expect(Recording(source, capture) == first)
        #expect(first.frameCount == 12_000)
        capture.close()
    }

    @Test func `truncated file: the gap counts as time and is cut to the excerpt`() throws {
        let path = try fixture.write(Array(WAVBytes.sines(frames: 96_000).bytes.dropLast(2 * 48_000)), to: "a.wav")
        func gap(_ frames: Int64) -> [ReadResult] { [.gap(Gap(frames: frames, reason: .truncatedFile)), .end] }
        #expect(try recording(path, Excerpt(start: 0.5, duration: 1)).others == gap(24_000))
        #expect(try recording(path, Excerpt(start: 1.5, duration: 0.25)).others == gap(12_000))
        #expect(try recording(path, Excerpt(start: 0.25, duration: 0.5)).others == [.end])
    }

    @Test func `start after the end: an error that states it`() throws {
        let path = try fixture.write(WAVBytes.sines(frames: 96_000).bytes, to: "a.wav")
        let recording = try recording(path, Excerpt(start: 3))
        #expect(recording.error == "\(path): ends before the start of the excerpt, 3.0 s; choose an earlier start")
    }
}
