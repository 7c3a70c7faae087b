import HemiolaRecords
import HemiolaSystem
import HemiolaVisualizer
import Testing

@Suite struct ControlJSONTests {
    private static let whole = Fixture.clapControls[0]
    private static let required = #""loudness_db":-12,"place":null,"partials_hz":[1,2.5]"#

    private func control(_ type: ControlType, _ text: String) throws -> Control {
        try Control(type, from: JSONValue(Array(text.utf8)))
    }

    private func fault(_ type: ControlType, _ text: String) -> String? {
        do {
            _ = try control(type, text)
            return nil
        } catch {
            return (error as? Problem)?.message ?? "not JSON: \(error)"
        }
    }

    @Test func `control with every field: decoded`() throws {
        let text =
            #"{"partials_hz":[440,880.5],"hands":4,"loudness_db":-12.5,"is_rhythmic":false,"place":"ü","manner":"loud","people":["a","b"]}"#
        #expect(try control(.setClap, text) == Self.whole)
    }

    @Test func `control without fields: decoded from any object`() throws {
        #expect(try control(.tap, "{}") == Control(.tap))
        #expect(try control(.tap, #"{"type":"tap","bpm":"x"}"#) == Control(.tap))
    }

    @Test func `missing field: its default`() throws {
        #expect(
            try control(.setClap, "{\(Self.required)}")
                == Control(.setClap, .none, .number(-12), .boolean(true), .none, .text("soft"), .list([]), .numbers([1, 2.5])))
        #expect(try control(.ready, "{}") == Control(.ready, .list([])))
        #expect(try control(.lockTempo, "{}") == Control(.lockTempo, .none))
    }

    @Test func `a missing field without a default: refused with its name`() throws {
        #expect(fault(.setSpeed, "{}") == "the control setSpeed needs its \"speed\"")
        #expect(fault(.loadPreset, #"{"nam":"x"}"#) == "the control loadPreset needs its \"name\"")
        // Null is a valid value, but must be present.
        #expect(fault(.setClap, #"{"loudness_db":0,"partials_hz":[]}"#) == "the control setClap needs its \"place\"")
    }

    @Test func `null: a value of a nullable field, a missing field otherwise`() throws {
        #expect(try control(.lockTempo, #"{"bpm":null}"#) == Control(.lockTempo, .none))
        #expect(try control(.ready, #"{"presets":null}"#) == Control(.ready, .list([])))
        #expect(
            try control(.setClap, #"{\#(Self.required),"manner":null,"is_rhythmic":null}"#)
                == control(.setClap, "{\(Self.required)}"))
        #expect(fault(.setSpeed, #"{"speed":null}"#) == "the control setSpeed needs its \"speed\"")
    }

    @Test func `whole number with a point or an exponent: a value of an integer field`() throws {
        for hands in ["4.0", "4e0", "40E-1"] {
            #expect(try control(.setClap, "{\(Self.required),\"hands\":\(hands)}")["hands"] == .integer(4))
        }
    }

    @Test(arguments: [
        (#""hands":"1""#, "hands"), (#""hands":1.5"#, "hands"), (#""hands":true"#, "hands"), (#""loudness_db":"1""#, "loudness_db"),
        (#""loudness_db":[1]"#, "loudness_db"), (#""is_rhythmic":1"#, "is_rhythmic"), (#""is_rhythmic":"true""#, "is_rhythmic"),
        (#""place":1"#, "place"), (#""manner":1"#, "manner"), (#""people":"a""#, "people"), (#""people":["a",1]"#, "people.1"),
        (#""people":{}"#, "people"), (#""partials_hz":1"#, "partials_hz"), (#""partials_hz":["1"]"#, "partials_hz.0"),
        (#""partials_hz":[null]"#, "partials_hz.0"),
    ])
    func `a field of another JSON type: an error that names it, or the element of the list`(field: String, place: String) throws {
        let name = try #require(field.split(separator: ":").first)
        let others = [
            #""hands":1"#, #""loudness_db":-12"#, #""is_rhythmic":true"#, #""place":"a""#, #""manner":"soft""#, #""people":[]"#,
            #""partials_hz":[1]"#,
        ].filter { !$0.hasPrefix(name) }
        let text = try #require(fault(.setClap, "{\((others + [field]).joined(separator: ","))}"))
        #expect(text.hasPrefix("\"\(place)\" "))
        #expect(fault(.tap, "{\(field)}") == nil)
    }

    @Test func `what is not an object: an error`() {
        for text in ["[]", "1", #""tap""#] {
            #expect(throws: Problem.self) { try control(.setSpeed, text) }
        }
    }

    @Test func `a text that is not one of the choices: refused with the choices`() throws {
        #expect(fault(.setClap, #"{\#(Self.required),"manner":"other"}"#) == "\"manner\" is one of: soft, loud")
        #expect(
            fault(.keyHandler, #"{"key":"a","note":60,"event":"keypress"}"#) == "\"event\" is one of: keydown, keyup")
    }

    @Test func `a number outside the range: a control, which the port refuses`() throws {
        #expect(try control(.setSpeed, #"{"speed":7}"#) == Control(.setSpeed, .number(7)))
        #expect(try control(.setSpeed, #"{"speed":7}"#).fault == "\"speed\": 7 is outside 0.1...1")
    }

    @Test func `values that are made in the program: of another type or missing, refused`() {
        #expect(throws: Problem("\"speed\" has another type")) {
            try Control(.setSpeed) { _ in .text("1") }
        }
        #expect(throws: Problem("the control setSpeed needs its \"speed\"")) { try Control(.setSpeed) { _ in nil } }
        #expect(throws: Never.self) { try Control(.lockTempo) { _ in ParameterValue.none } }
    }
}
