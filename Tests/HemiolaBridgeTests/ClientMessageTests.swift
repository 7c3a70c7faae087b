import HemiolaRecords
import HemiolaVisualizer
import Testing

@testable import HemiolaBridge

@Suite struct ClientMessageTests {
    private func message(_ line: some Collection<UInt8>) -> ClientMessage {
        ClientMessage(Array(line), .test)
    }

    /// Why a line is no message.
    private func fault(_ line: some Collection<UInt8>) -> String? {
        if case .invalid(let reason) = message(line).body { reason } else { nil }
    }

    @Test(arguments: [
        (#"{"type":"nextPreset"}"#, Control(.nextPreset)), (#"{"type":"previousPreset"}"#, Control(.previousPreset)),
        (#"{"type":"randomPreset"}"#, Control(.randomPreset)), (#"{"type":"toggleCycle"}"#, Control(.toggleCycle)),
        (#"{"type":"tap"}"#, Control(.tap)),
        (
            #"{"type":"loadPreset","name":"a \"b\" \\ </script> \ud83d\ude00\n"}"#,
            Control(.loadPreset, .text("a \"b\" \\ </script> 😀\n"))
        ),
        (#"{"type":"lockPreset","locked":true}"#, Control(.lockPreset, .boolean(true))),
        (#"{"type":"setFavourites","names":["x"]}"#, Control(.setFavourites, .texts(["x"]))),
        (#"{"type":"setSpeed","speed":0.5}"#, Control(.setSpeed, .number(0.5))),
        (#"{"type":"setSpeed","speed":1}"#, Control(.setSpeed, .number(1))),
        (#"{"type":"lockTempo","bpm":128}"#, Control(.lockTempo, .number(128))),
        (#"{"type":"lockTempo","bpm":null}"#, Control(.lockTempo, .none)), (#"{"type":"lockTempo"}"#, Control(.lockTempo)),
        (#"{"type":"ready","presets":["x","y"]}"#, Control(.ready, .texts(["x", "y"]))),
        (#"{"type":"ready"}"#, Control(.ready, .texts([]))), (#"{"type":"presetNames","names":[]}"#, Control(.presetNames, .texts([]))),
        (#"{"type":"presetHandler","name":"é"}"#, Control(.presetHandler, .text("é"))),
        (#"{"type":"presetRefused","name":"z"}"#, Control(.presetRefused, .text("z"))),
        (#"{"type":"speedHandler","speed":1.0}"#, Control(.speedHandler, .number(1))),
        (#"{"type":"keyHandler","key":"a","event":"keydown"}"#, KeyStroke(key: "a", note: 60, phase: .down).control),
        (#"{"type":"keyHandler","key":"p","event":"keyup","note":null}"#, KeyStroke(key: "p", note: 75, phase: .up).control),
        (#"{"type":"keyHandler","key":"p","event":"keyup","note":40}"#, KeyStroke(key: "p", note: 40, phase: .up).control),
        (#"{"type":"keyHandler","key":"Enter","event":"keyup"}"#, KeyStroke(key: "Enter", note: nil, phase: .up).control),
        (#" { "what" : [{}] , "type" : "tap" } "#, Control(.tap)),
    ])
    func `control: has its name and fields`(line: String, control: Control) {
        let message = self.message(line.utf8)
        #expect(message == ClientMessage(id: nil, body: .control(control)))
    }

    @Test(arguments: [
        (#"{"type":"import","id":1,"name":"x","path":"/x"}"#, "imports", true),
        (#"{"type":"tabs","active":"a","tabs":[]}"#, "messages of windows", true),
        (#"{"type":"window","action":"reload"}"#, "messages of windows", false), (#"{"type":"windowReady"}"#, "messages of windows", false),
        (#"{"type":"call","function":"f"}"#, nil, false), (#"{"type":"tap"}"#, nil, false), (#"{"type":"status"}"#, nil, false),
    ])
    func `messages that name files: are accepted of the user that runs Hemiola and root only`(
        line: String, title: String?, namesFiles: Bool
    ) {
        let body = message(line.utf8).body
        let owner: UInt32 = 1000
        for user in [owner, 0] {
            #expect(body.refusal(of: user, isPage: false, owner: owner) == nil)
            #expect(body.refusal(of: user, isPage: true, owner: owner) == title.map { "\($0) are not accepted from pages" })
        }
        #expect(body.refusal(of: nil, isPage: false, owner: owner) == title.map { "\($0) are accepted on the sink socket only" })
        // A member of the socket's group.
        let reason = "imports and tabs are accepted only from user 1000, who runs Hemiola; send it as this user"
        #expect(body.refusal(of: 1001, isPage: false, owner: owner) == (namesFiles ? reason : nil))
    }

    @Test(arguments: [
        (#"{"type":"tap",}"#, 15), (#"{"type":"ready","presets":["x",]}"#, 32), (#"{,"type":"tap"}"#, 2), (#"{"type":"tap" "x":1}"#, 15),
        (#"{"type":"tap","x":01}"#, 20), (#"{"type":"tap","x":+1}"#, 19), (#"{"type":"tap","x":1.}"#, 21),
        (#"{"type":"tap","x":.5}"#, 19), (#"{"type":"tap","x":1e}"#, 21), (#"{"type":"tap","x":NaN}"#, 19),
        (#"{"type":"tap","x":Infinity}"#, 19), (#"{"type":"tap","x":0x1}"#, 20), (#"{'type':'tap'}"#, 2), (#"{type:"tap"}"#, 2),
        (#"{"type":"tap","x":"\a"}"#, 21), (#"{"type":"tap","x":"\u12g4"}"#, 24), ("{\"type\":\"tap\",\"x\":\"\u{1}\"}", 20),
        (#"{"type":"tap"}{"#, 15), (#"{"type":"tap"} x"#, 16), (#"{"type":"tap","x":[1}]"#, 21), (#"{"type":"tap"/* x */}"#, 14),
        (#"{"type":"tap","x":tru}"#, 22), ("\u{FEFF}{\"type\":\"tap\"}", 1), ("\u{A0}{\"type\":\"tap\"}", 1),
        (#"{"type":"tap","x":-}"#, 20), (#"{"type":"tap","x":}"#, 19), (#"{"type":"tap","x"}"#, 18), (#"["type","tap""#, 14),
        (#"{"type":"tap","x":""#, 20),
    ])
    func `invalid JSON syntax: is refused, with its place`(line: String, place: Int) {
        #expect(message(line.utf8) == ClientMessage(id: nil, body: .invalid("invalid JSON at byte \(place)")))
    }

    @Test(arguments: [
        #"{"type":"tap","x":[1,-0,0.5,1e9,-1.5E-3,true,false,null,"",[],{},[[]],{"a":{}}]}"#,
        "\t{ \"type\" :\r \"tap\" , \"x\" : [ ] } ", #"{"type":"tap","x":"\"\\\/\b\f\n\r\t\u00e9"}"#,
    ])
    func `valid JSON syntax: is read`(line: String) {
        #expect(message(line.utf8).body == .control(Control(.tap)))
    }

    @Test func `nesting deeper than 512 brackets: is refused`() {
        func line(_ depth: Int) -> [UInt8] {
            Array("{\"type\":\"tap\",\"x\":\(String(repeating: "[", count: depth))\(String(repeating: "]", count: depth))}".utf8)
        }
        #expect(fault(line(512)) == nil)
        for depth in [513, 500_000] { #expect(fault(line(depth)) == "brackets are nested more than 512 deep") }
    }

    @Test func `text longer than 1024 bytes, list longer than 10000 items: are refused`() {
        let (fits, long) = (String(repeating: "x", count: 1024), String(repeating: "x", count: 1025))
        #expect(fault("{\"type\":\"loadPreset\",\"name\":\"\(fits)\"}".utf8) == nil)
        #expect(
            message("{\"type\":\"loadPreset\",\"name\":\"\(long)\",\"id\":3}".utf8)
                == ClientMessage(id: "3", body: .invalid("\"name\" is longer than 1024 bytes")))
        #expect(
            fault("{\"type\":\"keyHandler\",\"key\":\"\(long)\",\"event\":\"keyup\"}".utf8) == "\"key\" is longer than 1024 bytes")
        #expect(
            fault("{\"type\":\"presetNames\",\"names\":[\"x\",\"\(long)\"]}".utf8) == "a text in \"names\" is longer than 1024 bytes")
        let list = Array(repeating: "\"x\"", count: 10_000).joined(separator: ",")
        #expect(fault("{\"type\":\"ready\",\"presets\":[\(list)]}".utf8) == nil)
        #expect(fault("{\"type\":\"ready\",\"presets\":[\(list),\"x\"]}".utf8) == "\"presets\" has more than 10000 items")
    }

    @Test func `every message type: is parsed`() {
        for name in ["subscribe", "status", "closeViz"] + RecordCatalog.test.controls.map(\.name) {
            let fault = fault("{\"type\":\"\(name)\"}".utf8)
            #expect(fault == nil || fault!.hasPrefix("the control \(name) needs its"), "\(name)")
        }
    }

    @Test func `control that another plugin declares: is parsed, and its texts and lists are limited`() {
        #expect(
            message(#"{"type":"setBands","bands":[1,2.5],"names":["x"],"mode":"peak"}"#.utf8).body
                == .control(Control(.setBands, .numbers([1, 2.5]), .texts(["x"]), .text("peak"), .integer(3))))
        #expect(fault(#"{"type":"setBands","bands":[1],"names":[],"mode":"x"}"#.utf8) == "\"mode\" is one of: peak, mean")
        #expect(fault(#"{"type":"setBands","bands":["x"],"names":[],"mode":"peak"}"#.utf8) == "\"bands.0\" is not a number")
        #expect(fault(#"{"type":"setBands","names":[],"mode":"peak"}"#.utf8) == "the control setBands needs its \"bands\"")
        let long = Array(repeating: "1", count: 10_001).joined(separator: ",")
        #expect(
            fault("{\"type\":\"setBands\",\"bands\":[\(long)],\"names\":[],\"mode\":\"peak\"}".utf8)
                == "\"bands\" has more than 10000 items")
    }

    @Test func `subscribe, closeViz and ids: are parsed`() {
        #expect(
            message(#"{"type":"subscribe","streams":["beat"],"payload":"bare","id":"q"}"#.utf8)
                == ClientMessage(id: #""q""#, body: .subscribe(streams: ["beat"], payload: "bare")))
        #expect(message(#"{"id":-3,"type":"closeViz"}"#.utf8) == ClientMessage(id: "-3", body: .close))
        #expect(message(#"{"id":0.5,"type":"tap"}"#.utf8).id == "0.5")
        #expect(message(#"{"id":null,"type":"tap"}"#.utf8).id == nil)
    }

    @Test(arguments: [
        ("", "invalid JSON at byte 1"), ("tap", "invalid JSON at byte 2"), ("{", "invalid JSON at byte 2"), ("[]", "not a JSON object"),
        ("3", "not a JSON object"), ("null", "not a JSON object"), ("{}", "missing \"type\""),
        (#"{"type":3}"#, "\"type\" is not a text"), (#"{"type":"tapp"}"#, "unknown message type \"tapp\""),
        (#"{"type":"setSpeed"}"#, "the control setSpeed needs its \"speed\""),
        (#"{"type":"setSpeed","speed":"fast"}"#, "\"speed\" has another type"),
        (#"{"type":"presetNames","names":["x",3]}"#, "\"names.1\" is not a text"),
        (#"{"type":"keyHandler","key":"a","event":"hit"}"#, "\"event\" is one of: keydown, keyup"),
        (#"{"type":"tap","id":{}}"#, "\"id\" is not a text or a number"),
        (#"{"type":"tap","id":"\#(String(repeating: "x", count: 257))"}"#, "\"id\" is longer than 256 bytes"),
        (#"{"type":"tap"}{"type":"tap"}"#, "invalid JSON at byte 15"),
    ])
    func `invalid message: error says what is invalid`(line: String, text: String) {
        #expect(fault(line.utf8) == text)
    }

    @Test func `invalid message with an id: error has the id`() {
        let lines: [(String, String?)] = [
            (#"{"type":"setSpeed","id":7}"#, "7"), (#"{"type":"setSpeed","id":7,"speed":[]}"#, "7"),
            (#"{"type":"no","id":"x"}"#, #""x""#), ("{", nil),
        ]
        for (line, id) in lines { #expect(fault(line.utf8) != nil && message(line.utf8).id == id, "\(line)") }
    }

    @Test func `invalid UTF-8, deep nesting, numbers out of range: are refused or ignored`() {
        #expect(fault([0x7B, 0xFF, 0xFE, 0x7D]) == "invalid UTF-8")
        #expect(fault([0xFE, 0xFF, 0x00, 0x7B]) == "invalid UTF-8")
        for bracket in ["[", "{\"a\":", "{\"type\":["] {
            #expect(fault(String(repeating: bracket, count: 200_000).utf8) != nil)
        }
        let deep = String(repeating: "[", count: 400) + String(repeating: "]", count: 400)
        #expect(fault("{\"type\":\"tap\",\"x\":\(deep)}".utf8) == nil, "unknown fields are ignored")
        #expect(fault("{\"type\":\"setSpeed\",\"speed\":1e999}".utf8) != nil)
    }

    @Test(arguments: [
        (#""active":"a","tabs":[{"id":"a","title":"A","path":"/a"}]"#, "at least two tabs that are not deprecated"),
        (
            #""active":"a","tabs":[{"id":"a","title":"A","path":"/a"},{"id":"b","title":"B","path":"/b","deprecated":true}]"#,
            "at least two tabs that are not deprecated"
        ),
        (#""active":"a","tabs":[{"id":"a","title":"A","path":"/a"},{"id":"a","title":"B","path":"/b"}]"#, "two tabs have the id \"a\""),
        (#""active":"x","tabs":[{"id":"a","title":"A","path":"/a"},{"id":"b","title":"B","path":"/b"}]"#, "\"active\" is not the id"),
        (#""tabs":[{"id":"a","title":"A","path":"/a"},{"id":"b","title":"B","path":"/b"}]"#, "missing \"active\""),
        (#""active":"a""#, "missing \"tabs\""), (#""active":"a","tabs":{}"#, "\"tabs\" is not a list"),
        (#""active":"a","tabs":[1,2]"#, "\"tabs\" is not a list of objects"),
        (#""active":"a","tabs":[{"id":"a","title":"A"},{"id":"b","title":"B","path":"/b"}]"#, "missing \"path\""),
        (#""active":"a","tabs":[{"id":"a","title":3,"path":"/a"},{"id":"b","title":"B","path":"/b"}]"#, "\"title\" is not a text"),
        (#""active":"a","tabs":[{"id":"","title":"A","path":"/a"},{"id":"b","title":"B","path":"/b"}]"#, "the \"id\" of a tab is empty"),
        (
            #""active":"a","tabs":[{"id":"a","title":"A","path":"/a","replaces":"b"},{"id":"b","title":"B","path":"/b"}]"#,
            "which is not a deprecated tab"
        ),
    ])
    func `list of tabs that a window cannot show: refused with the reason`(members: String, reason: String) {
        let fault = fault("{\"type\":\"tabs\",\(members)}".utf8)
        #expect(fault?.contains(reason) == true, "\(fault ?? "accepted")")
    }

    @Test func `list of tabs: a tab is replaced by one other, which is not deprecated`() {
        func list(_ a: String = "", _ b: String = "", _ old: String = "", active: String = "a") -> String? {
            let members = [("a", a), ("b", b), ("old", #","deprecated":true"# + old)]
            let tabs = members.map { #"{"id":"\#($0)","title":"","path":"/\#($0)"\#($1)}"# }
            return fault(#"{"type":"tabs","active":"\#(active)","tabs":[\#(tabs.joined(separator: ","))]}"#.utf8)
        }
        let replaces = #","replaces":"old""#
        #expect(list(replaces) == nil)
        #expect(list(replaces, replaces) == "two tabs replace \"old\"")
        #expect(list("", "", replaces) == "the tab \"old\" is deprecated and replaces another")
        #expect(list(active: "old")?.hasPrefix("\"active\" is not the id") == true)
        #expect(fault(#"{"type":"tabs","active":1,"tabs":[]}"#.utf8) == "\"active\" is not a text")
        for active in ["", #""active":null,"#, #""active":"x","#] { #expect(fault("{\"type\":\"tabs\",\(active)\"tabs\":[]}".utf8) == nil) }
    }

    @Test func `64 tabs with texts of 1024 bytes: accepted; 65 tabs, 1025 bytes: refused`() {
        func list(_ count: Int, _ length: Int) -> String? {
            let text = String(repeating: "x", count: length)
            let tabs = (1...count).map { #"{"id":"\#($0)","title":"\#(text)","icon":"\#(text)","path":"\#(text)"}"# }
            return fault(#"{"type":"tabs","active":"1","tabs":[\#(tabs.joined(separator: ","))]}"#.utf8)
        }
        #expect(list(64, 1024) == nil)
        #expect(list(65, 1) == "\"tabs\" has more than 64 tabs")
        #expect(list(2, 1025) == "\"title\" of a tab is longer than 1024 bytes")
    }

    @Test func `ready with 10000 presets: is parsed`() {
        let names = (0..<10_000).map { "preset \($0) \"x\" </script> 😀" }
        let list = names.map { "\"\($0.replacing("\"", with: "\\\""))\"" }.joined(separator: ",")
        let message = self.message("{\"type\":\"ready\",\"presets\":[\(list)]}".utf8)
        #expect(message.body == .control(Control(.ready, .texts(names))))
    }
}

extension RecordCatalog {
    /// The records and controls of a visualizer, and controls of other plugins.
    static let test = RecordCatalog(
        records: [.preset, .speed, .key], controls: ControlType.presetControls + [.keyHandler, .tap, .lockTempo, .setBands])
}

extension ControlType {
    static let tap = ControlType("tap", "Marks a beat.")
    static let lockTempo = ControlType(
        "lockTempo", "Sets the tempo.", fields: [.number("bpm", nullable: true, default: ParameterValue.none, "The tempo.")])
    fileprivate static let setBands = ControlType(
        "setBands", "Sets the bands.",
        fields: [
            .numbers("bands", "The limits."), .texts("names", "The names."), .choice("mode", of: ["peak", "mean"], "The mode."),
            .integer("order", default: .integer(3), "The order."),
        ])
}

@Suite struct ReplyQueueTests {
    @Test func `replies in another order: are returned in the order of the requests`() {
        var queue = ReplyQueue<String>()
        let numbers = (0..<4).map { _ in queue.reserve() }
        #expect(queue.resolve(numbers[2], "c") == [])
        #expect(queue.resolve(numbers[1], "b") == [])
        #expect(queue.resolve(numbers[0], "a") == ["a", "b", "c"])
        #expect(queue.count == 1)
        let next = queue.reserve()
        #expect(queue.resolve(next, "e") == [])
        #expect(queue.resolve(numbers[3], "d") == ["d", "e"])
        #expect(queue.resolve(numbers[3], "again") == [])
    }
}
