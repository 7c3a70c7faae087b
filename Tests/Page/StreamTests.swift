import Foundation
import TestSupport
import Testing

extension BrowserTests {
    /// Samples, connections and tabs.
    @Suite struct StreamTests {
        /// A page like those of native web views: it counts its samples.
        static let countingPage = """
            <!doctype html><html><head><meta charset=utf-8><title>Count</title></head><body><script>
            window.calls = 0;
            window.pushSamples = samples => {
                if (!Array.isArray(samples) || samples.length !== 2048) throw new Error('not 2048 numbers');
                calls += 1;
            };
            </script></body></html>
            """

        /// Records sequence and frame of each sample message in `window.received`.
        private static let recorder = """
            window.received = [];
            hemiola.addEventListener('samples', event => received.push([event.detail.sequence, event.detail.frame]));
            """

        private struct Reception: Decodable {
            var seconds: Double
            var count: Int
            var gaps: Int
            var badFrames: Int

            /// 43 ± 1 messages per second, without a gap.
            var isComplete: Bool { abs(Double(count) / seconds - 43) <= 1 && gaps == 0 && badFrames == 0 }
        }

        /// Counts the sample messages of ten seconds.
        ///
        /// If other processes keep the page from running for a while, samples are dropped or arrive late. Then ten more seconds are
        /// counted, up to a minute.
        private func receive(_ page: BrowserPage) throws -> Reception {
            try page.run(Self.recorder)
            var reception = try receiveOnce(page)
            for _ in 1..<6 where !reception.isComplete { reception = try receiveOnce(page) }
            return reception
        }

        private func receiveOnce(_ page: BrowserPage) throws -> Reception {
            try page.evaluate(
                """
                new Promise(done => {
                    received.length = 0;
                    const start = performance.now();
                    setTimeout(() => {
                        const seconds = (performance.now() - start) / 1000;
                        let gaps = 0, badFrames = 0;
                        for (let i = 1; i < received.length; i++) {
                            gaps += received[i][0] !== received[i - 1][0] + 1;
                            badFrames += received[i][1] !== received[i - 1][1] + 1024;
                        }
                        done({seconds, count: received.length, gaps, badFrames});
                    }, 10000);
                })
                """)
        }

        private func openConnected(_ url: String, _ browser: Browser, size: (Int, Int) = (320, 180)) throws -> BrowserPage {
            let page = try browser.open(url, size: size)
            try page.wait(for: "window.hemiola?.connected")
            return page
        }

        @Test func `ten seconds in a page with pushSamples: 43 messages a second without a gap`() throws {
            let folder = try TemporaryFolder()
            try folder.write(Self.countingPage, to: "index.html")
            let program = try WebProgram(web: "port=0,page=\(folder.path)")
            let page = try openConnected(program.url, Browser())
            try page.wait(for: "calls > 43")
            let before = try page.evaluate("calls", as: Int.self)
            let reception = try receive(page)
            let after = try page.evaluate("calls", as: Int.self)
            #expect(reception.isComplete, "\(reception)")
            #expect(after - before >= reception.count)
            #expect(page.errors == [])
        }

        @Test func `ten seconds in our page: 43 messages a second without a gap`() throws {
            let program = try WebProgram()
            let page = try openConnected(program.address("bare&seed=1"), Browser())
            // While shaders are compiled the page does not read.
            try page.wait(for: "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")
            usleep(3_000_000)
            let reception = try receive(page)
            #expect(reception.isComplete, "\(reception)")
        }

        @Test func `program restarted: the page reconnects by itself, with a visible outage`() throws {
            let folder = try TemporaryFolder()
            var program = try WebProgram(folder: folder)
            let (url, port) = (program.url, program.port)
            let page = try openConnected(url, Browser())
            #expect(try program.stop().status == 130)
            try page.wait(for: "!hemiola.connected && !document.getElementById('outage').hidden")
            program = try WebProgram(web: "port=\(port)", folder: folder)
            #expect(program.url == url, "the same port and token")
            try page.wait(for: "hemiola.connected && document.getElementById('outage').hidden")
            try page.run(Self.recorder)
            try page.wait(for: "received.length > 20")
        }

        @Test func `page reloaded: preset and speed are kept, also without the token in the URL`() throws {
            let program = try WebProgram()
            let page = try openConnected(program.url, Browser())
            let name = try #require(try page.evaluate("getPresetNames()", as: [String].self).last)
            try page.run(
                "loadPresetByName(\(BrowserPage.quote(name))); webkit.messageHandlers.presetHandler.postMessage(getCurrentPreset())")
            try page.run("webkit.messageHandlers.speedHandler.postMessage(0.35)")
            #expect(try program.next("preset", ["name": .text(name)])["name"] == .text(name))
            try program.next("speed", ["speed": .number(0.35)])
            for load in [{ try page.reload() }, { try page.load(program.origin + "/") }] {
                try load()
                try page.wait(for: "window.hemiola?.connected && typeof getCurrentPreset === 'function'")
                try page.wait(for: "getCurrentPreset() === \(BrowserPage.quote(name))")
                #expect(try page.evaluate("document.getElementById('speed').valueAsNumber") == 0.35)
                #expect(try page.evaluate("initialSpeed") == 0.35)
                #expect(
                    try page.evaluate("new TextDecoder().decode(Uint8Array.from(atob(initialPresetNameB64), c => c.charCodeAt(0)))") == name
                )
            }
        }

        @Test func `two tabs: both receive all samples; a preset chosen in one is shown in the other`() throws {
            let folder = try TemporaryFolder()
            try folder.write(Self.countingPage, to: "index.html")
            let browser = try Browser()
            let program = try WebProgram()
            let pages = try [program.url, program.url].map { try openConnected($0, browser) }
            for page in pages { try page.run(Self.recorder) }
            for page in pages { try page.wait(for: "received.length > 100") }
            try pages[0].wait(for: "typeof getPresetNames === 'function'")
            try pages[1].wait(for: "typeof getPresetNames === 'function'")
            let current = try pages[1].evaluate("getCurrentPreset()", as: String.self)
            let name = try #require(try pages[0].evaluate("getPresetNames()", as: [String].self).last { $0 != current })
            #expect(try program.send("loadPreset", ["name=\(name)"]).status == 0)
            for page in pages { try page.wait(for: "getCurrentPreset() === \(BrowserPage.quote(name))") }
        }

        @Test(arguments: ["hidden", "blocked"]) func `one tab does not read: the other receives all samples`(state: String) throws {
            let folder = try TemporaryFolder()
            try folder.write(Self.countingPage, to: "index.html")
            let program = try WebProgram(web: "port=0,page=\(folder.path)")
            let browser = try Browser()
            let slow = try openConnected(program.url, browser)
            let page = try openConnected(program.url, browser)
            try page.wait(for: "calls > 43")
            if state == "hidden" {
                try slow.setHidden(true)
            } else {
                // It reads for a moment every two seconds.
                try slow.run(
                    "window.timer = setInterval(() => { const end = performance.now() + 2000; while (performance.now() < end); }, 1)")
            }
            let reception = try receive(page)
            #expect(reception.isComplete, "\(reception)")
            // The slow one receives the newest samples afterwards.
            if state == "hidden" { try slow.setHidden(false) } else { try slow.run("clearInterval(timer)") }
            let calls = try slow.evaluate("calls", as: Int.self, timeout: 120)
            try slow.wait(for: "calls > \(calls + 43)")
        }
    }
}
