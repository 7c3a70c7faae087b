import Foundation
import TestSupport
import Testing

extension BrowserTests {
    /// Renders the pictures of the documentation: `make screenshots`.
    @Suite(
        .enabled(if: ProcessInfo.processInfo.environment["HEMIOLA_SCREENSHOTS"] == "1", "only `make screenshots` renders pictures"),
        .needs(.ffmpeg))
    struct ScreenshotTests {
        private static let pictures = repository + "/Plugins/Sinks/Visualizers/Web/Pictures"
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

    /// Renders the moving picture of the documentation: `make screenshots`.
    @Suite(
        .enabled(if: ProcessInfo.processInfo.environment["HEMIOLA_SCREENSHOTS"] == "1", "only `make screenshots` renders pictures"),
        .needs(.ffmpeg))
    struct MovingPictureTests {
        private static let seconds = 6
        private static let rate = 12
        /// Size limit in bytes.
        private static let limit = 2_000_000

        /// A clock that is stopped, so that the page is drawn as on a fast computer, however long a picture takes.
        ///
        /// `collect` stops the clock and keeps the messages that arrive. `step` moves it, delivers the messages until then, and draws.
        private static let clock = """
            window.testClock = (() => {
                const now = performance.now.bind(performance), frame = requestAnimationFrame.bind(window);
                const interval = setInterval.bind(window);
                let stopped = 0, time = 0, callbacks = [], messages = [], handlers = {};
                performance.now = () => stopped ? time : now();
                window.requestAnimationFrame = (callback) => stopped ? callbacks.push(callback) : frame(
                    (t) => stopped ? callbacks.push(callback) : callback(t));
                window.setInterval = (callback, ...rest) => interval(() => stopped || callback(), ...rest);
                window.WebSocket = class extends WebSocket {
                    set onmessage(handler) {
                        handlers.message = handler;
                        super.onmessage = (event) => {
                            if (!stopped) return handler(event);
                            const isClock = typeof event.data === "string" && event.data.startsWith('{"type":"clock"');
                            if (!isClock) messages.push({ data: event.data, time: now() });
                        };
                    }
                    set onclose(handler) { super.onclose = (event) => stopped || handler(event); }
                };
                return {
                    collect() { stopped = time = now(); },
                    step(ms) {
                        return new Promise((done) => frame(() => {
                            time += ms;
                            while (messages.length && messages[0].time <= time) handlers.message(messages.shift());
                            for (const callback of callbacks.splice(0)) callback(time);
                            frame(done);
                        }));
                    },
                };
            })();
            """

        @Test func `moving picture of the page`() throws {
            let folder = try TemporaryFolder()
            let program = try WebProgram(.file(repository + "/examples/music/minuet.flac"), folder: folder)
            let browser = try Browser()
            let page = try browser.open(Browser.blank, size: (1200, 675))
            try page.setSize(1200, 675, pixelRatio: 2 / 3)
            try page.addScript(Self.clock)
            try page.setMedia(["prefers-color-scheme": "dark"])
            try page.load(program.address("seed=7"))
            try page.wait(for: "parseFloat(document.getElementById('bpm').textContent) > 90")
            try page.wait(for: "document.body.innerText.includes('Live')")
            // The spectrogram shows the last seconds.
            Thread.sleep(forTimeInterval: 5)
            try page.runScript("testClock.collect()")
            Thread.sleep(forTimeInterval: Double(Self.seconds) + 1)
            let count = Self.seconds * Self.rate
            for index in 0..<count {
                try page.run("for (let i = 0; i < 5; i++) await testClock.step(\(1000 / Double(5 * Self.rate)))", timeout: 120)
                try folder.write(try page.screenshot(), to: "\(index).png")
            }
            let ffmpeg = try #require(Tool.location(of: "ffmpeg"))
            let outcome = try ChildProcess.run(
                ffmpeg,
                [
                    "-v", "error", "-framerate", "\(Self.rate)", "-i", folder("%d.png"), "-c:v", "libwebp_anim", "-quality", "80",
                    "-compression_level", "6", "-loop", "0", folder("page.webp"),
                ])
            try #require(outcome.status == 0, "\(outcome.errors)")
            let data = try Data(contentsOf: URL(fileURLWithPath: folder("page.webp")))
            #expect(data.count <= Self.limit, "\(data.count) bytes")
            try data.write(to: URL(fileURLWithPath: repository + "/Plugins/Sinks/Visualizers/Web/Pictures/page.webp"))
        }
    }
}
