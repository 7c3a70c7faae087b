import Foundation
import TestSupport
import Testing

extension BrowserTests {
    /// axe-core finds no violation of accessibility rules in our page.
    @Suite(.needs(.python(module: "axe_core_python"))) struct AccessibilityTests {
        /// axe-core's script, which the Python package contains.
        private static func script() throws -> String {
            let python = try #require(Tool.location(of: Tool.python))
            let code = "import importlib.util as u; print(u.find_spec('axe_core_python').submodule_search_locations[0])"
            let outcome = try ChildProcess.run(python, ["-c", code])
            return try String(contentsOfFile: try #require(outcome.lines.first) + "/axe.min.js", encoding: .utf8)
        }

        /// The violations as `RULE: ELEMENT: REASON`.
        private func violations(_ page: BrowserPage) throws -> [String] {
            try page.runScript(Self.script())
            // Colours are checked after transitions.
            try page.wait(
                for:
                    "document.getAnimations().every(a => a.playState !== 'running' || a.effect.getComputedTiming().iterations === Infinity)"
            )
            return try page.evaluate(
                """
                axe.run(document, {resultTypes: ['violations']}).then(results => results.violations.flatMap(violation =>
                    violation.nodes.map(node => `${violation.id}: ${node.html.slice(0, 160)}: ${node.failureSummary}`)))
                """, timeout: 120)
        }

        private enum State: String, CaseIterable {
            case main, presets, settings, hidden, outage, phone
        }

        @Test func `page with faults: violations found`() throws {
            let server = try BrowserFileServer(texts: ["/": "<!doctype html><html><body><img src='/x.png'><button></button></body></html>"])
            let found = try violations(Browser().open(server.origin + "/"))
            for rule in ["image-alt", "button-name", "html-has-lang"] { #expect(found.contains { $0.hasPrefix(rule) }, "\(found)") }
        }

        @Test(arguments: ["dark", "light"]) func `our page in each state: no violation`(scheme: String) throws {
            // The analyzers of the panel *Harmony*, which is hidden without them.
            var program: WebProgram? = try WebProgram(analyzers: ["chroma", "musical-key", "chords", "pitch"])
            let page = try Browser().open(Browser.blank, size: (1000, 640))
            try page.setMedia(["prefers-color-scheme": scheme])
            try page.load(try #require(program).url)
            for state in State.allCases {
                try page.wait(for: "window.hemiola && typeof getPresetNames === 'function'")
                switch state {
                case .main:
                    try page.wait(for: "parseFloat(document.getElementById('bpm').textContent) > 0")
                    try page.wait(for: "!document.getElementById('panel-harmony').hidden && !document.getElementById('note-row').hidden")
                case .presets: try page.click("#presets-button")
                case .settings:
                    try page.press("Escape")
                    try page.click("#settings-button")
                case .hidden:
                    try page.press("Escape")
                    try page.click("#hide")
                case .outage:
                    try page.press("Escape")
                    program = nil
                    try page.wait(for: "!document.getElementById('outage').hidden")
                case .phone: try page.setSize(390, 760, pixelRatio: 2, isPhone: true)
                }
                let found = try violations(page)
                #expect(found == [], "\(state)")
            }
        }

        @Test func `phone: no horizontal scrolling, and targets of at least 24 pixels`() throws {
            let program = try WebProgram()
            let page = try Browser().open(Browser.blank)
            try page.setSize(360, 740, pixelRatio: 2, isPhone: true)
            try page.load(program.url)
            try page.wait(for: "window.hemiola?.connected")
            #expect(try page.evaluate("document.documentElement.scrollWidth <= innerWidth", as: Bool.self))
            let small = try page.evaluate(
                """
                [...document.querySelectorAll('button, input, [role=option]')].filter(e => e.checkVisibility() && e.type !== 'range')
                    .map(e => [(e.type === 'checkbox' ? e.closest('label') : e).getBoundingClientRect(), e.id || e.outerHTML.slice(0, 80)])
                    .filter(([box]) => box.width > 0 && (box.width < 24 || box.height < 24)).map(([box, name]) => `${name} ${box.width}x${box.height}`)
                """, as: [String].self)
            #expect(small == [])
        }
    }
}
