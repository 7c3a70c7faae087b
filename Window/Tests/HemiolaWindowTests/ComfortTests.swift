import Foundation
import Testing

extension WindowTests {
    @Test func `keys: zoom, full screen and history, and what the next start restores`() throws {
        let fixture = try Fixture()
        defer { fixture.stop() }
        try fixture.startHemiola()
        let page = try fixture.page(
            "comforts",
            script: visualizer + sizeReport + """
                report('loaded', [location.pathname, innerWidth, history.length]);
                addEventListener('keydown', (event) => report('key', event.key));
                """)
        var window = try fixture.window([page, "--size", "640x480"])
        try window.waitUntilReady("comforts")
        let width = try #require((try value(window.wait(for: "REPORT loaded"), "loaded") as? [Any])?[1] as? Int)
        // Zoom: the page has fewer pixels, and after Ctrl+0 as many as before.
        func lastWidth() throws -> Int {
            guard let line = window.lines.last(where: { $0.contains("REPORT size") }) else { return width }
            return try #require((try value(String(line), "size") as? [Int])?[0])
        }
        for _ in 0..<5 { try fixture.key("ctrl+plus") }
        try window.wait(until: "1 / 1.61 of \(width) pixels") { abs(Double(try lastWidth()) - Double(width) / 1.61) < 8 }
        let zoomed = try lastWidth()
        fixture.letWebKitDraw()
        // Ctrl and the wheel.
        try fixture.xdotool("mousemove", "640", "400")
        try fixture.xdotool("keydown", "ctrl", "click", "4", "keyup", "ctrl")
        try window.wait(until: "fewer than \(zoomed) pixels") { try lastWidth() < zoomed }
        fixture.letWebKitDraw()
        // Full screen; Escape leaves it.
        try fixture.key("ctrl+0")
        try window.wait(until: "\(width) pixels") { try lastWidth() == width }
        fixture.letWebKitDraw()
        try fixture.key("F11", shows: "comforts", in: window)
        try window.wait(for: "REPORT size [1280,800]")
        fixture.letWebKitDraw()
        let count = window.lines.count
        try fixture.key("Escape", shows: "comforts", in: window)
        try window.wait(for: "REPORT size [\(width),", after: count)
        #expect(!window.lines.contains { $0.contains("REPORT key \"F11\"") || $0.contains("REPORT key \"Escape\"") })
        try fixture.key("x")
        try window.wait(for: "REPORT key \"x\"")
        try fixture.key("ctrl+minus")
        try window.wait(until: "more than \(width) pixels") { try lastWidth() > width }
        #expect(window.stop() == 0)

        // The next start without a page: the same page, size and zoom.
        window = try fixture.window([])
        let line = try value(window.wait(for: "REPORT loaded"), "loaded") as? [Any]
        let restored = try #require(line?[1] as? Int)
        #expect(abs(Double(restored) - Double(width) * 1.1) < 8, "\(restored) of \(width)")
        #expect(window.stop() == 0)
    }

    @Test(.releaseCheck) func `history: back and forward by keys, and restored at the next start`() throws {
        let fixture = try Fixture()
        defer { fixture.stop() }
        try fixture.startHemiola()
        let page = try fixture.page(
            "history",
            script: visualizer + """
                report('at', location.pathname);
                \(visit)
                """)
        try FileManager.default.copyItem(atPath: "\(page)/index.html", toPath: "\(page)/second.html")
        var window = try fixture.window([page])
        try window.waitUntilReady("history")
        try window.wait(for: "REPORT connected")
        var count = window.lines.count
        #expect(try fixture.send("call", "function=visit", #"arguments=["second.html"]"#).code == 0)
        try window.waitUntilReady("history", after: count)
        try window.wait(for: "REPORT at \"/second.html\"")
        count = window.lines.count
        try fixture.key("alt+Left", shows: "history", in: window)
        try window.wait(for: "REPORT at \"/\"", after: count)
        count = window.lines.count
        try fixture.key("alt+Right", shows: "history", in: window)
        try window.wait(for: "REPORT at \"/second.html\"", after: count)
        #expect(window.stop() == 0)
        window = try fixture.window([])
        defer { window.stop() }
        try window.waitUntilReady("history")
        try window.wait(for: "REPORT at \"/second.html\"")
        count = window.lines.count
        try fixture.key("alt+Left")
        try window.wait(for: "REPORT at \"/\"", after: count)
    }

    /// A program in place of `hemiola`, with the same arguments: `listen` needs a sound server, so that this one analyses a file. It prints its
    /// process id with the messages of the window that starts it.
    private func substitute(_ fixture: Fixture) throws -> String {
        let file = try fixture.sound()
        let script = fixture.folder.appendingPathComponent("hemiola")
        try "#!/bin/sh\necho SUBSTITUTE $$ >&2\nshift\nexec \(hemiolaPath) analyze \(file) \"$@\"\n"
            .write(to: script, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: script.path)
        return script.path
    }

    /// The process ids of the substitutes that a window has started.
    private func substitutes(of window: RunningProgram) -> [Int32] {
        window.lines.filter { $0.hasPrefix("SUBSTITUTE ") }.compactMap { Int32($0.dropFirst("SUBSTITUTE ".count)) }
    }

    @Test func `start: --fullscreen fills the screen, and without a running hemiola the window starts one, which send reaches`() throws {
        let fixture = try Fixture()
        defer { fixture.stop() }
        let script = try substitute(fixture)
        let page = try fixture.page(
            "own",
            script: visualizer
                + "report('size', [innerWidth, innerHeight]); addEventListener('resize', () => report('size', [innerWidth, innerHeight]));")
        let window = try fixture.window(["--hemiola", script, "--fullscreen", "--monitor", "1", page], connects: false)
        defer { window.stop() }
        try window.wait(for: "REPORT size [1280,800]")
        try window.wait(for: "REPORT connected")
        // At the default path, with the presets of the page.
        let count = window.lines.count
        let sent = try fixture.run(hemiolaPath, ["send", "nextPreset"])
        #expect(sent.code == 0, "\(sent.output)")
        try window.wait(for: "REPORT loadPresetByName", after: count)
        #expect(try fixture.run(hemiolaPath, ["send", "window", "fullscreen", "false"]).code == 0)
        let id = try #require(substitutes(of: window).first)
        // The pipeline ends with the window, also when the window is killed.
        kill(window.id, SIGKILL)
        #expect(try window.waitForEnd() == 128 + SIGKILL)
        let status = (try? String(contentsOfFile: "/proc/\(id)/stat", encoding: .utf8)) ?? ""
        #expect(status.isEmpty || status.contains(") Z "))
    }

    @Test(.releaseCheck) func `second window: uses the hemiola of the first, and starts one when the first is closed`() throws {
        let fixture = try Fixture()
        defer { fixture.stop() }
        let script = try substitute(fixture)
        let page = try fixture.page("shared", script: visualizer)
        let first = try fixture.window(["--hemiola", script, page], connects: false)
        defer { first.stop() }
        try first.wait(for: "REPORT resumeAudio")
        let second = try fixture.window(["--hemiola", script, page], connects: false)
        defer { second.stop() }
        try second.wait(for: "REPORT connected")
        #expect(substitutes(of: first).count == 1 && substitutes(of: second).isEmpty)
        var count = second.lines.count
        first.stop()
        try second.wait(for: "SUBSTITUTE", after: count)
        try second.wait(for: "REPORT connected", after: count)
        count = second.lines.count
        #expect(try fixture.run(hemiolaPath, ["send", "nextPreset"]).code == 0)
        try second.wait(for: "REPORT loadPresetByName", after: count)
    }

    @Test(.releaseCheck) func `hemiola of the user that ends: the window starts none, and uses the next one`() throws {
        let fixture = try Fixture()
        defer { fixture.stop() }
        let script = try substitute(fixture)
        let page = try fixture.page(
            "client",
            script: visualizer
                + "setTimeout(() => hemiola.addEventListener('connection', (event) => report('connection', event.detail.connected)), 0);")
        let own = ["analyze", try fixture.sound(), "--sink", "socket"]
        let hemiola = try RunningProgram(hemiolaPath, own, environment: fixture.environment)
        defer { hemiola.stop() }
        let path = fixture.folder.appendingPathComponent("run/hemiola.sock").path
        try hemiola.wait(for: path)
        let window = try fixture.window(["--hemiola", script, page], connects: false)
        defer { window.stop() }
        try window.wait(for: "REPORT resumeAudio")
        hemiola.stop()
        try window.wait(for: "REPORT connection false")
        // The page tries to connect again twice, and the window for itself: it starts no hemiola.
        try window.wait(until: "two failures to connect") { window.lines.count { $0.contains("REPORT connection false") } >= 3 }
        let next = try RunningProgram(hemiolaPath, own, environment: fixture.environment)
        defer { next.stop() }
        let count = window.lines.count
        try window.wait(for: "REPORT connection true", after: count)
        #expect(substitutes(of: window).isEmpty)
    }

    @Test(.releaseCheck, arguments: [("/none/hemiola", "No such file or directory"), ("/etc", "Permission denied")])
    func `no hemiola can be started: said at once, exit code 1`(path: String, reason: String) throws {
        let fixture = try Fixture()
        defer { fixture.stop() }
        let page = try fixture.page("page", script: "")
        let outcome = try fixture.run(windowPath, ["--hemiola", path, page])
        #expect(outcome.code == 1)
        #expect(
            outcome.output.hasPrefix("hemiola window: \(path): ")
                && outcome.output.contains("(\(reason)); name the program with --hemiola, or a running one with --socket"),
            "\(outcome.output)")
        let left = try FileManager.default.contentsOfDirectory(atPath: "\(fixture.folder.path)/run")
            .filter { $0.hasPrefix("hemiola-window-") }
        #expect(left.isEmpty)
    }

    @Test(.releaseCheck) func `full screen: the pointer is hidden after 2 s without motion, and shown again`() throws {
        let fixture = try Fixture()
        defer { fixture.stop() }
        try fixture.startHemiola()
        let page = try fixture.page("pointer", script: visualizer, body: "<style>body { background: #c02040 }</style>")
        let window = try fixture.window([page, "--fullscreen"])
        defer { window.stop() }
        try window.waitUntilReady("pointer")
        func isPointerVisible() throws -> Bool {
            let pixels = try fixture.picture("pointer")
            return (380..<440).contains { y in
                (620..<680).contains { x in
                    pixels[3 * (1280 * y + x)..<3 * (1280 * y + x) + 3] != pixels[3 * (1280 * 200 + 200)..<3 * (1280 * 200 + 200) + 3]
                }
            }
        }
        // On a busy computer, the picture may come more than 2 s after the motion.
        func moveUntilVisible() throws {
            try fixture.wait(until: "the pointer is visible after a motion") {
                try fixture.xdotool("mousemove", "600", "400", "mousemove", "645", "405")
                return try isPointerVisible()
            }
        }
        try moveUntilVisible()
        try fixture.wait(until: "the pointer is hidden") { try !isPointerVisible() }
        try moveUntilVisible()
    }
}
