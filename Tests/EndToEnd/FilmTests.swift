import Foundation
import TestSupport
import Testing

/// `hemiola film`, with a real Chromium and ffmpeg, which `scripts/setup --test` installs.
@Suite(.serialized, .needs(.ffmpeg), .needs(.program("chromium-headless-shell"))) struct FilmTests {
    private static let rate = 44_100
    /// Pictures a second.
    private static let fps = 20.0
    /// A page that is white on the picture of a beat, and else has the colour of its preset.
    private static let page = """
        <!doctype html><html><head><meta charset="utf-8"></head><body><script>
        const beats = [];
        let colour = "#000";
        let last = NaN;
        hemiola.subscribe(["pushSamples", "beat"]);
        hemiola.addEventListener("beat", ({ detail }) => beats.push(detail.t));
        window.getPresetNames = () => ["#400", "#004"];
        window.loadPresetByName = (name) => (colour = name);
        function draw(now) {
            const middle = hemiola.now() + (now - last || 0) / 2000;
            last = now;
            let isBeat = false;
            while (beats[0] <= middle) isBeat = beats.shift() > 0;
            document.body.style.background = isBeat ? "#fff" : colour;
            requestAnimationFrame(draw);
        }
        requestAnimationFrame(draw);
        </script></body></html>
        """

    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.write(Self.page, to: "page.html")
        let samples = (0..<8 * Self.rate).map { frame in
            let age = (frame + Self.rate * 3 / 10) % (Self.rate * 60 / 128)
            return age < 1000 ? Float(sin(Double(age) * 0.15) * exp(-Double(age) / 250)) * 0.9 : 0
        }
        try folder.write(WAVBytes(samples: samples, sampleRate: Self.rate).bytes, to: "clicks.wav")
    }

    private func film(_ arguments: [String], status: Int32 = 0, environment: [String: String] = [:]) throws -> ChildProcess.Outcome {
        let outcome = try ChildProcess.run(
            Hemiola.path, ["film"] + arguments, in: folder.path, environment: environment, timeout: 2 * Hemiola.timeout)
        #expect(outcome.status == status, "\(arguments): \(outcome.errors)")
        return outcome
    }

    /// What ffmpeg decodes of a file.
    private func decoded(_ name: String, _ options: [String]) throws -> Data {
        let outcome = try ChildProcess.run(
            "ffmpeg", ["-v", "error", "-i", name] + options + ["-y", "decoded"], in: folder.path, timeout: Hemiola.timeout)
        try #require(outcome.status == 0, "\(outcome.errors)")
        return try Data(contentsOf: URL(fileURLWithPath: folder("decoded")))
    }

    @Test func `click track: each flash is within half a picture of its click, in the file`() throws {
        #expect(try film(["clicks.wav", "-o", "film.mp4", "--page", "page.html", "--size", "64x64", "--fps", "20"]).errors.isEmpty)
        let levels = try decoded("film.mp4", ["-vf", "scale=1:1,format=gray", "-f", "rawvideo"])
        #expect(levels.count == 160)
        let flashes = levels.indices.filter { levels[$0] > 128 }.map { Double($0) / Self.fps }
        let samples = try decoded("film.mp4", ["-ac", "1", "-ar", "\(Self.rate)", "-f", "u8"])
        var clicks: [Double] = []
        for (index, sample) in samples.enumerated() where abs(Int(sample) - 128) > 40 {
            let time = Double(index) / Double(Self.rate)
            if time - (clicks.last ?? -1) > 0.3 { clicks.append(time) }
        }
        #expect(clicks.count == 17 && flashes.count == clicks.count)
        // A millisecond more: the beat that was found can be beside the click by that.
        for (flash, click) in zip(flashes, clicks) { #expect(abs(flash - click) <= 0.5 / Self.fps + 0.001, "\(flash) \(click)") }
        #expect(folder.names.filter { $0.hasSuffix(".partial") }.isEmpty)
    }

    @Test func `built-in page, twice: the same bytes of every picture`() throws {
        for name in ["a", "b"] {
            _ = try film([
                "clicks.wav", "-o", "\(name)/{n}.png", "--preset", "Silk", "--size", "128x72", "--scale", "2", "--fps", "10",
                "--start", "0:02", "--duration", "1.5",
            ])
        }
        for number in 1...15 {
            let name = (number < 10 ? "000" : "00") + "\(number).png"
            let picture = try Data(contentsOf: URL(fileURLWithPath: folder("a/\(name)")))
            #expect(
                try picture.starts(with: [0x89, 0x50, 0x4E, 0x47]) && Data(contentsOf: URL(fileURLWithPath: folder("b/\(name)"))) == picture
            )
        }
        // The size is that of the film, and not that of the page.
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder("a/0001.png")))[16..<24] == Data([0, 0, 0, 128, 0, 0, 0, 72]))
        #expect(!FileManager.default.fileExists(atPath: folder("a/0016.png")))
        #expect(
            try Data(contentsOf: URL(fileURLWithPath: folder("a/0001.png"))) != Data(contentsOf: URL(fileURLWithPath: folder("a/0015.png")))
        )
    }

    @Test func `recording: the film has its presets, and the sound of --audio`() throws {
        let presets = "presets:/dev/null,names=#400+#004,order=sequential,time_s=1.5"
        let outcome = try Hemiola.run(
            ["analyze", "clicks.wav", "--analyzer", "levels", "-o", "set.jsonl", "--sink", presets], in: folder.path)
        try #require(outcome.status == 0, "\(outcome.errors)")
        #expect(
            try film([
                "set.jsonl", "--audio", "clicks.wav", "-o", "set.webm", "--page", "page.html", "--size", "64x64", "--fps", "10",
                "--duration",
                "3",
            ]).errors.isEmpty)
        let colours = try decoded("set.webm", ["-vf", "scale=1:1,format=rgb24", "-f", "rawvideo"])
        #expect(colours.count == 3 * 30)
        #expect(colours[3 * 10] > 40 && colours[3 * 10 + 2] < 20 && colours[3 * 20] < 20 && colours[3 * 20 + 2] > 40, "\([UInt8](colours))")
        #expect(try decoded("set.webm", ["-ac", "1", "-ar", "8000", "-f", "u8"]).count / 8000 == 3)
    }

    @Test(arguments: [([], [64, 0]), (["--preset", "#004"], [0, 0])])
    func `presets: the first of the schedule, or of --preset, is there from the first picture on until a change`(
        options: [String], red: [UInt8]
    ) throws {
        _ = try film(
            ["clicks.wav", "-o", "film.mp4", "--page", "page.html", "--size", "64x64", "--fps", "10", "--duration", "2"]
                + ["--presets", "names=#400+#004,time_s=1.45,order=sequential"] + options)
        let colours = [UInt8](try decoded("film.mp4", ["-vf", "scale=1:1,format=rgb24", "-f", "rawvideo"]))
        try #require(colours.count == 3 * 20)
        for (picture, expected) in zip([0, 18], red) { #expect(abs(Int(colours[3 * picture]) - Int(expected)) < 12, "\(picture)") }
    }

    @Test func `Ctrl-C: a film of what was drawn, but no other film is replaced`() throws {
        for existing in [nil, "before\n"] {
            if let existing { try folder.write(existing, to: "film.mp4") }
            let process = try Hemiola.start(
                ["film", Hemiola.minuet, "-o", "film.mp4", "--page", "page.html", "--size", "64x64"], in: folder.path)
            try folder.wait(for: "the first pictures") {
                folder.names.contains { name in
                    let attributes = try? FileManager.default.attributesOfItem(atPath: folder(name))
                    return name.hasSuffix(".partial") && (attributes?[.size] as? Int ?? 0) > 0
                }
            }
            process.send(SIGINT)
            #expect(try process.finish(timeout: 60).status == 130)
            #expect(folder.names.filter { $0.hasSuffix(".partial") }.isEmpty)
            if let existing {
                #expect(try folder.text(of: "film.mp4") == existing)
            } else {
                let levels = try decoded("film.mp4", ["-vf", "scale=1:1,format=gray", "-f", "rawvideo"])
                #expect((1..<1800).contains(levels.count))
                try FileManager.default.removeItem(atPath: folder("film.mp4"))
            }
        }
    }

    @Test func `missing program, page that fails, wrong input: one line, and an old film stays`() throws {
        try folder.write("old", to: "film.mp4")
        let missing = try film(["clicks.wav", "-o", "film.mp4"], status: 3, environment: ["PATH": "/nonexistent"])
        #expect(missing.errorLines.count == 1 && missing.errors.contains("chromium-headless-shell"), "\(missing.errors)")
        try folder.write("<!doctype html><script>function pushSamples() { throw new Error('no paint') }</script>", to: "bad.html")
        let failed = try film(["clicks.wav", "-o", "film.mp4", "--page", "bad.html", "--size", "64x64"], status: 3)
        #expect(failed.errorLines.count == 1 && failed.errors.contains("no paint"), "\(failed.errors)")
        for arguments in [
            ["clicks.wav"], ["clicks.wav", "-o", "film.avi"], ["-", "-o", "film.mp4"],
            ["clicks.wav", "-o", "film.mp4", "--size", "641x360"],
            ["clicks.wav", "-o", "film.mp4", "--page", "none/"], ["clicks.wav", "-o", "film.mp4", "--audio", "clicks.wav"],
        ] {
            let outcome = try film(arguments, status: 2)
            #expect(outcome.errorLines.count == 1, "\(arguments): \(outcome.errors)")
        }
        #expect(try folder.text(of: "film.mp4") == "old")
    }
}
