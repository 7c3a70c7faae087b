import Foundation
import TestSupport
import Testing

extension BrowserTests {
    /// The browser and its DevTools protocol, with static pages.
    @Suite struct HarnessTests {
        private static let page = """
            <!doctype html><html><head><meta charset=utf-8><title>Static</title>
            <style>body { margin: 0; background: #fff } #box { width: 100px; height: 50px; background: #f80 }
            @media (prefers-color-scheme: dark) { body { background: #102030 } }</style></head>
            <body><div id=box></div><input id=text><button id=button>Press</button><script>
            window.events = [];
            for (const type of ['keydown', 'keyup']) addEventListener(type, e => events.push(type + ' ' + e.key + ' ' + e.code));
            document.getElementById('button').onclick = e => events.push('click ' + e.isTrusted);
            </script></body></html>
            """

        private let server: BrowserFileServer

        init() throws {
            server = try BrowserFileServer(
                folders: [BrowserFileServer.Folder("/tests/", repository + "/Tests/Page")], texts: ["/": Self.page])
        }

        @Test func `expression: evaluated with its promise; an exception is thrown`() throws {
            let page = try Browser().open(server.origin)
            #expect(try page.evaluate("document.title") == "Static")
            #expect(try page.evaluate("new Promise(done => setTimeout(() => done([1, 2.5]), 10))") == [1, 2.5])
            #expect(try page.evaluate("undefined", as: Int?.self) == nil)
            #expect(try page.evaluate("fetch('/tests/HarnessTests.swift').then(r => r.status)") == 200)
            #expect(try page.evaluate("fetch('/tests/../x').then(r => r.status)") == 404)
            let failure = #expect(throws: Browser.Failure.self) { try page.run("await 0; throw new TypeError('no such thing')") }
            #expect(failure?.description.contains("TypeError: no such thing") == true)
            #expect(throws: Browser.Failure.self) { try page.evaluate("new Promise(() => {})", as: Int.self, timeout: 0.2) }
            try page.run("setTimeout(() => { throw new Error('thrown later') }); console.error('logged', 7)")
            try wait(for: "two messages") {
                _ = try page.evaluate("0", as: Int.self)
                return page.messages.contains("error: logged 7")
                    && page.messages.contains { $0.hasPrefix("exception: Error: thrown later") }
            }
        }

        @Test func `keys and clicks: arrive as events of the user`() throws {
            let page = try Browser().open(server.origin)
            try page.press("a")
            try page.press("Escape")
            #expect(try page.evaluate("events") == ["keydown a KeyA", "keyup a KeyA", "keydown Escape Escape", "keyup Escape Escape"])
            #expect(try page.evaluate("navigator.userActivation.hasBeenActive", as: Bool.self))
            try page.click("#text")
            try page.type("élan 1")
            #expect(try page.evaluate("document.getElementById('text').value") == "élan 1")
            try page.run("events.length = 0")
            try page.click("#button")
            #expect(try page.evaluate("events") == ["click true"])
        }

        @Test func `screenshot: pixels, viewport size and media features`() throws {
            let page = try Browser().open(server.origin, size: (320, 180))
            let light = try page.picture()
            #expect(light.width == 320 && light.height == 180)
            #expect(light[50, 25] == [255, 136, 0, 255] && light[310, 170] == [255, 255, 255, 255])
            #expect(try page.picture() == light && light.difference(to: light) == 0)
            try page.setMedia(["prefers-color-scheme": "dark", "prefers-reduced-motion": "reduce"])
            let dark = try page.picture()
            #expect(dark[310, 170] == [16, 32, 48, 255] && dark.difference(to: light) > 100)
            #expect(try page.evaluate("matchMedia('(prefers-reduced-motion: reduce)').matches", as: Bool.self))
            try page.setSize(400, 700, pixelRatio: 2, isPhone: true)
            #expect(
                try page.evaluate("[devicePixelRatio, navigator.maxTouchPoints > 0]", as: [JSONValue].self) == [.number(2), .flag(true)])
            #expect(try page.picture().height == 1400)
            try page.run("document.body.style.background = 'none'; document.documentElement.style.background = 'none'")
            #expect(try page.picture(isTransparent: true)[390, 690][3] == 0)
        }

        @Test func `performance.now: on the monotonic clock of the host`() throws {
            let page = try Browser().open(server.origin)
            let origin = try page.timeOrigin
            // The reading lies between two readings of the host; the resolution of the page's clock is 0.1 ms.
            let before = ProcessInfo.processInfo.systemUptime
            let reading = try page.evaluate("performance.now()", as: Double.self) / 1000
            let after = ProcessInfo.processInfo.systemUptime
            #expect(origin + reading > before - 0.001 && origin + reading < after + 0.001, "\(before) \(origin) \(reading) \(after)")
        }

        @Test func `minimized window: the page is hidden; another window stays visible`() throws {
            let browser = try Browser()
            let pages = try [server.origin, server.origin].map { try browser.open($0) }
            #expect(try pages.map { try $0.evaluate("document.hidden", as: Bool.self) } == [false, false])
            try pages[1].setHidden(true)
            #expect(try pages.map { try $0.evaluate("document.hidden", as: Bool.self) } == [false, true])
            try pages[1].setHidden(false)
        }

        @Test func `WebGL 2: available`() throws {
            let page = try Browser().open(server.origin)
            let version = try page.evaluate("new OffscreenCanvas(8, 8).getContext('webgl2').getParameter(0x1F02)", as: String.self)
            #expect(version.contains("WebGL 2.0"))
        }

        @Test func `browser released: all its processes end; its environment has no sound server`() throws {
            var browser: Browser? = try Browser()
            let group = try #require(browser).identifier
            var pages = try [server.origin, server.origin].map { try #require(browser).open($0) }
            #expect(try pages.map { try $0.evaluate("document.title", as: String.self) } == ["Static", "Static"])
            let environment = try String(contentsOfFile: "/proc/\(group)/environ", encoding: .utf8)
            #expect(!environment.contains("PULSE_") && !environment.contains("DISPLAY="))
            #expect(processes(in: group).count > 2)
            pages = []
            browser = nil
            try wait(20, for: "the end of all processes") { processes(in: group).isEmpty }
        }

        /// The running processes of a process group.
        private func processes(in group: pid_t) -> [String] {
            let entries = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
            return entries.filter { entry in
                guard let text = try? String(contentsOfFile: "/proc/\(entry)/stat", encoding: .utf8),
                    let end = text.lastIndex(of: ")")
                else { return false }
                // State, parent, group.
                let fields = text[end...].split(separator: " ").dropFirst()
                return fields.count > 3 && fields[fields.startIndex] != "Z" && fields[fields.startIndex + 2] == "\(group)"
            }
        }
    }
}
