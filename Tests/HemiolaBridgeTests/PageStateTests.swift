import Hemiola
import HemiolaVisualizer
import Testing

@Suite struct PageStateTests {
    private func page(presets: [String] = []) -> PageState {
        var page = PageState("web/1", PagePresets())
        page.follow(Control(.ready, .texts(presets)))
        return page
    }

    /// The commands that follow from a change of the preset, and from the control that a page has sent for it.
    private func commands(_ name: String, _ reason: PresetChange.Reason = .request, reportedBy origin: String? = nil) -> [PageCommand] {
        var events = [Event(at: 0, PresetChange(name: name, cut: .soft, blend: 1.5, reason: reason))]
        if let origin {
            events.insert(Event(at: 0, StampedControl(Control(.presetHandler, .text(name)), at: 0, from: origin)), at: 0)
        }
        return PageCommand.following(events.span)
    }

    @Test func `change of the preset: a line for pages that are ready and have the preset`() throws {
        let command = try #require(commands("a").first)
        #expect(command.line == "{\"type\":\"loadPresetByName\",\"name\":\"a\",\"blend_s\":1.5}\n")
        var (known, lacking, unready) = (page(), page(presets: ["b"]), PageState("web/2", PagePresets()))
        #expect(known.step(to: command, at: 0) == .send)
        #expect(lacking.step(to: command, at: 0) == .none)
        #expect(unready.step(to: command, at: 0) == .none)
    }

    @Test func `changes within a second: the last one waits`() throws {
        var page = page()
        let (a, b, c) = (try #require(commands("a").first), try #require(commands("b").first), try #require(commands("c").first))
        #expect(page.step(to: a, at: 5) == .send)
        #expect(page.step(to: b, at: 6) == .wait(until: 1_000_000_005))
        #expect(page.step(to: c, at: 7) == .none)
        #expect(page.takeWaiting()?.line == c.line)
        #expect(page.step(to: c, at: 1_000_000_005) == .send)
        // The page's own change is newer than one that waits.
        #expect(page.step(to: a, at: 1_000_000_006) == .wait(until: 2_000_000_005))
        page.follow(Control(.presetHandler, .text("b")))
        #expect(page.takeWaiting()?.line == nil)
    }

    @Test func `change that a page has reported: goes to the other pages`() throws {
        let own = try #require(commands("a", .page, reportedBy: "web/1").first)
        let other = try #require(commands("a", .page, reportedBy: "web/2").first)
        var page = page()
        #expect(page.step(to: own, at: 0) == .none)
        #expect(page.step(to: other, at: 0) == .send)
    }
}
