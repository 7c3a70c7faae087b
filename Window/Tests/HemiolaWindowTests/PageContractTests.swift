import Foundation
import Testing

/// Pages in the real window, on a private display, with a real hemiola.
@Suite(.ownThread, .enabled(if: canRun, "not installed: \(missingTools.joined(separator: ", "))"))
struct WindowTests {}

/// The functions of a visualizer, which report what they get. When the page is loaded and connected, `connected` is called if there is one.
let visualizer = """
    let pushes = 0, first = 0, length = 0;
    window.pushSamples = (samples) => { pushes += 1; if (!first) first = performance.now(); length = samples.length; };
    window.resumeAudio = () => report('resumeAudio');
    window.setSpeed = (speed) => report('setSpeed', speed);
    window.loadPresetByName = (name) => report('loadPresetByName', name);
    window.getPresetNames = () => {
        // The page script then sends the names to Hemiola, which answers messages in their order. It also measures the clock every few seconds:
        // an answer can be lost while the format of the samples changes.
        setTimeout(() => {
            const time = performance.now();
            const answered = ({ detail }) => {
                if (detail.sent <= time) return;
                hemiola.removeEventListener('clock', answered);
                report('connected');
                setTimeout(() => window.connected?.());
            };
            hemiola.addEventListener('clock', answered);
            // Not at the same time: WebKit's clock has whole milliseconds.
            setTimeout(() => hemiola.send({ type: 'clock', sent: performance.now() }).catch(() => {}), 5);
        });
        return ['Rain', 'Snöw'];
    };
    """

/// A function that leaves the page. The answer to its call is sent before: nothing tells the page that it was.
let visit = """
    window.visit = (path) => { setTimeout(() => { location.href = path; }, 100); };
    """

/// Reports each new size of the page when the window has drawn it: the second frame begins after the window has shown the first one.
let sizeReport = """
    addEventListener('resize', () => {
        report('size', [innerWidth, innerHeight]);
    });
    """

/// Reports the number of pushSamples per second, from the fifth second on, in each case since the start.
let rateReport = """
    setTimeout(() => {
        const start = pushes, time = performance.now();
        setInterval(() => {
            const seconds = (performance.now() - time) / 1000;
            if (seconds > 4.5) report('rate', (pushes - start) / seconds);
        }, 1000);
    }, 1000);
    """

/// Waits until the page has got 43.07 ± 1 pushSamples per second. On a busy computer deliveries are late, which changes the mean of a longer time
/// less; a wrong rate is wrong over any time.
func expectedRate(_ window: RunningProgram) throws -> Double {
    var rate = 0.0
    try window.wait(until: "43.07 ± 1 pushes per second") {
        guard let line = window.lines.last(where: { $0.contains("REPORT rate") }) else { return false }
        rate = try value(String(line), "rate") as? Double ?? 0
        return abs(rate - 43.07) <= 1
    }
    return rate
}

extension WindowTests {
    @Test func `page: gets samples and every call of the contract`() throws {
        let fixture = try Fixture()
        defer { fixture.stop() }
        try fixture.startHemiola(sinks: ["presets:mode=manual,list=\(try presetList(fixture))"])
        let page = try fixture.page(
            "contract",
            script: """
                report('initial', [window.initialPresetNameB64 ?? null, window.initialSpeed ?? null]);
                \(visualizer)
                window.add = async (a, b) => a + b;
                window.fail = () => { throw new RangeError('too far') };
                window.importFile = (name, base64) => { report('import', [name, atob(base64).length]); return true; };
                const push = window.pushSamples;
                window.pushSamples = (samples) => { push(samples); if (pushes === 100) report('length', length); };
                """)
        var window = try fixture.window([page])
        try window.wait(for: "REPORT initial [null,null]")
        try window.wait(for: "REPORT resumeAudio")
        try window.wait(for: "REPORT length 2048")
        try window.wait(for: "REPORT connected")

        // Controls, calls with values and errors, and a file.
        #expect(try fixture.send("setSpeed", "0.5").code == 0)
        try window.wait(for: "REPORT setSpeed 0.5")
        #expect(try fixture.send("loadPreset", "Snöw").code == 0)
        try window.wait(for: "REPORT loadPresetByName \"Snöw\"")
        #expect(try fixture.send("call", "function=add", "arguments=[2,3]").output.contains("5"))
        let failed = try fixture.send("call", "function=fail")
        #expect(failed.code != 0 && failed.output.contains("too far"))
        let file = fixture.folder.appendingPathComponent("rain.milk")
        try Data(repeating: 65, count: 200_000).write(to: file)
        #expect(try fixture.send("import", file.path).code == 0)
        try window.wait(for: #"REPORT import ["rain.milk",200000]"#)
        #expect(window.stop() == 0)

        // The next start gives the page its last preset and speed before its scripts.
        window = try fixture.window([page])
        let initial = try value(window.wait(for: "REPORT initial"), "initial") as? [Any]
        #expect(initial?[0] as? String == Data("Snöw".utf8).base64EncodedString())
        #expect(initial?[1] as? Double == 0.5)
        window.stop()
    }

    @Test(.releaseCheck) func `page: gets 43 pushSamples per second, and a round trip takes at most 40 ms`() throws {
        let fixture = try Fixture()
        defer { fixture.stop() }
        try fixture.startHemiola()
        let page = try fixture.page(
            "times",
            script: """
                \(visualizer)
                \(rateReport)
                window.measure = async () => {
                    const times = [];
                    for (let i = 0; i < 50; i++) {
                        const sent = performance.now();
                        await hemiola.send({ type: 'clock', sent });
                        times.push(performance.now() - sent);
                        // The median of one moment would be that of its load.
                        await new Promise((resolve) => setTimeout(resolve, 20));
                    }
                    return times.sort((a, b) => a - b)[25];
                };
                """)
        let window = try fixture.window([page])
        defer { window.stop() }
        try window.wait(for: "REPORT connected")
        let rate = try expectedRate(window)
        let answer = try fixture.send("call", "function=measure").output
        let roundTrip = try #require(Double(answer.trimmingCharacters(in: .whitespacesAndNewlines)), "\(answer)")
        print("rate \(rate), round trip of the page, the window and hemiola: median \(roundTrip) ms")
        #expect(roundTrip <= 40, "\(roundTrip) ms")
    }

    @Test(.releaseCheck) func `preset that the page refuses: the next start gives the page the one before`() throws {
        let fixture = try Fixture()
        defer { fixture.stop() }
        try fixture.startHemiola(sinks: ["presets:mode=manual,list=\(try presetList(fixture))"])
        let page = try fixture.page(
            "choosy",
            script: """
                report('initial', window.initialPresetNameB64 ?? null);
                \(visualizer)
                const load = window.loadPresetByName;
                window.loadPresetByName = (name) => { load(name); if (name !== 'Rain') throw new Error(`no preset ${name}`); };
                """)
        var window = try fixture.window([page])
        try window.wait(for: "REPORT resumeAudio")
        #expect(try fixture.send("loadPreset", "Rain").code == 0)
        try window.wait(for: "REPORT loadPresetByName \"Rain\"")
        // The page's refusal is the reply.
        let refused = try fixture.send("loadPreset", "Snöw")
        #expect(refused.code == 1, "\(refused.output)")
        try window.wait(for: "REPORT loadPresetByName \"Snöw\"")
        #expect(window.stop() == 0)
        window = try fixture.window([page])
        let initial = try value(window.wait(for: "REPORT initial"), "initial") as? String
        #expect(initial == Data("Rain".utf8).base64EncodedString())
        window.stop()
    }

    private func presetList(_ fixture: Fixture) throws -> String {
        let list = fixture.folder.appendingPathComponent("presets.txt")
        try "Rain\nSnöw\n".write(to: list, atomically: true, encoding: .utf8)
        return list.path
    }

    @Test func `messages: named handlers reach Hemiola, a request gets its answer, an unknown request an error`() throws {
        let fixture = try Fixture()
        defer { fixture.stop() }
        try fixture.startHemiola()
        let page = try fixture.page(
            "messages",
            script: """
                \(visualizer)
                window.begin = async () => {
                    const handlers = webkit.messageHandlers;
                    handlers.presetHandler.postMessage('Rain');
                    handlers.speedHandler.postMessage(0.7);
                    handlers.keyHandler.postMessage({ key: 'a', event: 'keydown' });
                    handlers.lamp.postMessage({ on: true });
                    report('info', await hemiolaWindow.request('info'));
                    await hemiolaWindow.request('explode').catch((error) => report('refused', String(error.message ?? error)));
                    const other = new WebSocket('ws://127.0.0.1:9/elsewhere');
                    other.onerror = () => report('other', other instanceof WebSocket);
                };
                """)
        // After the end of its input, socat still waits for the end of the connection.
        let listener = try RunningProgram(
            "/bin/sh",
            [
                "-c",
                "echo '{\"type\":\"subscribe\",\"id\":1,\"streams\":[\"preset\",\"speed\",\"key\",\"message\"]}' | exec socat -,ignoreeof UNIX-CONNECT:\(fixture.socket)",
            ])
        defer { listener.stop() }
        let window = try fixture.window([page])
        defer { window.stop() }
        try listener.wait(for: #""type":"reply","id":1,"ok":true"#)
        try window.wait(for: "REPORT connected")
        #expect(try fixture.send("call", "function=begin").code == 0)
        #expect(try window.wait(for: "REPORT info").contains(#""scale":1"#))
        try window.wait(for: "REPORT refused \"the window does not support this request\"")
        try window.wait(for: "REPORT other")
        try window.wait(for: "handler lamp")
        for (type, content) in [("message", "lamp"), ("preset", "Rain"), ("speed", "0.7"), ("key", "")] {
            try listener.wait(until: "a record \(type)") {
                listener.lines.contains { $0.contains(#""type":"\#(type)""#) && (content.isEmpty || $0.contains(content)) }
            }
        }
    }

    @Test func `pipeline: one that ends and starts again is used again`() throws {
        let fixture = try Fixture()
        defer { fixture.stop() }
        try fixture.startHemiola()
        let page = try fixture.page(
            "again",
            script: visualizer + """
                report('loaded');
                setTimeout(() => hemiola.addEventListener('connection', (event) => report('connection', event.detail.connected)), 0);
                let last = 0;
                setInterval(() => { report('more', pushes > last); last = pushes; }, 1000);
                """)
        let window = try fixture.window([page])
        defer { window.stop() }
        try window.wait(for: "REPORT more true")
        fixture.stopHemiola()
        try window.wait(for: "REPORT connection false")
        let count = window.lines.count
        try window.wait(for: "REPORT more false", after: count)
        try fixture.startHemiola()
        try window.wait(for: "REPORT connection true", after: count)
        try window.wait(for: "REPORT more true", after: count)
        #expect(window.lines.filter { $0.contains("REPORT loaded") }.count == 1)
    }

    /// The limits are sums of differences of all pixels, between those of the page in music and in silence, where the rings of the example turn.
    @Test(arguments: [("built-in", [], 100_000), ("example", [repository.appendingPathComponent("examples/page").path], 2_000_000)])
    func `pages: the page of the web sink and the example page run unchanged, and pixels follow the sound`(
        _ name: String, _ arguments: [String], _ limit: Int
    ) throws {
        let fixture = try Fixture()
        defer { fixture.stop() }
        try fixture.startHemiola()
        let window = try fixture.window(arguments + ["--no-restore"])
        defer { window.stop() }
        /// Waits until the page is connected.
        func waitForPage() throws {
            try fixture.wait(until: "the page answers") { try fixture.send("call", "function=getPresetNames").code == 0 }
        }
        var last = try fixture.picture("\(name)-start")
        /// Waits until three pictures in a row have changed or not. One change can be the first picture of the page.
        func waitForPictures(change: Bool) throws {
            var count = 0
            try fixture.wait(until: "\(name): three pictures that \(change ? "change" : "do not change")") {
                let picture = try fixture.picture("\(name)-\(change ? "music" : "silence")")
                let difference = zip(last, picture).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
                last = picture
                count = (difference > limit) == change ? count + 1 : 0
                return count == 3
            }
        }
        try waitForPage()
        try waitForPictures(change: true)
        fixture.stopHemiola()
        try fixture.startHemiola(isSilent: true)
        try waitForPage()
        try waitForPictures(change: false)
        window.stop()
        #expect(!window.output.contains("exception"), "\(window.output)")
    }
}
