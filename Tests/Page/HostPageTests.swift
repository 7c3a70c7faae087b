import Foundation
import TestSupport
import Testing

extension BrowserTests {
    /// Pages written for a native web view, which Hemiola serves unchanged.
    @Suite struct HostPageTests {
        private let folder: TemporaryFolder

        init() throws {
            folder = try TemporaryFolder()
        }

        /// Serves a page with this script from a folder.
        private func start(_ script: String, web: String = "port=0", _ source: WebProgram.Source = .clicks) throws -> WebProgram {
            let page =
                "<!doctype html><html><head><meta charset=utf-8><title>Host</title></head><body><script>\(script)</script></body></html>"
            try folder.write(page, to: "index.html")
            return try WebProgram(source, web: "\(web),page=\(folder.path)")
        }

        @Test func `default autoplay policy: resumeAudio is called at once and at the first gesture, and never awaited`() throws {
            let program = try start(
                """
                window.context = new AudioContext();
                window.calls = 0;
                window.resumes = [];
                window.pushSamples = () => calls += 1;
                window.resumeAudio = async () => {
                    resumes.push(navigator.userActivation.hasBeenActive);
                    await context.resume();
                };
                """)
            let page = try Browser().open(program.url)
            try page.wait(for: "resumes.length === 1 && calls > 86")
            #expect(try page.evaluate("resumes") == [false])
            #expect(try page.evaluate("context.state") == "suspended", "the browser's default policy requires a gesture")
            try page.click(x: 100, y: 100)
            try page.wait(for: "resumes.length === 2 && context.state === 'running'")
            try page.click(x: 120, y: 100)
            try page.press("x")
            let calls = try page.evaluate("calls", as: Int.self)
            try page.wait(for: "calls > \(calls + 20)")
            #expect(try page.evaluate("resumes") == [false, true])
        }

        @Test func `functions that appear late: called as soon as they exist`() throws {
            let program = try start(
                """
                window.log = [];
                setTimeout(() => {
                    window.setSpeed = speed => log.push(['setSpeed', speed]);
                    window.loadPresetByName = name => log.push(['loadPresetByName', name]);
                    window.getPresetNames = async () => ['One', 'Zwei "2"', 'Élan'];
                    window.getCurrentPreset = () => { throw new Error('none yet'); };
                    window.pushSamples = () => {};
                }, 1500);
                """)
            let page = try Browser().open(program.url)
            try page.wait(for: "hemiola.connected")
            #expect(try program.send("setSpeed", ["speed=0.45"]).status == 0)
            let ready = try program.next("control", ["control": .text("ready")])
            #expect(ready["presets"] == .array([.text("One"), .text("Zwei \"2\""), .text("Élan")]))
            try page.wait(for: "log.some(([name, value]) => name === 'setSpeed' && value === 0.45)")
            #expect(try program.send("loadPreset", ["name=Zwei \"2\""]).status == 0)
            try page.wait(for: "log.some(([name, value]) => name === 'loadPresetByName' && value === 'Zwei \"2\"')")
        }

        @Test func `message handlers: present before the page's scripts, and applied by the program`() throws {
            let program = try start(
                """
                window.early = [typeof webkit.messageHandlers.presetHandler.postMessage, window.initialPresetNameB64, window.initialSpeed];
                window.pushSamples = () => {};
                window.loadPresetByName = () => {};
                window.getPresetNames = () => ['Nebel', 'Rain'];
                """)
            let page = try Browser().open(program.url)
            #expect(try page.evaluate("early", as: [String?].self) == ["function", nil, nil])
            try program.next("control", ["control": .text("ready")])
            try page.run(
                """
                webkit.messageHandlers.presetHandler.postMessage('Rain');
                webkit.messageHandlers.speedHandler.postMessage(0.25);
                webkit.messageHandlers.keyHandler.postMessage('k');
                """)
            try program.next("preset", ["name": .text("Rain")])
            try program.next("speed", ["speed": .number(0.25)])
            try program.next("key", ["key": .text("k")])
            try page.reload()
            #expect(try page.evaluate("[atob(early[1]), early[2]]", as: [JSONValue].self) == [.text("Rain"), .number(0.25)])
        }

        @Test func `examples/page: works unchanged`() throws {
            let program = try WebProgram(.noise, web: "port=0,page=\(repository)/examples/page,handlers=lamp")
            let page = try Browser().open(program.url, size: (480, 320))
            let ready = try program.next("control", ["control": .text("ready")])
            #expect(ready["presets"] == .array([.text("Rings"), .text("Bars"), .text("Étincelles")]))
            #expect(try program.next("preset")["name"] == .text("Rings"))
            try page.wait(for: "getStatistics().received > 86 && getStatistics().level > 0.01 && getStatistics().audio === 'suspended'")
            let rings = try page.picture()
            try page.click("#next")
            #expect(try program.next("preset")["name"] == .text("Bars"))
            try page.wait(for: "getStatistics().audio === 'running'")
            #expect(try page.picture().difference(to: rings) > 1)
            #expect(try program.send("loadPreset", ["name=Étincelles"]).status == 0)
            try page.wait(for: "getCurrentPreset() === 'Étincelles'")
            #expect(try program.send("setSpeed", ["speed=0.3"]).status == 0)
            try page.wait(for: "getStatistics().speed === 0.3")
            try page.run("document.getElementById('speed').focus()")
            try page.press("ArrowRight")
            try program.next("speed", ["speed": .number(0.35)])
            try page.run("document.activeElement.blur()")
            for key in "awsedftgyhujkolp".map(String.init) {
                try page.press(key)
                try program.next("key", ["key": .text(key)])
            }
            try page.reload()
            try page.wait(for: "getCurrentPreset() === 'Étincelles' && getStatistics().speed === 0.35")
            #expect(page.errors == [])
        }

        @Test func `page of another server: connects with the token if its origin is allowed`() throws {
            // The page contains the address of the program, which is started later.
            let server = try BrowserFileServer(texts: ["/": "<!doctype html><meta charset=utf-8><title>Dev</title>"])
            let browser = try Browser()
            for isAllowed in [true, false] {
                let program = try WebProgram(web: isAllowed ? "port=0,origin=\(server.origin)" : "port=0")
                let page = try browser.open(server.origin + "/")
                try page.run(
                    """
                    window.calls = 0;
                    window.pushSamples = () => calls += 1;
                    const script = document.createElement('script');
                    script.src = '\(program.origin)/hemiola.js?token=\(program.token)';
                    document.head.append(script);
                    """)
                try page.wait(for: "window.hemiola")
                if isAllowed {
                    try page.wait(for: "hemiola.connected && calls > 43")
                    try page.run("webkit.messageHandlers.speedHandler.postMessage(0.3)")
                    try program.next("speed", ["speed": .number(0.3)])
                } else {
                    usleep(2_000_000)
                    #expect(try page.evaluate("[hemiola.connected, calls]", as: [JSONValue].self) == [.flag(false), .number(0)])
                }
            }
        }
    }
}
