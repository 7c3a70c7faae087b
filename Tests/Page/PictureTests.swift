import Foundation
import TestSupport
import Testing

extension BrowserTests {
    /// What our page draws. The same seed is used in all tests.
    @Suite struct PictureTests {
        /// Opens our page without controls and waits until it draws.
        private func open(_ program: WebProgram, _ parameters: String, _ browser: Browser, size: (Int, Int) = (320, 180)) throws
            -> BrowserPage
        {
            let page = try browser.open(program.address("bare&seed=7&\(parameters)"), size: size)
            try page.wait(for: "window.hemiola?.connected && typeof getPresetNames === 'function'")
            return page
        }

        /// Pictures at intervals of half a second, after the preset has warmed up.
        private func pictures(_ page: BrowserPage) throws -> [BrowserPicture] {
            try page.run("for (let i = 0; i < 30; i++) await new Promise(done => requestAnimationFrame(done))")
            return try (0..<4).map { _ in
                usleep(500_000)
                return try page.picture()
            }
        }

        private func encoded(_ name: String) -> String { name.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? name }

        @Test func `music, silence and another preset: different pictures`() throws {
            let browser = try Browser()
            let programs = try [WebProgram.Source.noise, .silence].map { try WebProgram($0) }
            let names = try open(programs[0], "", browser).evaluate("getPresetNames()", as: [String].self)
            try #require(names.count >= 6)
            var withMusic: [String: [BrowserPicture]] = [:]
            for name in names {
                let parameter = "preset=\(encoded(name))"
                let music = try pictures(open(programs[0], parameter, browser))
                let silence = try pictures(open(programs[1], parameter, browser))
                withMusic[name] = music
                // The pictures move, so the nearest pair counts.
                let difference = music.flatMap { a in silence.map { a.difference(to: $0) } }.min() ?? 0
                print("\(name): music to silence \(difference), brightness \(music[0].brightness) \(silence[0].brightness)")
                #expect(difference > 1, "\(name)")
                #expect(music.contains { $0.colourCount > 64 }, "\(name): a picture of one colour")
            }
            for (index, name) in names.enumerated() {
                for other in names.dropFirst(index + 1) {
                    let difference = withMusic[name, default: []].flatMap { a in withMusic[other, default: []].map { a.difference(to: $0) }
                    }.min()
                    #expect(try #require(difference) > 1, "\(name) and \(other)")
                }
            }
        }

        @Test func `transparent: the background has no colour; bare: no controls; size: fixed`() throws {
            let program = try WebProgram(.silence)
            let browser = try Browser()
            let page = try open(program, "transparent&size=300x150", browser, size: (400, 240))
            let picture = try page.picture(isTransparent: true)
            #expect(picture[390, 230][3] == 0, "outside of the fixed size")
            let transparent = (0..<300).count { picture[$0, 2][3] < 255 }
            #expect(transparent > 100, "the picture's first row")
            #expect(
                try page.evaluate("[document.getElementById('stage').clientWidth, document.getElementById('stage').clientHeight]") == [
                    300, 150,
                ])
            #expect(
                try page.evaluate("[...document.querySelectorAll('button')].filter(e => e.checkVisibility()).length", as: Int.self) == 0)
            let opaque = try open(program, "size=300x150", browser, size: (400, 240)).picture(isTransparent: true)
            #expect((0..<300).allSatisfy { opaque[$0, 2][3] == 255 })
        }

        @Test func `canvas without WebGL: a picture that music moves`() throws {
            let program = try WebProgram(.noise)
            let page = try open(program, "", Browser(flags: ["--disable-3d-apis"]))
            #expect(try page.evaluate("document.createElement('canvas').getContext('webgl2') === null", as: Bool.self))
            let pictures = try pictures(page)
            #expect(pictures.contains { $0.difference(to: pictures[0]) > 0.2 })
            #expect(pictures[0].colourCount > 2)
        }
    }
}
