import Foundation
import HemiolaTesting
import TestSupport
import Testing

#if canImport(FoundationXML)
    import FoundationXML
#endif

/// The library that `hemiola render` loads.
private enum Cairo {
    static let isThere: Bool = {
        let lines = (try? Hemiola.run(["doctor"]).output.split(separator: "\n")) ?? []
        return lines.contains { $0.hasPrefix("ok  cairo ") }
    }()
}

/// `hemiola render`. The tests need cairo, which `scripts/setup --test` installs.
@Suite(.enabled(if: Cairo.isThere || Tool.isStrict, "cairo is not installed"))
struct RenderTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @discardableResult
    private func render(_ arguments: [String], status: Int32 = 0) throws -> ChildProcess.Outcome {
        let outcome = try Hemiola.run(["render"] + arguments, in: folder.path)
        #expect(outcome.status == status, "\(arguments): \(outcome.errors)")
        return outcome
    }

    private func bytes(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder(name))))
    }

    /// Width, height and pixels per metre of a PNG.
    private func header(of png: [UInt8]) -> (width: Int, height: Int, resolution: Int) {
        func number(_ offset: Int) -> Int { png[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) } }
        #expect(Array(png.prefix(8)) == [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
        #expect(String(decoding: png[37..<41], as: UTF8.self) == "pHYs")
        return (number(16), number(20), number(41))
    }

    @Test func `PNG: size and resolution as given, the same bytes each time`() throws {
        try render([Hemiola.minuet, "-o", "a.png", "--size", "640x360", "--dpi", "144"])
        let png = try bytes("a.png")
        let header = header(of: png)
        #expect(header.width == 640 && header.height == 360 && header.resolution == 5669)
        try render([Hemiola.minuet, "-o", "b.png", "--size", "640x360", "--dpi", "144"])
        #expect(try bytes("b.png") == png)
        #expect(folder.names == ["a.png", "b.png"])
    }

    @Test func `--analyzer beat with settings: replaces the beats that are drawn`() throws {
        for (name, options) in [("a", []), ("b", ["--analyzer", "beat"]), ("c", ["--analyzer", "beat:min_bpm=160,max_bpm=300"])] {
            try render([Hemiola.minuet, "-o", "\(name).png", "--size", "640x360"] + options)
        }
        #expect(try bytes("a.png") == bytes("b.png"))
        #expect(try bytes("a.png") != bytes("c.png"))
    }

    @Test func `a folder and a file: a picture of each; one path for several: refused`() throws {
        try FileManager.default.createDirectory(atPath: folder("in"), withIntermediateDirectories: true)
        try folder.write(WAVBytes(samples: TestSignal.sine(440, frames: 44_100), sampleRate: 44_100).bytes, to: "in/a.wav")
        try render(["in", Hemiola.minuet, "-o", "{stem}.svg", "--no-beats"])
        #expect(Set(folder.names) == ["in", "a.svg", "minuet.svg"])
        #expect(try render(["in", Hemiola.minuet, "-o", "x.svg"], status: 2).errors.contains("{stem}"))
    }

    @Test func `one sound file beside a link to nothing: its picture, exit code 1`() throws {
        try FileManager.default.createDirectory(atPath: folder("in"), withIntermediateDirectories: true)
        try folder.writeTone("in/a.wav")
        try FileManager.default.createSymbolicLink(atPath: folder("in/a.flac"), withDestinationPath: "nowhere.flac")
        for output in ["x.svg", "{stem}.svg"] {
            let outcome = try render(["in", "-o", output, "--no-beats"], status: 1)
            #expect(outcome.errorLines.count == 1 && outcome.errors.contains("in/a.flac: "), "\(outcome.errors)")
        }
        #expect(Set(folder.names) == ["in", "x.svg", "a.svg"])
    }

    @Test func `channels of opposite polarity: the spectrogram of their difference`() throws {
        let noise = TestSignal.noise(seed: 1, amplitude: 0.5, frames: 4 * 44_100)
        for (name, sign) in [("same", Float(1)), ("opposite", -1)] {
            let samples = noise.flatMap { [$0, sign * $0] }
            try folder.write(WAVBytes(samples: samples, sampleRate: 44_100, channelCount: 2, encoding: .float32).bytes, to: "\(name).wav")
        }
        // Without panels that show more than the mono mix: the pictures differ in their titles and in the first second.
        let options = ["--panels", "spectrogram", "--no-beats", "--size", "800x400"]
        let outcome = try render(["opposite.wav", "-o", "opposite.svg"] + options)
        #expect(outcome.errorLines.count == 1 && outcome.errors.contains("opposite.wav"), "\(outcome.errors)")
        try render(["same.wav", "-o", "same.svg"] + options)
        // A black image is compressed to next to nothing.
        let sizes = try ["opposite.svg", "same.svg"].map { try bytes($0).count }
        #expect(sizes[0] > sizes[1] * 6 / 10 && sizes[1] > 200_000, "\(sizes)")
    }

    @Test func `SVG: XML with the title, the labels of the axes and the spectrogram as an image`() throws {
        try render([Hemiola.minuet, "-o", "a.svg", "--duration", "5"])
        let data = try Data(contentsOf: URL(fileURLWithPath: folder("a.svg")))
        #expect(XMLParser(data: data).parse())
        let text = String(decoding: data, as: UTF8.self)
        #expect(text.contains("width=\"1600pt\"") && text.contains("<image"))
        try render([Hemiola.minuet, "-o", "b.svg", "--duration", "5"])
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder("b.svg"))) == data)
    }

    @Test(.needs(.program("pdftoppm"))) func `PDF: one page of the size, the same bytes each time`() throws {
        try render([Hemiola.minuet, "-o", "a.pdf", "--size", "800x400", "--duration", "5"])
        let pdftoppm = try #require(Tool.location(of: "pdftoppm"))
        let outcome = try ChildProcess.run(pdftoppm, ["-r", "72", "-png", folder("a.pdf"), folder("page")])
        #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
        #expect(folder.names == ["a.pdf", "page-1.png"])
        let png = try bytes("page-1.png")
        #expect(Int(png[18]) << 8 | Int(png[19]) == 800)
        try render([Hemiola.minuet, "-o", "b.pdf", "--size", "800x400", "--duration", "5"])
        #expect(try bytes("b.pdf") == (try bytes("a.pdf")))
    }

    @Test func `output to standard output: a PNG`() throws {
        let line = "hemiola render '\(Hemiola.minuet)' -o - --size 320x200 --duration 3 | od -An -tx1 -N4"
        #expect(
            try Hemiola.shell(line).output.split(separator: " ").map { $0.trimmingCharacters(in: .whitespacesAndNewlines) } == [
                "89", "50", "4e", "47",
            ])
    }

    @Test(arguments: [
        "--scale mel", "--scale linear --theme dark", "--color-map cividis --range 60", "--panels tempo,waveform", "--no-beats", "--causal",
    ])
    func `options: each changes the picture`(options: String) throws {
        let excerpt = [Hemiola.minuet, "--size", "400x300"]
        try render(excerpt + ["-o", "a.png"])
        try render(excerpt + ["-o", "b.png"] + options.split(separator: " ").map(String.init))
        #expect(try bytes("a.png") != (try bytes("b.png")))
    }

    // MARK: - Chroma, pitch and labels

    @Test(arguments: ["--analyzer +chroma", "--analyzer chroma:bins=36", "--panels spectrogram,chroma,waveform,tempo"])
    func `chroma: a panel, also of a recording`(options: String) throws {
        let size = ["--size", "640x360"]
        try render([Hemiola.minuet, "-o", "a.png"] + size)
        try render([Hemiola.minuet, "-o", "b.png"] + size + options.split(separator: " ").map(String.init))
        #expect(try bytes("a.png") != (try bytes("b.png")))
        #expect(try Hemiola.run(["analyze", Hemiola.minuet, "--analyzer", "+chroma", "-o", "song.jsonl"], in: folder.path).status == 0)
        #expect(try render(["song.jsonl", "-o", "c.png"] + size).errors.isEmpty)
        #expect(try render(["song.jsonl", "-o", "d.png", "--panels", "spectrogram,waveform,tempo"] + size).errors.isEmpty)
        #expect(try bytes("c.png") != (try bytes("d.png")))
    }

    @Test func `panel of chroma that a recording does not have: a warning states it`() throws {
        #expect(try Hemiola.run(["analyze", Hemiola.minuet, "-o", "song.jsonl"], in: folder.path).status == 0)
        let outcome = try render(["song.jsonl", "-o", "a.png", "--panels", "chroma"])
        #expect(outcome.errors == "hemiola: warning: a.png: chroma: not recorded: chroma.bins; the panel is empty\n")
    }

    // MARK: - Recordings

    @Test(arguments: ["song.jsonl", "song.jsonl.zst"]) func `recording: a picture of the same size`(name: String) throws {
        #expect(try Hemiola.run(["analyze", Hemiola.minuet, "-o", name], in: folder.path).status == 0)
        let outcome = try render([name, "-o", "a.png", "--size", "640x360", "--start", "2", "--duration", "8"])
        #expect(outcome.errors.isEmpty)
        let header = header(of: try bytes("a.png"))
        #expect(header.width == 640 && header.height == 360)
    }

    @Test func `recording without a feature: a warning states what is missing`() throws {
        #expect(try Hemiola.run(["analyze", Hemiola.minuet, "--analyzer", "levels", "-o", "a.jsonl"], in: folder.path).status == 0)
        let outcome = try render(["a.jsonl", "-o", "a.png"])
        #expect(
            outcome.errors == """
                hemiola: warning: a.png: spectrogram: not recorded: spectrum.bands_db; the panel is empty
                hemiola: warning: a.png: tempo: not recorded: beat; the panel is empty

                """)
        #expect(folder.names.contains("a.png"))
    }

    @Test func `recording with magnitudes: a picture`() throws {
        let options = ["--analyzer", "spectrum:magnitudes=true,size=1024"]
        #expect(try Hemiola.run(["analyze", Hemiola.minuet] + options + ["-o", "a.jsonl"], in: folder.path).status == 0)
        try render(["a.jsonl", "-o", "a.png", "--panels", "spectrogram"])
        #expect(try bytes("a.png").count > 50_000)
    }

    // MARK: - Unusual inputs and errors

    @Test(arguments: [1, 100, 3000]) func `very short file: a picture`(frames: Int) throws {
        try render([try folder.writeTone(frames: frames), "-o", "a.png"])
        #expect(header(of: try bytes("a.png")).width == 1600)
    }

    @Test func `file without sound: an error`() throws {
        let outcome = try render([try folder.writeTone(frames: 0), "-o", "a.png"], status: 1)
        #expect(outcome.errors.contains("none of its sound can be decoded"), "\(outcome.errors)")
    }

    @Test func `truncated file: a picture of what was read, exit code 1`() throws {
        let data = try Data(contentsOf: URL(fileURLWithPath: Hemiola.minuet))
        try folder.write(data.prefix(data.count / 2), to: "cut.flac")
        let outcome = try render(["cut.flac", "-o", "a.png"], status: 1)
        #expect(folder.names.contains("a.png") && !outcome.errors.isEmpty)
    }

    @Test(arguments: [
        (["-o", "a.gif"], "--output a.gif: unsupported extension .gif; use .png, .svg or .pdf, or set --format"),
        (["-o", "a"], "--output a: unsupported extension; use .png, .svg or .pdf, or set --format"),
        ([], "no output; name the picture with --output, as in -o picture.png, .svg or .pdf"),
        (["-o", "a.png", "--size", "1600"], "--size 1600: not a size; write width and height, as in 1600x900"),
        (["-o", "a.png", "--size", "8x8"], "the size 8x8 is outside of 16...16384"),
        (["-o", "a.png", "--color-map", "viridus"], "--color-map: there is no \"viridus\"; did you mean viridis?"),
        (["-o", "a.png", "--panels", "spectrogram,tempi"], "--panels: there is no \"tempi\"; did you mean tempo?"),
        (["-o", "a.png", "--panels", "tempo", "--no-beats"], "--no-beats leaves no panel; name spectrogram or waveform with --panels"),
        (
            ["-o", "a.png", "--analyzer", "loudness"],
            "--analyzer loudness: a picture does not show it; it shows chroma, musical-key, chords, pitch, structure and beat"
        ),
        (["-o", "a.png", "--analyzer", "chrome"], "--analyzer chrome: there is no analyzer \"chrome\"; did you mean chroma?"),
        (["-o", "a.png", "--start", "x"], "--start x: not a time; write seconds or [h:]mm:ss, as in 90, 1:30 or 1:02:03.5"),
        (["-o", "tone.wav", "--format", "png"], "tone.wav is an input file and would be overwritten; write to another file"),
    ]) func `invalid arguments: one line, exit code 2, nothing is written`(arguments: [String], message: String) throws {
        try folder.writeTone()
        let outcome = try render(["tone.wav"] + arguments, status: 2)
        #expect(outcome.errors == "hemiola: \(message)\n")
        #expect(folder.names == ["tone.wav"])
    }

    @Test func `missing file: one line, exit code 1, no picture`() throws {
        let outcome = try render(["no.flac", "-o", "a.png"], status: 1)
        #expect(outcome.errors.split(separator: "\n").count == 1 && outcome.errors.contains("no.flac"))
        #expect(folder.names == [])
    }

    @Test func `no installed font: a picture with cairo's own outlines`() throws {
        try folder.write("<?xml version=\"1.0\"?><fontconfig></fontconfig>\n", to: "fonts.conf")
        let outcome = try ChildProcess.run(
            Hemiola.path, ["render", Hemiola.minuet, "-o", "a.png", "--size", "640x360", "--duration", "2"], in: folder.path,
            environment: ["FONTCONFIG_FILE": folder("fonts.conf")], timeout: Hemiola.timeout)
        #expect(outcome.status == 0, "\(outcome.errors)")
        try render([Hemiola.minuet, "-o", "b.png", "--size", "640x360", "--duration", "2"])
        #expect(try bytes("a.png") != (try bytes("b.png")))
    }
}
