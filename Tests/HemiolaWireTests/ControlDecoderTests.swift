import Foundation
import HemiolaSignal
import HemiolaVisualizer
import HemiolaWire
import Testing

/// A control of a given type, decoded from a JSON object.
struct DecodedControl: Decodable {
    private static let key = CodingUserInfoKey(rawValue: "type")!
    private let result: Result<Control, ControlFault>

    init(from decoder: any Decoder) throws {
        let type = decoder.userInfo[Self.key] as! ControlType
        result = try ControlDecoder.control(type, from: decoder)
    }

    static func decode(_ type: ControlType, _ text: String) throws -> Result<Control, ControlFault> {
        let decoder = JSONDecoder()
        decoder.userInfo[key] = type
        return try decoder.decode(DecodedControl.self, from: Data(text.utf8)).result
    }
}

@Suite struct ControlDecoderTests {
    private static let whole = Fixture.clapControls[0]
    private static let required = #""loudness_db":-12,"place":null,"partials_hz":[1,2.5]"#

    private func fault(_ type: ControlType, _ text: String) throws -> String? {
        guard case .failure(let fault) = try DecodedControl.decode(type, text) else { return nil }
        return fault.message
    }

    @Test func `control with every field: decoded`() throws {
        let text =
            #"{"partials_hz":[440,880.5],"hands":4,"loudness_db":-12.5,"is_rhythmic":false,"place":"ü","manner":"loud","people":["a","b"]}"#
        #expect(try DecodedControl.decode(.setClap, text) == .success(Self.whole))
    }

    @Test func `control without fields: decoded from any object`() throws {
        #expect(try DecodedControl.decode(.tap, "{}") == .success(Control(.tap)))
        #expect(try DecodedControl.decode(.tap, #"{"type":"tap","bpm":"x"}"#) == .success(Control(.tap)))
    }

    @Test func `missing field: its default`() throws {
        #expect(
            try DecodedControl.decode(.setClap, "{\(Self.required)}")
                == .success(
                    Control(
                        .setClap, .none, .number(-12), .boolean(true), .none, .text("soft"), .list([]), .numbers([1, 2.5]))))
        #expect(try DecodedControl.decode(.ready, "{}") == .success(Control(.ready, .list([]))))
        #expect(try DecodedControl.decode(.lockTempo, "{}") == .success(Control(.lockTempo, .none)))
    }

    @Test func `a missing field without a default: refused with its name`() throws {
        #expect(try fault(.setSpeed, "{}") == "the control setSpeed needs its \"speed\"")
        #expect(try fault(.loadPreset, #"{"nam":"x"}"#) == "the control loadPreset needs its \"name\"")
        // Null is a valid value, but must be present.
        #expect(try fault(.setClap, #"{"loudness_db":0,"partials_hz":[]}"#) == "the control setClap needs its \"place\"")
    }

    @Test func `null: a value of a nullable field, a missing field otherwise`() throws {
        #expect(try DecodedControl.decode(.lockTempo, #"{"bpm":null}"#) == .success(Control(.lockTempo, .none)))
        #expect(try DecodedControl.decode(.ready, #"{"presets":null}"#) == .success(Control(.ready, .list([]))))
        #expect(
            try DecodedControl.decode(.setClap, #"{\#(Self.required),"manner":null,"is_rhythmic":null}"#)
                == DecodedControl.decode(.setClap, "{\(Self.required)}"))
        #expect(try fault(.setSpeed, #"{"speed":null}"#) == "the control setSpeed needs its \"speed\"")
    }

    @Test(arguments: [
        #""hands":"1""#, #""hands":1.5"#, #""hands":true"#, #""loudness_db":"1""#, #""loudness_db":[1]"#, #""is_rhythmic":1"#,
        #""is_rhythmic":"true""#, #""place":1"#, #""manner":1"#, #""people":"a""#, #""people":["a",1]"#, #""people":{}"#,
        #""partials_hz":1"#, #""partials_hz":["1"]"#, #""partials_hz":[null]"#,
    ])
    func `a field of another JSON type: an error`(field: String) throws {
        let name = try #require(field.split(separator: ":").first)
        let others = [
            #""hands":1"#, #""loudness_db":-12"#, #""is_rhythmic":true"#, #""place":"a""#, #""manner":"soft""#, #""people":[]"#,
            #""partials_hz":[1]"#,
        ].filter { !$0.hasPrefix(name) }
        #expect(throws: DecodingError.self) {
            try DecodedControl.decode(.setClap, "{\((others + [field]).joined(separator: ","))}")
        }
        #expect(try fault(.tap, "{\(field)}") == nil)
    }

    @Test func `what is not an object: an error`() {
        for text in ["[]", "1", #""tap""#] {
            #expect(throws: DecodingError.self) { try DecodedControl.decode(.setSpeed, text) }
        }
    }

    @Test func `a text that is not one of the choices: refused with the choices`() throws {
        #expect(try fault(.setClap, #"{\#(Self.required),"manner":"other"}"#) == "\"manner\" is one of: soft, loud")
        #expect(
            try fault(.keyHandler, #"{"key":"a","note":60,"event":"keypress"}"#) == "\"event\" is one of: keydown, keyup")
    }

    @Test func `a range is not checked: the handler does that`() throws {
        #expect(try DecodedControl.decode(.setSpeed, #"{"speed":7}"#) == .success(Control(.setSpeed, .number(7))))
    }

    @Test func `values that are made in the program: of another type or missing, refused`() {
        #expect(throws: ControlFault(message: "\"speed\" has another type")) {
            try Control(.setSpeed) { _ in .text("1") }
        }
        #expect(throws: ControlFault(message: "the control setSpeed needs its \"speed\"")) { try Control(.setSpeed) { _ in nil } }
        #expect(throws: Never.self) { try Control(.lockTempo) { _ in ParameterValue.none } }
    }
}
