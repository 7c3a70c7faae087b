import Foundation
import Testing

extension WindowTests {
    @Test func `web process: killed once, the page is loaded again; killed twice, the window says so`() throws {
        let fixture = try Fixture()
        defer { fixture.stop() }
        try fixture.startHemiola()
        let page = try fixture.page("killed", script: visualizer + "report('loaded');")
        let window = try fixture.window([page])
        defer { window.stop() }
        try window.waitUntilReady("killed")
        let start = window.lines.count
        try killWebProcesses(of: window.id)
        try window.wait(for: "loaded again")
        try window.waitUntilReady("killed", after: start)
        try killWebProcesses(of: window.id)
        try window.wait(for: "stays closed until it is reloaded")
        let count = window.lines.count
        try fixture.key("ctrl+r")
        try window.wait(for: "REPORT loaded", after: count)
        #expect(window.isRunning)
    }

    /// Kills the web processes below a process with SIGKILL.
    private func killWebProcesses(of parent: Int32) throws {
        var killed = 0
        for name in try FileManager.default.contentsOfDirectory(atPath: "/proc") {
            guard let id = Int32(name), let command = try? String(contentsOfFile: "/proc/\(id)/cmdline", encoding: .utf8),
                command.contains("WebKitWebProcess"), !command.contains("bwrap"), isDescendant(id, of: parent)
            else { continue }
            kill(id, SIGKILL)
            killed += 1
        }
        guard killed > 0 else { throw FixtureError(description: "no web process") }
    }

    private func isDescendant(_ id: Int32, of parent: Int32) -> Bool {
        var id = id
        for _ in 0..<10 {
            guard id > 1, let status = try? String(contentsOfFile: "/proc/\(id)/stat", encoding: .utf8),
                let end = status.lastIndex(of: ")"), let above = Int32(status[end...].split(separator: " ")[2])
            else { return false }
            if above == parent { return true }
            id = above
        }
        return false
    }

    @Test func `page that throws: the error is printed with the page's name, and it goes on`() throws {
        let fixture = try Fixture()
        defer { fixture.stop() }
        try fixture.startHemiola()
        let page = try fixture.page(
            "throws",
            script: """
                \(visualizer)
                window.throwOften = () => new Promise((resolve) => {
                    let count = 0;
                    const fail = () => { count += 1; if (count === 1000) resolve(count); throw new TypeError('no visualizer'); };
                    window.pushSamples = () => { for (let i = 0; i < 9; i++) setTimeout(fail); fail(); };
                });
                setTimeout(() => undefinedFunction());
                Promise.reject(new Error('not handled'));
                """)
        let window = try fixture.window([page])
        defer { window.stop() }
        try window.wait(for: "throws: exception: ReferenceError")
        try window.wait(for: "throws: exception: unhandled rejection: Error: not handled")
        try window.wait(for: "REPORT connected")
        #expect(try fixture.send("call", "function=throwOften").output.contains("1000"))
        // Each exception must not become a line.
        #expect(window.lines.count < 250)
    }

    @Test(.releaseCheck) func `page in an endless loop: other tabs get their samples; its web process is ended after 30 s`() throws {
        let fixture = try Fixture()
        defer { fixture.stop() }
        try fixture.startHemiola()
        let loop = try fixture.page("loop", script: visualizer + "window.connected = () => { report('looping'); for (;;); };")
        let other = try fixture.page(
            "other", script: visualizer + "let last = 0; setInterval(() => { report('rate', pushes - last); last = pushes; }, 1000);")
        let window = try fixture.window([loop, other])
        defer { window.stop() }
        try window.wait(for: "REPORT looping")
        try window.wait(for: "loop: the page does not respond")
        try window.wait(for: "its web process is ended")
        try window.wait(for: "loaded again")
        try fixture.key("ctrl+Tab", shows: "other", in: window)
        let count = window.lines.count
        try window.wait(until: "40 pushes in a second") {
            try window.lines.dropFirst(count).contains { try $0.contains("REPORT rate") && value(String($0), "rate") as? Int ?? 0 >= 40 }
        }
    }

    @Test(.releaseCheck) func `page that sets tabs, or requests a picture of the window: refused`() throws {
        let fixture = try Fixture()
        defer { fixture.stop() }
        try fixture.startHemiola()
        let page = try fixture.page(
            "tabs",
            script: """
                \(visualizer)
                const socket = new WebSocket(`ws://${location.host}/hemiola/socket`);
                socket.onmessage = ({ data }) => {
                    const message = JSON.parse(data);
                    if (message.type === 'reply') report(`reply ${message.id}`, message.error);
                };
                socket.onopen = () => {
                    const tabs = ['/etc', '/root'].map((path) => ({ id: path, title: path, path }));
                    socket.send(JSON.stringify({ type: 'tabs', id: 1, active: '/etc', tabs }));
                    socket.send(JSON.stringify({ type: 'window', id: 2, action: 'snapshot' }));
                    socket.send(JSON.stringify({ type: 'windowReady', id: 3 }));
                };
                """)
        let window = try fixture.window([page])
        defer { window.stop() }
        for id in 1...3 { try window.wait(for: "REPORT reply \(id) \"messages of windows are not accepted from pages\"") }
        #expect(try fixture.send("window", "tab", "/etc").code != 0, "the page has opened a tab")
    }

    @Test(.releaseCheck) func `page that floods: it is ended, and the window stays responsive`() throws {
        let fixture = try Fixture()
        defer { fixture.stop() }
        try fixture.startHemiola()
        let page = try fixture.page(
            "flood",
            script: visualizer + """
                report('loaded');
                window.connected = () => {
                    const { lamp } = webkit.messageHandlers;
                    for (let i = 0; i < 2000000; i++) lamp.postMessage(i);
                };
                """)
        let window = try fixture.window([page])
        defer { window.stop() }
        try window.wait(for: "messages in a second; the page is ended")
        try window.wait(for: "stays closed until it is reloaded")
        #expect(try resident(window.id) < 1000)
        #expect(window.stop() == 0)
    }

    @Test(.releaseCheck) func `page that floods with long messages: it is ended`() throws {
        let fixture = try Fixture()
        defer { fixture.stop() }
        try fixture.startHemiola()
        let page = try fixture.page(
            "bytes",
            script: visualizer + """
                window.connected = () => {
                    const text = 'x'.repeat(1 << 20);
                    const frame = document.createElement('iframe');
                    document.body.append(frame);
                    const { hemiolaWindow } = frame.contentWindow.webkit.messageHandlers;
                    for (let i = 0; i < 200; i++) hemiolaWindow.postMessage(['', 'handler', text]);
                };
                """)
        let window = try fixture.window([page])
        defer { window.stop() }
        try window.wait(for: "more than 64 MiB of messages in a second; the page is ended")
        #expect(try resident(window.id) < 1000)
        #expect(window.stop() == 0)
    }

    @Test(.releaseCheck) func `page with a question before it is left: it is reloaded and closed all the same`() throws {
        let fixture = try Fixture()
        defer { fixture.stop() }
        try fixture.startHemiola()
        let page = try fixture.page(
            "question",
            script: visualizer + """
                addEventListener('beforeunload', (event) => { event.preventDefault(); event.returnValue = 'Leave?'; });
                addEventListener('keydown', () => report('key'));
                report('loaded');
                """)
        let window = try fixture.window([page])
        defer { window.stop() }
        try window.waitUntilReady("question")
        // The question comes only after the user has used the page.
        try fixture.key("a")
        try window.wait(for: "REPORT key")
        let count = window.lines.count
        try fixture.key("ctrl+r")
        try window.wait(for: "REPORT loaded", after: count)
        #expect(window.stop() == 0)
    }

    @Test(.releaseCheck) func `message of 10 MB: refused, and the page goes on`() throws {
        let fixture = try Fixture()
        defer { fixture.stop() }
        try fixture.startHemiola()
        let page = try fixture.page(
            "large",
            script: visualizer + """
                window.connected = () => {
                    const text = 'x'.repeat(10000000);
                    webkit.messageHandlers.lamp.postMessage(text);
                    webkit.messageHandlers.presetHandler.postMessage(text);
                    hemiola.send({ type: 'loadPreset', name: text }).catch((error) => report('refused', error.message));
                    hemiolaWindow.request('info', text).catch((error) => report('request', String(error.message ?? error)));
                    console.log(text);
                    // A frame of the page's own origin has the native handler.
                    const frame = document.createElement('iframe');
                    document.body.append(frame);
                    try { frame.contentWindow.webkit.messageHandlers.hemiolaWindow.postMessage(['', 'line', 1, text]); } catch (error) { report('frame', error.message); }
                    const push = window.pushSamples;
                    window.pushSamples = (samples) => { window.pushSamples = push; report('more'); };
                };
                """)
        let window = try fixture.window([page])
        defer { window.stop() }
        try window.wait(for: "REPORT refused")
        try window.wait(for: "REPORT request")
        try window.wait(for: "REPORT more")
        #expect(window.lines.allSatisfy { $0.utf8.count < 2000 })
    }

    @Test func `memory: what was passed to a page is released`() throws {
        let fixture = try Fixture()
        defer { fixture.stop() }
        try fixture.startHemiola()
        let page = try fixture.page(
            "files",
            script: "window.importFile = (name, base64) => base64.length;" + visualizer)
        let window = try fixture.window([page])
        defer { window.stop() }
        try window.wait(for: "REPORT connected")
        let file = fixture.folder.appendingPathComponent("large.bin")
        try Data(repeating: 65, count: 24_000_000).write(to: file)
        func pass() throws {
            let answer = try fixture.send("import", file.path)
            #expect(answer.output.contains("32000000"), "\(answer)")
        }
        // The allocator and WebKit keep some memory of the first ones.
        for _ in 0..<2 { try pass() }
        let before = try resident(window.id)
        for _ in 0..<5 { try pass() }
        // As Base64 they have 160 MB.
        let growth = try resident(window.id) - before
        #expect(growth < 80, "\(growth) MB")
    }

    @Test(.releaseCheck) func `a thousand tabs opened and closed: nothing of them is left`() throws {
        let fixture = try Fixture()
        defer { fixture.stop() }
        try fixture.startHemiola()
        let pages = try ["first", "second"].map { try fixture.page($0, script: visualizer) }
        let library = URL(fileURLWithPath: windowPath).deletingLastPathComponent().appendingPathComponent("libObjectCount.so").path
        let window = try fixture.window([pages[0], "--no-restore"], settings: ["LD_PRELOAD": library])
        defer { window.stop() }
        try window.wait(for: "REPORT connected")
        for list in 0..<20 {
            // WebKit starts a process for each page that can be loaded.
            let tabs = (0..<50).map { index in
                ["id": "\(list) \(index)", "title": "", "path": index < pages.count ? pages[index] : "/nonexistent/\(index)"]
            }
            try fixture.sendTabs("\(list) 0", tabs)
        }
        try fixture.sendTabs(nil, [])
        #expect(window.stop() == 0)
        let counts = window.lines.filter { $0.hasPrefix("OBJECTS ") }.map { $0.split(separator: " ") }
        #expect(counts.count == 8)
        for count in counts {
            // The window has a few of its own.
            let (made, left) = (try #require(Int(count[2])), try #require(Int(count[3])))
            #expect(made > 900 && left < 10, "\(count)")
        }
    }

    /// The memory of a process in MB.
    private func resident(_ id: Int32) throws -> Int {
        let pages = try String(contentsOfFile: "/proc/\(id)/statm", encoding: .utf8).split(separator: " ")[1]
        return Int(pages)! * 4096 / 1_000_000
    }
}
