import Hemiola
import HemiolaVisualizer
import Testing

@testable import HemiolaBridge

@Suite struct PageDirectorTests {
    private func reply(_ control: Control) -> ControlReply {
        PageDirector(nil).handle(StampedControl(control, at: 0, from: "web/1"))
    }

    @Test func `report of a page that only a preset cycler reads: no effect, and no refusal`() {
        for type: ControlType in [.ready, .presetNames, .presetRefused, .pageClosed] { #expect(reply(Control(type)) == .done) }
    }

    @Test func `loadPreset: refused where the connected pages have reported that they do not have it`() {
        let presets = PagePresets()
        let director = PageDirector(presets)
        func reply(_ control: Control, from page: String = "web/1") -> ControlReply {
            // As a bridge does.
            presets.follow(control, of: page)
            return director.handle(StampedControl(control, at: 0, from: page))
        }
        #expect(reply(Control(.loadPreset, .text("c")), from: "send") == .done)
        _ = reply(Control(.ready, .texts(["a", "b"])))
        #expect(reply(Control(.loadPreset, .text("a")), from: "send") == .done)
        #expect(reply(Control(.loadPreset, .text("c")), from: "send") == .refused("no page has the preset \"c\"; nothing changed"))
        // Another page, whose presets are not known, and then are.
        _ = reply(Control(.ready, .texts([])), from: "web/2")
        #expect(reply(Control(.loadPreset, .text("c")), from: "send") == .done)
        _ = reply(Control(.presetNames, .texts(["c"])), from: "web/2")
        #expect(reply(Control(.loadPreset, .text("c")), from: "send") == .done)
        _ = reply(Control(.pageClosed), from: "web/2")
        #expect(reply(Control(.loadPreset, .text("c")), from: "send") != .done)
    }

    @Test func `control that the director does not declare: refused with a reason`() {
        #expect(reply(Control(.nextPreset)) == .refused("nothing here handles nextPreset"))
    }
}
