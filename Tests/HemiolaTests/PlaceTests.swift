import Hemiola
import Testing

@Suite struct PlaceTests {
    @Test(
        arguments: [
            (.sink(1, "period_s"), "sinks[1].period_s"), (.capture(0), "captures[0]"), (.control(2), "controls[2]"),
            (.analyzer(), "analyzers"), (.analyzer(nil, "bands"), "analyzers.bands"), (Place(.select, 2), "select[2]"),
            (.key("batch"), "batch"),
        ] as [(Place, String)])
    func `place: written like a path of a pipeline file`(place: Place, text: String) {
        #expect(place.description == text)
        #expect(Problem("wrong", at: place).description == "\(text): wrong")
    }

    @Test func `no place: the message alone`() {
        #expect(Problem("wrong").description == "wrong")
    }

    @Test func `setting of a plugin below an element: a setting of the element`() {
        #expect(Place.key("bands").below(.analyzer(2)) == .analyzer(2, "bands"))
        #expect(Place.key("bands").below(nil) == .key("bands"))
    }
}
