import Hemiola
import TestSupport
import Testing

@testable import FilmSink

/// The settings, and what ffmpeg is told.
@Suite struct VideoArgumentTests {
    private func settings(_ text: String) throws -> FilmSettings {
        let spec = try PluginSpec(parsing: "film:\(text)")
        var problems: [Problem] = []
        let values = try #require(SinkPlugin.film.about.values(from: spec, problems: &problems), "\(problems)")
        return FilmSettings(values)
    }

    @Test(arguments: [
        ("a.avi", "path"), ("a", "path"), ("a.png", "path"), ("{n}.mp4", "path"), ("{x}.mp4", "path"), ("a.mp4,width=641", "width"),
        ("a.mp4,height=361", "height"), ("a.mp4,transparent=true", "transparent"), ("/dev/null.mp4/", "path"),
    ])
    func `settings that make no film: refused, and the setting is named`(text: String, key: String) throws {
        let settings = try settings(text)
        let problem = #expect(throws: Problem.self) { try settings.check() }
        // A placeholder is not a setting of its own.
        #expect(problem?.place?.key == key)
    }

    @Test(arguments: ["a.mp4", "A.MOV", "{stem}.webm,transparent=true", "frames/{n}.png,transparent=true", "{dir}/{n}.png"])
    func `settings that make a film: accepted`(text: String) throws {
        try settings(text).check()
    }

    @Test func `sound of a part of a song: cut by samples, and as long as the pictures`() throws {
        let sound = VideoFile.Sound(path: "a b.flac", start: 61.5, duration: 30)
        let list = VideoFile.arguments("x.mp4", fps: 60, isTransparent: false, sound: sound, output: "/proc/1/fd/3")
        let filter = try #require(list.firstIndex(of: "-af"))
        #expect(list[filter + 1] == "atrim=start=61.5:duration=30.0,asetpts=PTS-STARTPTS")
        #expect(list.contains("file:a b.flac") && list.contains("-shortest") && list.contains("aac"))
        #expect(list.suffix(3) == ["-f", "mp4", "/proc/1/fd/3"])
    }

    @Test func `transparent film: pictures and video have alpha`() {
        let list = VideoFile.arguments("x.webm", fps: 30, isTransparent: true, sound: nil, output: "o")
        #expect(list.contains("png") && list.contains { $0.hasSuffix("format=yuva420p") })
        #expect(!list.contains("-af") && !list.contains("-shortest"))
    }
}
