import Foundation
import TestSupport
import Testing

extension BrowserTests {
    /// The panel for chroma, key, chord and note.
    @Suite struct HarmonyTests {
        private static let minuet = repository + "/examples/music/minuet.flac"

        /// The sum of all opaque pixels' differences from the background in the ring.
        private static let coloured = """
            (() => {
                const ring = document.getElementById('chroma'), context = ring.getContext('2d');
                const pixels = context.getImageData(0, 0, ring.width, ring.height).data;
                let count = 0;
                // The colour of data: green is the strongest component.
                for (let i = 0; i < pixels.length; i += 4) count += pixels[i + 3] > 200 && pixels[i + 1] > pixels[i] + 60;
                return count;
            })()
            """

        private func open(_ program: WebProgram, size: (Int, Int) = (1400, 700)) throws -> BrowserPage {
            let page = try Browser().open(Browser.blank, size: size)
            try page.setMedia(["prefers-color-scheme": "dark"])
            try page.load(program.url)
            try page.wait(for: "window.hemiola?.hello && typeof getPresetNames === 'function'")
            return page
        }

        @Test func `without these analyzers: no panel, no button, no batch records`() throws {
            let program = try WebProgram()
            let page = try open(program)
            try page.run("window.batches = 0; hemiola.addEventListener('batch', () => batches++)")
            try page.wait(for: "parseFloat(document.getElementById('bpm').textContent) > 0")
            #expect(try page.evaluate("document.getElementById('panel-harmony').hidden", as: Bool.self))
            #expect(try page.evaluate("document.querySelector('[data-panel=harmony]').hidden", as: Bool.self))
            #expect(try page.evaluate("batches", as: Int.self) == 0)
            #expect(page.errors == [])
        }

        @Test(arguments: [12, 24, 36]) func `chroma of each number of bins: the ring shows it, without other rows`(bins: Int) throws {
            let program = try WebProgram(.file(Self.minuet), analyzers: ["chroma:bins=\(bins)"])
            let page = try open(program)
            try page.wait(for: "!document.getElementById('panel-harmony').hidden && \(Self.coloured) > 100")
            #expect(
                try page.evaluate("['key', 'chord', 'note'].every(name => document.getElementById(name + '-row').hidden)", as: Bool.self))
            #expect(page.errors == [])
        }

        @Test func `silence: the values are null and the ring is empty`() throws {
            let program = try WebProgram(.silence, analyzers: ["chroma"])
            let page = try open(program)
            try page.run("window.values = null; hemiola.addEventListener('batch', event => window.values = event.detail.chroma.bins)")
            try page.wait(for: "window.values !== null")
            #expect(try page.evaluate("values", as: [Double?].self) == Array(repeating: nil, count: 12))
            #expect(try page.evaluate(Self.coloured, as: Int.self) == 0)
            #expect(page.errors == [])
        }

        @Test func `button of the panel: hides it, and the selection is kept after a run without chroma`() throws {
            let folder = try TemporaryFolder()
            var program = try WebProgram(.file(Self.minuet), analyzers: ["chroma"], folder: folder)
            let (url, port) = (program.url, program.port)
            let page = try open(program)
            try page.wait(for: "!document.getElementById('panel-harmony').hidden")
            try page.click("[data-panel=waveform]")
            #expect(try page.evaluate("localStorage['hemiola.panels'].includes('harmony')", as: Bool.self))
            _ = try program.stop()
            program = try WebProgram(web: "port=\(port)", folder: folder)
            #expect(program.url == url)
            try page.wait(for: "hemiola.connected && document.getElementById('panel-harmony').hidden")
            try page.click("[data-panel=waveform]")
            #expect(try page.evaluate("localStorage['hemiola.panels'].includes('harmony')", as: Bool.self))
        }

        @Test(arguments: [(320, 560), (390, 760), (760, 600), (1000, 640), (1920, 1080)])
        func `any size: no horizontal scrolling, and the panel is inside of the page`(width: Int, height: Int) throws {
            let program = try WebProgram(.file(Self.minuet), analyzers: ["chroma"])
            let page = try open(program, size: (width, height))
            try page.wait(for: "!document.getElementById('panel-harmony').hidden")
            #expect(try page.evaluate("document.documentElement.scrollWidth <= innerWidth", as: Bool.self))
            let box = try page.evaluate(
                "(box => [box.left, box.right])(document.getElementById('panel-harmony').getBoundingClientRect())", as: [Double].self)
            #expect(box[0] >= 0 && box[1] <= Double(width), "\(box)")
        }
    }
}
