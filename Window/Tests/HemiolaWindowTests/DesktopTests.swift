import Foundation
import Testing

/// What the window and the desktop do for each other: web addresses, the browser, the mouse, the screen saver.
extension WindowTests {
    /// Debian's Python: that of another installation lacks Debian's modules.
    private static let python = "/usr/bin/python3"
    private static let hasMock = FileManager.default.fileExists(atPath: "/usr/lib/python3/dist-packages/dbusmock")
    private static let missing =
        (FileManager.default.isExecutableFile(atPath: python) ? [] : ["python3"])
        + (hasMock ? [] : ["python3-dbusmock"]) + ["dbus-daemon", "gdbus"].filter { findTool($0) == nil }
    private static let hasBus = missing.isEmpty || ProcessInfo.processInfo.environment["CI"] == "true"
    private static let hasPython =
        FileManager.default.isExecutableFile(atPath: python) || ProcessInfo.processInfo.environment["CI"] == "true"

    @Test(.releaseCheck, .enabled(if: hasPython, "not installed: python3"))
    func `page at an http address: runs, cannot be left, and a link that the user clicks opens in the browser`() throws {
        let fixture = try Fixture()
        defer { fixture.stop() }
        try fixture.startHemiola()
        let folder = try fixture.page(
            "address",
            script: visualizer + """
                const at = () => report('at', location.pathname);
                at();
                setInterval(() => report('pushes', pushes), 1000);
                addEventListener('click', () => report('click'));
                addEventListener('contextmenu', () => { location.href = 'http://example.org/by-script'; });
                """,
            body: """
                <style>body { margin: 0 } a { position: fixed; left: 0; right: 0; height: 40%; background: #c02040 }</style>
                <a style="top: 0" href="http://localhost:8999/show?a=1&b=two%20words">another origin</a>
                <a style="bottom: 0" href="/second.html">same origin</a>
                """)
        try FileManager.default.copyItem(atPath: "\(folder)/index.html", toPath: "\(folder)/second.html")
        let server = try RunningProgram(Self.python, ["-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory", folder])
        defer { server.stop() }
        let port = try #require(try server.wait(for: "port ").split(separator: " ").drop { $0 != "port" }.dropFirst().first)

        // A browser of the desktop, which notes the address.
        let (data, settings) = ("\(fixture.environment["XDG_DATA_HOME"]!)/applications", fixture.environment["XDG_CONFIG_HOME"]!)
        let opened = fixture.folder.appendingPathComponent("opened")
        try Data().write(to: opened)
        let addresses = try RunningProgram(findTool("tail")!, ["-n", "+1", "-f", opened.path])
        defer { addresses.stop() }
        let browser = fixture.folder.appendingPathComponent("browser")
        for path in [data, settings] { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }
        try "#!/bin/sh\nprintf '%s\\n' \"$@\" >>\(opened.path)\n".write(to: browser, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: browser.path)
        try
            "[Desktop Entry]\nType=Application\nName=Browser\nExec=\(browser.path) %u\nMimeType=x-scheme-handler/http;x-scheme-handler/https;\n"
            .write(toFile: "\(data)/browser.desktop", atomically: true, encoding: .utf8)
        try "[Default Applications]\nx-scheme-handler/http=browser.desktop\nx-scheme-handler/https=browser.desktop\n"
            .write(toFile: "\(settings)/mimeapps.list", atomically: true, encoding: .utf8)

        let window = try fixture.window(["http://127.0.0.1:\(port)/", "--fullscreen"])
        defer { window.stop() }
        try window.wait(for: ": ready")
        try window.wait(for: "REPORT at \"/\"")
        try window.wait(until: "the page gets samples") {
            try window.lines.contains { try $0.contains("REPORT pushes") && value(String($0), "pushes") as? Int ?? 0 >= 40 }
        }
        // A script cannot leave the page, also one that runs because the user has clicked: the browser opens, as for a link.
        try fixture.xdotool("mousemove", "640", "100", "click", "1")
        try window.wait(for: "http://localhost:8999/show?a=1&b=two%20words: opened in the browser")
        try addresses.wait(for: "http://localhost:8999/show?a=1&b=two%20words")
        // A link to the same origin is followed.
        try fixture.xdotool("mousemove", "640", "700", "click", "1")
        try window.wait(for: "REPORT at \"/second.html\"")
        #expect(window.lines.filter { $0.contains("opened in the browser") }.count == 1)
        #expect(addresses.lines.count == 1)
    }

    @Test(.releaseCheck) func `mouse: the buttons 8 and 9 go back and forward`() throws {
        let fixture = try Fixture()
        defer { fixture.stop() }
        try fixture.startHemiola()
        let page = try fixture.page(
            "mouse",
            script: visualizer + """
                report('at', location.pathname);
                \(visit)
                window.addEventListener('mousedown', (event) => report('button', event.button));
                """, body: "<style>body { height: 100vh; background: #c02040 }</style>")
        try FileManager.default.copyItem(atPath: "\(page)/index.html", toPath: "\(page)/second.html")
        let window = try fixture.window([page, "--fullscreen"])
        defer { window.stop() }
        try window.waitUntilReady("mouse")
        try window.wait(for: "REPORT connected")
        // WebKit adds a page to the history only if the user has done something in the one before.
        try fixture.xdotool("mousemove", "640", "400", "click", "1")
        try window.wait(for: "REPORT button 0")
        var count = window.lines.count
        #expect(try fixture.send("call", "function=visit", #"arguments=["second.html"]"#).code == 0)
        try window.waitUntilReady("mouse", after: count)
        try window.wait(for: "REPORT at \"/second.html\"", after: count)
        count = window.lines.count
        try fixture.xdotool("click", "8")
        try window.waitUntilReady("mouse", after: count)
        try window.wait(for: "REPORT at \"/\"", after: count)
        count = window.lines.count
        try fixture.xdotool("click", "9")
        try window.wait(for: "REPORT at \"/second.html\"", after: count)
    }

    // MARK: - Screen saver

    /// A service of the session that inhibits the screen saver: with its methods as name, types of the arguments, type of the result, and the
    /// result in Python.
    struct Inhibitor: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var name: String
        var path: String
        var interface: String
        var methods: [[String]]
        /// The call that the service must get, as dbusmock prints it.
        var call: String

        static let all = [
            Inhibitor(
                testDescription: "the session manager of GNOME", name: "org.gnome.SessionManager", path: "/org/gnome/SessionManager",
                interface: "org.gnome.SessionManager",
                methods: [
                    ["RegisterClient", "ss", "o", "ret = '/org/gnome/SessionManager/Client1'"], ["UnregisterClient", "o", "", ""],
                    ["Inhibit", "susu", "u", "ret = 7"], ["Uninhibit", "u", "", ""],
                ],
                call: #"Inhibit "org.hemiola.Window" "#),
            Inhibitor(
                testDescription: "the portal of the desktop", name: "org.freedesktop.portal.Desktop",
                path: "/org/freedesktop/portal/desktop",
                interface: "org.freedesktop.portal.Inhibit",
                methods: [
                    ["Inhibit", "sua{sv}", "o", "ret = '/org/freedesktop/portal/desktop/request/1'"],
                    ["CreateMonitor", "sa{sv}", "o", "ret = '/org/freedesktop/portal/desktop/request/2'"],
                ],
                call: "Inhibit \"\" "),
        ]
    }

    @Test(.releaseCheck, .enabled(if: hasBus, "not installed: \(missing.joined(separator: ", "))"), arguments: Inhibitor.all)
    func `screen saver: inhibited while the window is open`(_ inhibitor: Inhibitor) throws {
        let fixture = try Fixture()
        defer { fixture.stop() }
        try fixture.startHemiola()
        let address = "unix:path=\(fixture.folder.path)/run/bus"
        let bus = try RunningProgram(findTool("dbus-daemon")!, ["--session", "--nofork", "--print-address=1", "--address=\(address)"])
        defer { bus.stop() }
        try bus.wait(for: "unix:path=")
        let settings = ["DBUS_SESSION_BUS_ADDRESS": address]
        let mock = try RunningProgram(
            Self.python, ["-u", "-m", "dbusmock", "--session", inhibitor.name, inhibitor.path, inhibitor.interface], environment: settings)
        defer { mock.stop() }
        let wait = ["wait", "--address", address, "--timeout", "\(Int(waitLimit))", inhibitor.name]
        try #require(try fixture.run(findTool("gdbus")!, wait).code == 0, "\(mock.output)")
        for method in inhibitor.methods {
            let arguments = [
                "call", "--address", address, "--dest", inhibitor.name, "--object-path", inhibitor.path, "--method",
                "org.freedesktop.DBus.Mock.AddMethod", inhibitor.interface,
            ]
            let added = try fixture.run(findTool("gdbus")!, arguments + method)
            #expect(added.code == 0, "\(added.output)")
        }
        let page = try fixture.page("saver", script: visualizer)
        let window = try fixture.window([page], settings: settings)
        defer { window.stop() }
        try window.wait(for: "REPORT resumeAudio")
        let call = try mock.wait(for: inhibitor.call)
        print("\(inhibitor.name): \(call)")
        // The fourth bit: the session is not to be marked as idle. The reason is the user's to read.
        #expect(call.split(separator: " ").contains("8") && call.contains("shows a visualizer"), "\(call)")
        #expect(window.stop() == 0)
    }

    // MARK: - Memory

    @Test(.releaseCheck) func `--memory-limit: a page that uses more is ended, and loaded again once`() throws {
        let fixture = try Fixture()
        defer { fixture.stop() }
        try fixture.startHemiola()
        let page = try fixture.page(
            "memory",
            script: visualizer + """
                report('loaded');
                const arrays = [];
                setInterval(() => { if (arrays.length < 40) arrays.push(new Uint8Array(50e6).fill(arrays.length + 1)); }, 200);
                """)
        let other = try fixture.page("other", script: visualizer + "report('loaded'); setInterval(() => report('alive'), 1000);")
        let window = try fixture.window([page, other, "--memory-limit", "700"])
        defer { window.stop() }
        try window.wait(for: "memory: the web process used too much memory; the page is loaded again")
        try window.wait(for: "memory: the web process used too much memory; the page stays closed")
        let count = window.lines.count
        try window.wait(for: "other: log: REPORT alive", after: count)
        #expect(window.lines.filter { $0.contains("other: log: REPORT loaded") }.count == 1)
        #expect(window.isRunning)
    }

    // MARK: - Butterchurn

    /// `npm install` has put the library there, as the README of the example says.
    private static let butterchurn = repository.appendingPathComponent(
        "examples/butterchurn/node_modules/butterchurn/lib/butterchurn.min.js"
    ).path

    @Test(.releaseCheck) func `Butterchurn's page without its library: the waveform follows the sound`() throws {
        try testButterchurn(hasLibrary: false)
    }

    @Test(
        .releaseCheck,
        .enabled(if: FileManager.default.fileExists(atPath: butterchurn), "Butterchurn is not installed in examples/butterchurn"))
    func `Butterchurn's page with its library: presets, and the picture follows the sound`() throws {
        try testButterchurn(hasLibrary: true)
    }

    private func testButterchurn(hasLibrary: Bool) throws {
        let example = repository.appendingPathComponent("examples/butterchurn")
        let fixture = try Fixture()
        defer { fixture.stop() }
        try fixture.startHemiola()
        let folder = fixture.folder.appendingPathComponent("pages/butterchurn")
        try FileManager.default.copyItem(at: example, to: folder)
        if !hasLibrary { try? FileManager.default.removeItem(at: folder.appendingPathComponent("node_modules")) }
        let window = try fixture.window([folder.path, "--no-restore", "--size", "320x240"])
        defer { window.stop() }
        try fixture.wait(until: "the page answers") { try fixture.send("call", "function=getPresetNames").code == 0 }
        let names = try fixture.send("call", "function=getPresetNames").output
        #expect(names.contains("[") && names.count > (hasLibrary ? 1000 : 5), "\(names)")
        let first = try fixture.picture("butterchurn-1")
        try fixture.wait(until: "the picture changes with the sound") {
            let second = try fixture.picture("butterchurn-2")
            return zip(first, second).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) } > 100_000
        }
        #expect(!window.output.contains("exception"), "\(window.output)")
    }
}
