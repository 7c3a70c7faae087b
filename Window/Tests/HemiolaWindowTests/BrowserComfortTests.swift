import Foundation
import Glibc
import Testing

/// The library that emits the signals of a pinch, which is built beside the tests.
private let pinchSourcePath = URL(fileURLWithPath: windowPath).deletingLastPathComponent().appendingPathComponent("libPinchSource.so").path

extension WindowTests {
    @Test(.releaseCheck) func `pinch: changes the zoom, which is stored for the page`() throws {
        let fixture = try Fixture()
        defer { fixture.stop() }
        try fixture.startHemiola()
        let script = """
            report('width', innerWidth);
            addEventListener('resize', () => report('width', innerWidth));
            """
        let (page, other) = (try fixture.page("pinched", script: script), try fixture.page("other", script: script))
        let environment = fixture.environment.merging(["LD_PRELOAD": pinchSourcePath]) { $1 }
        func width(_ window: RunningProgram, _ name: String) throws -> Double {
            let line = try #require(window.lines.last { $0.contains(" \(name): log: REPORT width") })
            return try #require(try value(String(line), "width") as? Double)
        }
        func wait(_ window: RunningProgram, until name: String, hasWidth expected: Double) throws {
            try window.wait(until: "\(name) is \(expected) pixels wide") { abs(try width(window, name) - expected) < 4 }
        }
        let arguments = ["--socket", fixture.socket, "--size", "900x600"]
        var window = try RunningProgram(windowPath, arguments + [page, other], environment: environment)
        try window.waitUntilReady("pinched")
        try window.wait(for: "other: log: REPORT width")
        let start = try width(window, "pinched")
        kill(window.id, SIGUSR1)
        try wait(window, until: "pinched", hasWidth: start / 1.5)
        kill(window.id, SIGUSR1)
        try wait(window, until: "pinched", hasWidth: start / 2.25)
        kill(window.id, SIGUSR2)
        try wait(window, until: "pinched", hasWidth: start / 1.5)
        // Another page has its own zoom.
        try fixture.key("ctrl+Tab", shows: "other", in: window)
        try wait(window, until: "other", hasWidth: start)
        #expect(window.stop() == 0)
        window = try fixture.window([page, "--size", "900x600"])
        defer { window.stop() }
        try window.wait(for: "pinched: log: REPORT width")
        try wait(window, until: "pinched", hasWidth: start / 1.5)
    }

    @Test(.releaseCheck)
    func `header bar: back and forward are visible with a history and sensitive where they lead somewhere; none in full screen`()
        throws
    {
        let fixture = try Fixture()
        defer { fixture.stop() }
        try fixture.startHemiola()
        let page = try fixture.page(
            "history",
            script: visualizer + """
                report('at', location.pathname);
                report('size', [innerWidth, innerHeight]);
                addEventListener('resize', () => report('size', [innerWidth, innerHeight]));
                addEventListener('popstate', () => report('state', location.search));
                \(visit)
                window.push = (search) => history.pushState(null, '', search);
                """, body: "<h1>history</h1>")
        try FileManager.default.copyItem(atPath: "\(page)/index.html", toPath: "\(page)/second.html")
        let window = try fixture.window([page, "--size", "900x600"])
        defer { window.stop() }
        try window.waitUntilReady("history")
        try window.wait(for: "REPORT connected")
        try fixture.moveToCorner("history")
        _ = try fixture.picture("no-history")
        // The first button of a page without history loads the page again.
        let buttons = [22, 62, 102]
        var count = window.lines.count
        /// Waits until the page at an address is ready, and expects that no other one was loaded since the last time.
        func expectPage(_ path: String) throws {
            try window.waitUntilReady("history", after: count)
            try window.wait(for: "REPORT connected", after: count)
            let loaded = window.lines.dropFirst(count).filter { $0.contains("REPORT at") }
            #expect(loaded.count == 1 && loaded[0].hasSuffix("REPORT at \"\(path)\""), "\(loaded)")
            count = window.lines.count
        }
        try fixture.click(buttons[0], 22)
        try expectPage("/")
        #expect(try fixture.send("call", "function=visit", #"arguments=["second.html"]"#).code == 0)
        try expectPage("/second.html")
        _ = try fixture.picture("history")
        // Now it goes back, and the second one forward. Where there is no page, a button has no effect.
        try fixture.click(buttons[1], 22)
        try fixture.click(buttons[0], 22)
        try expectPage("/")
        try fixture.click(buttons[0], 22)
        try fixture.click(buttons[1], 22)
        try expectPage("/second.html")
        try fixture.click(buttons[2], 22)
        try expectPage("/second.html")
        // An entry without a load.
        #expect(try fixture.send("call", "function=push", #"arguments=["?later"]"#).code == 0)
        try fixture.click(buttons[0], 22)
        try window.wait(for: "REPORT state \"\"", after: count)
        // Full screen has no header bar.
        count = window.lines.count
        try fixture.key("F11")
        try window.wait(for: "REPORT size [1280,800]", after: count)
    }

    @Test(.releaseCheck) func `header bar: full screen with tabs has no tab bar, and gets it back`() throws {
        let fixture = try Fixture()
        defer { fixture.stop() }
        try fixture.startHemiola()
        let script =
            visualizer + sizeReport + "report('loaded');"
        let window = try fixture.window(
            [try fixture.page("left", script: script), try fixture.page("right", script: script), "--size", "900x600"])
        defer { window.stop() }
        try window.waitUntilReady("left")
        try window.wait(for: "right: log: REPORT loaded")
        try fixture.key("F11", shows: "left", in: window)
        try window.wait(for: "left: log: REPORT size [1280,800]")
        try fixture.key("ctrl+Tab", shows: "right", in: window)
        try window.wait(for: "right: log: REPORT size [1280,800]")
        let count = window.lines.count
        try fixture.key("Escape")
        try window.wait(until: "right is 900 pixels wide, and less than 540 high") {
            guard let line = window.lines.dropFirst(count).last(where: { $0.contains("right: log: REPORT size") }),
                let size = try value(String(line), "size") as? [Int]
            else { return false }
            return size[0] == 900 && (480..<540).contains(size[1])
        }
    }

    @Test(.releaseCheck, .enabled(if: hasWindowMessages, "this hemiola has no `send window`"))
    func `snapshot: a PNG image of the size of the page with its pixels; requests without a result print nothing`() throws {
        let fixture = try Fixture()
        defer { fixture.stop() }
        try fixture.startHemiola()
        let page = try fixture.page(
            "shot", script: visualizer + "report('loaded'); report('size', [innerWidth, innerHeight, devicePixelRatio]);",
            body: """
                <style>body { margin: 0; background: #c02040 }
                div { position: fixed; right: 0; bottom: 0; width: 100px; height: 50px; background: #20c060 }</style><div></div>
                """)
        let other = try fixture.page("other", script: visualizer + "report('loaded');")
        let window = try fixture.window([page, other, "--size", "640x480"])
        defer { window.stop() }
        let size = try #require(try value(window.wait(for: "shot: log: REPORT size"), "size") as? [Int])
        let (width, height) = (size[0] * size[2], size[1] * size[2])
        try window.waitUntilReady("shot")
        try window.wait(for: "REPORT connected")
        let file = fixture.folder.appendingPathComponent("shot.png")
        let shot = try fixture.send("window", "snapshot", file.path)
        #expect(shot.code == 0 && shot.output == "\"\(file.path)\"\n", "\(shot.output)")
        let raw = fixture.folder.appendingPathComponent("shot.rgb")
        let decoded = try fixture.run(
            findTool("ffmpeg")!, ["-v", "info", "-y", "-i", file.path, "-f", "rawvideo", "-pix_fmt", "rgb24", raw.path])
        #expect(decoded.code == 0 && decoded.output.contains("Video: png"), "\(decoded.output)")
        let pixels = Array(try Data(contentsOf: raw))
        try #require(pixels.count == 3 * width * height, "\(pixels.count) bytes instead of \(width) × \(height) pixels")
        let (background, box): ([UInt8], [UInt8]) = ([0xC0, 0x20, 0x40], [0x20, 0xC0, 0x60])
        var counts = [0, 0]
        for index in 0..<width * height {
            let isBox = index % width >= width - 100 && index / width >= height - 50
            if Array(pixels[3 * index..<3 * index + 3]) == (isBox ? box : background) { counts[isBox ? 1 : 0] += 1 }
        }
        #expect(counts == [width * height - 5000, 5000])
        for request in [["tab", "other"], ["fullscreen", "true"], ["fullscreen"], ["reload"]] {
            let result = try fixture.run(hemiolaPath, ["send", "--socket", fixture.socket, "window"] + request)
            #expect(result.code == 0 && result.output == "", "\(request): \(result.output)")
        }
    }
}
