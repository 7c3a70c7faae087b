import Foundation
import TestSupport
import Testing

extension BrowserTests {
    /// The controls of our page, used with mouse and keyboard, and their effects on the program.
    @Suite struct ControlTests {
        /// Opens our page and waits until the program has its presets.
        private func open(_ program: WebProgram, in browser: Browser) throws -> BrowserPage {
            let page = try browser.open(program.url, size: (900, 560))
            try page.wait(for: "window.hemiola?.connected && typeof getPresetNames === 'function'")
            try program.next("control", ["control": .text("ready")])
            return page
        }

        private func names(_ page: BrowserPage) throws -> [String] {
            let names = try page.evaluate("getPresetNames()", as: [String].self)
            try #require(names.count > 1)
            return names
        }

        @Test func `search: case and accents are ignored, Enter loads the preset`() throws {
            let program = try WebProgram()
            let page = try open(program, in: Browser())
            let name = try #require(try names(page).last)
            let accents = ["a": "á", "e": "ê", "i": "ï", "o": "ö", "u": "ù", "n": "ñ", "c": "ç"]
            let text = name.lowercased().map { accents[String($0)] ?? String($0) }.joined().uppercased()
            try page.click("#presets-button")
            try page.wait(for: "document.activeElement.id === 'search'")
            let all = try page.evaluate("document.querySelectorAll('#preset-options [role=option]').length", as: Int.self)
            #expect(try all == names(page).count)
            try page.insert(text)
            try page.wait(for: "document.querySelectorAll('#preset-options [role=option]').length === 1")
            try page.press("Enter")
            try program.next("control", ["control": .text("presetHandler"), "name": .text(name)])
            #expect(try program.next("preset")["name"] == .text(name))
            #expect(try page.evaluate("getCurrentPreset()") == name)
            #expect(try program.status()["preset"] == .text(name))
            // No preset matches: the list is empty, and Enter loads nothing.
            try page.wait(for: "document.activeElement.id === 'search' || document.getElementById('presets').hidden")
            if try page.evaluate("document.getElementById('presets').hidden", as: Bool.self) { try page.click("#presets-button") }
            try page.click("#search")
            try page.insert("no preset has this name")
            try page.wait(for: "document.querySelectorAll('#preset-options [role=option]').length === 0")
            // Escape closes the list, not the visualizer.
            try page.press("Escape")
            try page.wait(for: "document.getElementById('presets').hidden")
        }

        @Test func `speed slider: steps of 0.05 from 0.1 to 1, each reported`() throws {
            let program = try WebProgram()
            let page = try open(program, in: Browser())
            try page.run("document.getElementById('speed').focus()")
            try page.press("ArrowLeft")
            try program.next("control", ["control": .text("speedHandler"), "speed": .number(0.95)])
            #expect(try program.next("speed")["speed"] == .number(0.95))
            try page.press("Home")
            #expect(try program.next("speed")["speed"] == .number(0.1))
            try page.press("ArrowRight")
            #expect(try program.next("speed")["speed"] == .number(0.15))
            #expect(try program.status()["speed"] == .number(0.15))
            // A speed that another client sets moves the slider.
            #expect(try program.send("setSpeed", ["speed=0.5"]).status == 0)
            try page.wait(for: "document.getElementById('speed').valueAsNumber === 0.5")
            #expect(
                try page.evaluate("[...document.querySelectorAll('#speed')].map(e => [e.min, e.max, e.step])") == [["0.1", "1", "0.05"]])
        }

        @Test func `next, previous and random without a preset cycler: the page changes the preset and reports it`() throws {
            let program = try WebProgram()
            let page = try open(program, in: Browser())
            let names = try names(page)
            // The page reports its first preset.
            try program.next("preset", ["reason": .text("page")])
            for button in ["#next", "#previous", "#random"] {
                let before = try page.evaluate("getCurrentPreset()", as: String.self)
                try page.click(button)
                let name = try program.next("control", ["control": .text("presetHandler")])["name"]?.text
                #expect(try #require(name) != before && names.contains(#require(name)))
                try page.wait(for: "getCurrentPreset() === \(BrowserPage.quote(#require(name)))")
            }
            try page.press("r")
            try program.next("control", ["control": .text("presetHandler")])
            try page.press("c")
            try page.wait(for: "document.getElementById('cycle').getAttribute('aria-pressed') === 'true'")
            #expect(try program.status()["preset"]?.text == page.evaluate("getCurrentPreset()", as: String.self))
        }

        @Test func `next, random and cycle with a preset cycler: the program changes the preset`() throws {
            let program = try WebProgram(sinks: ["presets:mode=timer,time_s=600,order=sequential,state=none"])
            let page = try open(program, in: Browser())
            let names = try names(page)
            try wait(for: "the presets of the page in the cycler") { try program.send("loadPreset", ["name=\(names[0])"]).status == 0 }
            for button in ["#next", "#previous", "#random"] {
                try page.click(button)
                try program.next(
                    "control", ["control": .text(["#next": "nextPreset", "#previous": "previousPreset"][button] ?? "randomPreset")])
                let name = try #require(try program.next("preset")["name"]?.text)
                try page.wait(for: "getCurrentPreset() === \(BrowserPage.quote(name))")
            }
            let before = try program.status()["cycling"]
            try page.click("#cycle")
            try program.next("control", ["control": .text("toggleCycle")])
            try wait(for: "the change of cycling") { try program.status()["cycling"] != before }
            let cycles = try program.status()["cycling"] == .flag(true)
            try page.wait(for: "document.getElementById('cycle').getAttribute('aria-pressed') === '\(cycles)'")
        }

        @Test func `note keys: each sends keydown and keyup; other keys and typed text send none`() throws {
            let program = try WebProgram()
            let page = try open(program, in: Browser())
            for key in "awsedftgyhujkolp".map(String.init) {
                try page.press(key)
                for event in ["keydown", "keyup"] {
                    try program.next("control", ["control": .text("keyHandler"), "key": .text(key), "event": .text(event)])
                }
                #expect(try program.next("key")["key"] == .text(key))
            }
            try page.press("x")
            try page.press("/")
            try page.wait(for: "document.activeElement.id === 'search'")
            try page.type("was")
            #expect(try page.evaluate("document.getElementById('search').value") == "was")
            try page.press("Escape")
            try page.wait(for: "document.getElementById('presets').hidden")
            #expect(try page.evaluate("hemiola.connected", as: Bool.self))
            try page.press("p")
            #expect(try program.next("control", ["control": .text("keyHandler")])["key"] == .text("p"))
        }

        @Test func `tap, lock, half and double: applied to the tempo`() throws {
            let program = try WebProgram()
            let page = try open(program, in: Browser())
            try page.wait(for: "Math.abs(parseFloat(document.getElementById('bpm').textContent) - 120) < 3")
            try page.click("[data-control=tap]")
            try program.next("control", ["control": .text("tap")])
            try page.press("b")
            try program.next("control", ["control": .text("tap")])
            try page.click("[data-control=halveTempo]")
            try program.next("control", ["control": .text("halveTempo")])
            try wait(for: "60 BPM") { abs((try program.status()["bpm"]?.number ?? 0) - 60) < 3 }
            try page.click("[data-control=doubleTempo]")
            try program.next("control", ["control": .text("doubleTempo")])
            try wait(for: "120 BPM") { abs((try program.status()["bpm"]?.number ?? 0) - 120) < 3 }
            try page.click("[data-control=lockTempo]")
            let bpm = try #require(try program.next("control", ["control": .text("lockTempo")])["bpm"]?.number)
            #expect(bpm > 20 && bpm < 300)
            try page.wait(for: "document.getElementById('lock').getAttribute('aria-pressed') === 'true'")
            try page.click("[data-control=lockTempo]")
            #expect(try program.next("control", ["control": .text("lockTempo")])["bpm"] ?? .null == .null)
            try page.wait(for: "document.getElementById('lock').getAttribute('aria-pressed') === 'false'")
        }

        @Test func `hide: the controls disappear and return; favourites stay after a reload`() throws {
            let program = try WebProgram()
            let page = try open(program, in: Browser())
            let name = try page.evaluate("getCurrentPreset()", as: String.self)
            try page.click("#favourite")
            try page.wait(for: "document.getElementById('favourite').getAttribute('aria-pressed') === 'true'")
            try page.click("#hide")
            try page.wait(for: "document.getElementById('dock').hidden && document.getElementById('top').hidden")
            try page.press("Tab")
            #expect(try page.evaluate("document.activeElement.id") == "show-controls")
            try page.press("Enter")
            try page.wait(for: "!document.getElementById('dock').hidden")
            try page.reload()
            try page.wait(for: "typeof getCurrentPreset === 'function' && getCurrentPreset() === \(BrowserPage.quote(name))")
            try page.wait(for: "document.getElementById('favourite').getAttribute('aria-pressed') === 'true'")
        }

        @Test(arguments: ["button", "Escape"]) func `close: ends the run if the sink is configured so`(action: String) throws {
            let program = try WebProgram(web: "port=0,exit_on_close=true")
            let page = try open(program, in: Browser())
            if action == "button" { try page.click("#close") } else { try page.press("Escape") }
            #expect(try program.process.finish().status == 0)
        }

        @Test func `close with the default setting: the page says so and connects again at a click`() throws {
            let program = try WebProgram()
            let page = try open(program, in: Browser())
            try page.click("#close")
            try page.wait(for: "!hemiola.connected && !document.getElementById('outage').hidden")
            try page.click("#reconnect")
            try page.wait(for: "hemiola.connected && document.getElementById('outage').hidden")
            #expect(try program.stop().status == 130)
        }
    }
}
