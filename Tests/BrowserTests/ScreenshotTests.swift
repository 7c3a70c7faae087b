import Foundation
import TestSupport
import Testing

extension BrowserTests {
    /// Renders the pictures of the documentation: `make screenshots`.
    @Suite(
        .enabled(if: ProcessInfo.processInfo.environment["HEMIOLA_SCREENSHOTS"] == "1", "only `make screenshots` renders pictures"),
        .needs(.ffmpeg))
    struct ScreenshotTests {
        private static let pictures = repository + "/Plugins/Sinks/Web/Pictures"
        /// Size limit of a picture in bytes.
        private static let limit = 300_000

        /// Writes a screenshot; one that is too large is reduced to 256 colours.
        private func save(_ page: BrowserPage, _ name: String) throws {
            let path = "\(Self.pictures)/\(name).png"
            var data = try page.screenshot()
            if data.count > Self.limit {
                let folder = try TemporaryFolder()
                try folder.write(data, to: "full.png")
                let filter = "split[a][b];[a]palettegen=max_colors=256[p];[b][p]paletteuse=dither=sierra2_4a"
                let ffmpeg = try #require(Tool.location(of: "ffmpeg"))
                let outcome = try ChildProcess.run(
                    ffmpeg, ["-v", "error", "-i", folder("full.png"), "-vf", filter, "-frames:v", "1", folder("small.png")])
                try #require(outcome.status == 0, "\(outcome.errors)")
                data = try Data(contentsOf: URL(fileURLWithPath: folder("small.png")))
            }
            #expect(data.count <= Self.limit, "\(name): \(data.count) bytes")
            try data.write(to: URL(fileURLWithPath: path))
        }

        /// Waits until the page has drawn a number of pictures.
        private func draw(_ page: BrowserPage, _ count: Int) throws {
            try page.run("for (let i = 0; i < \(count); i++) await new Promise(done => requestAnimationFrame(done))", timeout: 600)
        }

        @Test func `pictures of the page and of each preset`() throws {
            try FileManager.default.createDirectory(atPath: Self.pictures, withIntermediateDirectories: true)
            let folder = try TemporaryFolder()
            try folder.write(DrumAndBass.wav(repetitions: 80), to: "drum-and-bass.wav")
            let program = try WebProgram(.file("drum-and-bass.wav"), folder: folder)
            let browser = try Browser()

            let page = try browser.open(Browser.blank, size: (1200, 675))
            try page.setMedia(["prefers-color-scheme": "dark"])
            try page.load(program.address("seed=7"))
            try page.wait(for: "parseFloat(document.getElementById('bpm').textContent) > 160")
            try draw(page, 120)
            try save(page, "page")
            try page.click("#presets-button")
            try draw(page, 20)
            try save(page, "presets")
            try page.press("Escape")
            try page.run("document.activeElement.blur()")
            try page.setMedia(["prefers-color-scheme": "light"])
            try draw(page, 20)
            try save(page, "light")
            try page.setMedia(["prefers-color-scheme": "dark"])
            try page.setSize(390, 780, pixelRatio: 1.5, isPhone: true)
            try draw(page, 60)
            try save(page, "phone")

            try page.setSize(480, 270)
            for name in try page.evaluate("getPresetNames()", as: [String].self) {
                let value = name.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? name
                try page.load(program.address("bare&seed=7&preset=\(value)"))
                try page.wait(for: "window.hemiola?.connected")
                try draw(page, 150)
                try save(page, "preset-" + name.lowercased().replacingOccurrences(of: " ", with: "-"))
            }
        }
    }
}
