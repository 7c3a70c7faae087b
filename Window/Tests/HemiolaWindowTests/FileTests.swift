import Foundation
import Testing

extension WindowTests {
    @Test func `files: only those of the page's folder are served, as UTF-8, and the page cannot be left`() throws {
        let fixture = try Fixture()
        defer { fixture.stop() }
        try fixture.startHemiola()
        let page = try fixture.page(
            "files",
            script: """
                const read = (path) => fetch(path).then((answer) => answer.text()).then((text) => text.length, () => 'refused');
                (async () => {
                    report('text', document.getElementById('text').textContent);
                    for (const path of ['index.html', 'data/values.json', 'link', 'folder/passwd', '../secret', '%2e%2e/secret', 'pipe', 'missing',
                        'file:///etc/passwd', 'hemiola-page://0123/index.html'])
                        report('file', [path, await read(path)]);
                    report('type', (await fetch('data/values.json')).headers.get('Content-Type'));
                    report('secure', isSecureContext);
                    report('module', (await import('./module.js')).answer);
                    location.href = 'https://example.org/';
                    // Nothing tells a page that it was not left, neither here nor below.
                    await new Promise((resolve) => setTimeout(resolve, 500));
                    window.open('https://example.org/');
                    const link = document.createElement('a');
                    link.href = 'index.html'; link.download = 'x'; document.body.append(link); link.click();
                    setTimeout(() => report('stayed', location.pathname), 1500);
                })();
                """, body: "<p id=text>Grüße</p>")
        let folder = URL(fileURLWithPath: page)
        try FileManager.default.createDirectory(at: folder.appendingPathComponent("data"), withIntermediateDirectories: true)
        try "[1,2]".write(to: folder.appendingPathComponent("data/values.json"), atomically: true, encoding: .utf8)
        try "export const answer = 42;".write(to: folder.appendingPathComponent("module.js"), atomically: true, encoding: .utf8)
        try "secret".write(to: folder.deletingLastPathComponent().appendingPathComponent("secret"), atomically: true, encoding: .utf8)
        try FileManager.default.createSymbolicLink(atPath: "\(page)/link", withDestinationPath: "/etc/passwd")
        try FileManager.default.createSymbolicLink(atPath: "\(page)/folder", withDestinationPath: "/etc")
        mkfifo("\(page)/pipe", 0o600)
        let window = try fixture.window([page])
        defer { window.stop() }
        try window.wait(for: "REPORT stayed \"/\"")
        try window.wait(for: "REPORT text \"Grüße\"")
        try window.wait(for: "REPORT secure true")
        try window.wait(for: "REPORT module 42")
        try window.wait(for: "REPORT type \"application/json; charset=utf-8\"")
        let files = try window.lines.filter { $0.contains("REPORT file ") }.map { try value(String($0), "file") as? [Any] ?? [] }
        #expect(files.count == 10)
        for file in files {
            let isServed = ["index.html", "data/values.json"].contains(file[0] as? String)
            #expect((file[1] as? Int != nil) == isServed, "\(file)")
        }
        #expect(window.output.contains("outside of the page's folder"))
        #expect(window.output.contains("https://example.org/: not loaded"))
    }

    @Test func `import: a page whose policy forbids to fetch gets the file, and the sender the reason why one cannot be read`() throws {
        let fixture = try Fixture()
        defer { fixture.stop() }
        try fixture.startHemiola()
        let page = try fixture.page(
            "import", script: "window.importFile = (name, base64) => [name, atob(base64)]; \(visualizer)",
            head: #"<meta http-equiv="Content-Security-Policy" content="connect-src 'none'">"#)
        let window = try fixture.window([page])
        defer { window.stop() }
        try window.wait(for: "REPORT connected")
        let file = fixture.folder.appendingPathComponent("Élan \"1\".milk")
        try "per_frame".write(to: file, atomically: true, encoding: .utf8)
        let answer = try fixture.send("import", file.path)
        #expect(answer.output == #"["Élan \"1\".milk","per_frame"]"# + "\n", "\(answer)")
        let path = fixture.folder.appendingPathComponent("gone").path
        let line = #"{"type":"import","id":1,"name":"x","path":"\#(path)"}"#
        let script = "echo '\(line)' | exec socat -,ignoreeof UNIX-CONNECT:\(fixture.socket)"
        let client = try RunningProgram("/bin/sh", ["-c", script])
        defer { client.stop() }
        let reply = try client.wait(for: #""type":"reply""#)
        #expect(reply == #"{"type":"reply","id":1,"ok":false,"error":"\#(path): No such file or directory"}"#)
    }

    @Test(.enabled(if: geteuid() == 0 && findTool("setpriv") != nil, "requires root and setpriv: changes the user"))
    func `Hemiola of another user: reads no file through the page`() throws {
        let fixture = try Fixture()
        defer { fixture.stop() }
        let folder = fixture.folder.appendingPathComponent("other").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        chmod(fixture.folder.path, 0o755)
        chown(folder, 65534, 65534)
        try """
        #!/bin/sh
        echo '{"type":"import","call":1,"name":"x","path":"/etc/hostname"}'
        exec cat >&2
        """.write(toFile: "\(folder)/server", atomically: true, encoding: .utf8)
        chmod("\(folder)/server", 0o755)
        let server = try RunningProgram(
            findTool("setpriv")!,
            ["--reuid=65534", "--clear-groups", findTool("socat")!, "UNIX-LISTEN:\(folder)/s,fork", "EXEC:\(folder)/server"])
        defer { server.stop() }
        try waitForFile("s", in: folder)
        let page = try fixture.page("visited", script: "window.importFile = (name, base64) => atob(base64); \(visualizer)")
        let window = try fixture.window(["--socket", "\(folder)/s", page], connects: false)
        defer { window.stop() }
        let answer = try server.wait(for: #""type":"result""#)
        #expect(answer == #"{"type":"result","call":1,"error":"a window imports files for the Hemiola of its own user only"}"#)
    }

    @Test func `page that cannot be loaded again: its document runs on, gets no connection and imports nothing`() throws {
        let fixture = try Fixture()
        defer { fixture.stop() }
        try fixture.startHemiola()
        let page = try fixture.page(
            "removed",
            script: """
                \(visualizer)
                let state = '';
                setInterval(() => {
                    const socket = new WebSocket(new URL('/hemiola/socket', location.href));
                    let next = 'refused';
                    socket.onopen = () => { next = 'accepted'; socket.close(); };
                    socket.onclose = () => {
                        if (state !== next) report('socket', next);
                        state = next;
                    };
                }, 200);
                """)
        let window = try fixture.window([page])
        defer { window.stop() }
        try window.wait(for: "REPORT socket \"accepted\"")
        try window.waitUntilReady("removed")
        try FileManager.default.removeItem(atPath: page)
        try fixture.key("ctrl+r")
        try window.wait(for: "REPORT socket \"refused\"")
        let file = fixture.folder.appendingPathComponent("x.milk")
        try "x".write(to: file, atomically: true, encoding: .utf8)
        let answer = try fixture.send("import", file.path)
        #expect(answer.code != 0 && answer.output.contains("no page is connected"), "\(answer)")
    }

    @Test(.releaseCheck) func `single file: it is shown, other files of its folder are not served`() throws {
        let fixture = try Fixture()
        defer { fixture.stop() }
        try fixture.startHemiola()
        let folder = try fixture.page("single", script: "")
        try
            "<title>one</title><script src=other.js onerror=\"console.log('REPORT refused 1')\"></script><script>console.log('REPORT shown 1')</script>"
            .write(toFile: "\(folder)/one.html", atomically: true, encoding: .utf8)
        try "console.log('REPORT other 1')".write(toFile: "\(folder)/other.js", atomically: true, encoding: .utf8)
        let window = try fixture.window(["\(folder)/one.html"])
        defer { window.stop() }
        try window.wait(for: "REPORT shown")
        try window.wait(for: "REPORT refused")
        try window.wait(for: "name its folder")
        #expect(!window.output.contains("REPORT other"))
    }

    @Test func `arguments: a page that does not exist exits 1, an unknown option 2, no display 1, root 1`() throws {
        let fixture = try Fixture()
        defer { fixture.stop() }
        var result = try fixture.run(windowPath, ["/nonexistent/page"])
        #expect(result.code == 1 && result.output.contains("hemiola window: /nonexistent/page: No such file or directory"))
        result = try fixture.run(windowPath, ["--frobnicate"])
        #expect(result.code == 2 && result.output.contains("unknown option"))
        result = try fixture.run("/usr/bin/env", ["-u", "DISPLAY", "-u", "WAYLAND_DISPLAY", windowPath, "--no-restore"])
        #expect(result.code == 1 && result.output.contains("no display"))
        guard geteuid() == 0 else { return }
        result = try fixture.run("/usr/bin/env", ["-u", "HEMIOLA_WINDOW_ALLOW_ROOT", windowPath])
        #expect(result.code == 1 && result.output == "hemiola window: not started as root; start it as the user of the desktop\n")
    }
}

extension WindowTests {
    @Test func `presets of the user: the page of the web sink lists and shows them`() throws {
        let fixture = try Fixture()
        defer { fixture.stop() }
        let folder = fixture.folder.appendingPathComponent("home/data/hemiola/presets")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        // A stand-in with the interface of Butterchurn.
        let standIn = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../../Tests/Page/butterchurn.standin.js").standardized
        try FileManager.default.copyItem(at: standIn, to: folder.appendingPathComponent("butterchurn.min.js"))
        for (name, code) in [("Été", ""), ("Übler Fehler", "throw new Error('no such variable')")] {
            try #"{"baseVals": {"colour": "green"}, "frame_eqs_str": "\#(code)"}"#.write(
                to: folder.appendingPathComponent("\(name).json"), atomically: true, encoding: .utf8)
        }
        try "<p>".write(to: folder.appendingPathComponent("page.html"), atomically: true, encoding: .utf8)
        // Nothing but the controls below changes the preset.
        try fixture.startHemiola(sinks: ["presets:mode=manual,order=sequential"])
        let window = try fixture.window([])
        defer { window.stop() }
        try fixture.wait(until: "the preset is listed") {
            try fixture.send("call", "getPresetNames").output.contains("Été")
        }
        #expect(try fixture.send("loadPreset", "name=Été").code == 0)
        try fixture.wait(until: "the preset is current") { try fixture.send("call", "getCurrentPreset").output.contains("Été") }
        // The next one fails when its first picture is drawn, and is listed no more.
        let lines = window.lines.count
        #expect(try fixture.send("loadPreset", "name=Übler Fehler").code == 0)
        try window.wait(for: "preset Übler Fehler: no such variable", after: lines)
        #expect(!window.output.contains("preset Été") && !window.output.contains("presets/"), "\(window.output)")
        #expect(try !fixture.send("call", "getPresetNames").output.contains("Übler Fehler"))
    }
}
