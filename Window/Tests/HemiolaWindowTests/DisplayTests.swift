import Foundation
import Testing

/// Display scale, monitors and display servers.
extension WindowTests {
    /// A page that reports its size and that of its screen, and fills itself with one colour.
    private static let measuringPage =
        visualizer + """
            const size = () => report('size', [innerWidth, innerHeight, devicePixelRatio]);
            addEventListener('resize', size);
            size();
            hemiolaWindow.request('info').then((info) => report('info', info));
            """

    @Test(.releaseCheck) func `scale 2: the page has devicePixelRatio 2 and half the pixels`() throws {
        let fixture = try Fixture()
        defer { fixture.stop() }
        try fixture.startHemiola()
        let page = try fixture.page("scale", script: Self.measuringPage)
        let window = try fixture.window([page, "--fullscreen"], settings: ["GDK_SCALE": "2"])
        defer { window.stop() }
        try window.wait(for: "REPORT size [640,400,2]")
        #expect(try window.wait(for: "REPORT info").contains(#""scale":2"#))
    }

    @Test(.releaseCheck, .enabled(if: DisplayServer.twoMonitors.canRun, "\(DisplayServer.twoMonitors.reason ?? "")"))
    func `two monitors: --monitor 2 covers the second only, 1 the first, and 3 is reported`() throws {
        let fixture = try Fixture(.twoMonitors)
        defer { fixture.stop() }
        try fixture.startHemiola()
        let page = try fixture.page("monitors", script: Self.measuringPage, body: "<style>body { background: #c02040 }</style>")
        /// The share of the pixels of each monitor that have the colour of the page.
        func shares() throws -> (first: Double, second: Double) {
            let pixels = try fixture.picture("monitors", width: 1824, height: 768)
            func share(_ columns: Range<Int>, _ rows: Range<Int>) -> Double {
                var count = 0
                for y in rows {
                    for x in columns where Array(pixels[3 * (1824 * y + x)..<3 * (1824 * y + x) + 3]) == [0xC0, 0x20, 0x40] { count += 1 }
                }
                return Double(count) / Double(columns.count * rows.count)
            }
            return (share(0..<1024, 0..<768), share(1024..<1824, 0..<600))
        }
        try fixture.xdotool("mousemove", "1800", "740")
        var window = try fixture.window([page, "--no-restore", "--fullscreen", "--monitor", "2"])
        try window.wait(for: "REPORT size [800,600,1]")
        #expect(try window.wait(for: "REPORT info").contains(#""monitors":2"#))
        try fixture.wait(until: "the page covers the second monitor only") { try shares() == (0, 1) }
        window.stop()
        window = try fixture.window([page, "--no-restore", "--fullscreen", "--monitor", "1"])
        try window.wait(for: "REPORT size [1024,768,1]")
        try fixture.wait(until: "the page covers the first monitor only") { try shares() == (1, 0) }
        window.stop()
        window = try fixture.window([page, "--no-restore", "--fullscreen", "--monitor", "3"])
        try window.wait(for: "--monitor: 3: there are 2 monitors; the window's own is used")
        window.stop()
    }

    @Test(.releaseCheck, .enabled(if: DisplayServer.wayland.canRun, "\(DisplayServer.wayland.reason ?? "")"))
    func `Wayland: 43 pushSamples per second, full screen and a snapshot`() throws {
        let fixture = try Fixture(.wayland)
        defer { fixture.stop() }
        try fixture.startHemiola()
        let page = try fixture.page(
            "wayland",
            script: Self.measuringPage + rateReport, body: "<style>body { background: #c02040 }</style>")
        let window = try fixture.window([page, "--size", "640x480"])
        defer { window.stop() }
        try window.wait(for: "REPORT resumeAudio")
        print("Wayland: \(try expectedRate(window)) pushes per second")
        #expect(try fixture.send("window", "fullscreen").code == 0)
        try window.wait(for: "REPORT size [1280,800,1]")
        let file = fixture.folder.appendingPathComponent("wayland.png")
        let shot = try fixture.send("window", "snapshot", file.path)
        #expect(shot.code == 0, "\(shot.output)")
        let pixels = try fixture.pixels(of: file)
        #expect(pixels.count == 3 * 1280 * 800)
        #expect(Array(pixels.prefix(3)) == [0xC0, 0x20, 0x40])
        #expect(window.stop() == 0)
    }
}

extension Fixture {
    /// The pixels of the display, RGB.
    func picture(_ name: String, width: Int, height: Int) throws -> [UInt8] {
        let file = folder.appendingPathComponent("\(name).png")
        try run(
            findTool("ffmpeg")!,
            [
                "-v", "error", "-y", "-f", "x11grab", "-draw_mouse", "0", "-video_size", "\(width)x\(height)", "-i", display, "-frames:v",
                "1", file.path,
            ])
        return try pixels(of: file)
    }

    /// The pixels of a picture, RGB.
    func pixels(of picture: URL) throws -> [UInt8] {
        let raw = picture.appendingPathExtension("rgb")
        try run(findTool("ffmpeg")!, ["-v", "error", "-y", "-i", picture.path, "-f", "rawvideo", "-pix_fmt", "rgb24", raw.path])
        return Array(try Data(contentsOf: raw))
    }
}
