import Hemiola
import HemiolaBridge
import HemiolaRecords
import Testing

@Suite struct PageDirectorTests {
    private func reply(_ control: Control) -> ControlReply {
        PageDirector().handle(StampedControl(control, at: 0, from: "web/1"))
    }

    @Test func `report of a page that only a preset cycler reads: no effect, and no refusal`() {
        for type: ControlType in [.ready, .presetNames, .presetRefused, .pageClosed] { #expect(reply(Control(type)) == .done) }
    }

    @Test func `control that the director does not declare: refused with a reason`() {
        #expect(reply(Control(.nextPreset)) == .refused("nothing here handles nextPreset"))
    }
}
