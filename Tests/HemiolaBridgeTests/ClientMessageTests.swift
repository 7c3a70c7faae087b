import HemiolaSignal
import HemiolaWire
import Testing

@testable import HemiolaBridge

@Suite struct ClientMessageTests {
    private func fault(_ line: some Collection<UInt8>) -> ClientMessage.Fault? {
        do throws(ClientMessage.Fault) {
            _ = try ClientMessage(Array(line))
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: [
        (#"{"type":"nextPreset"}"#, Control.nextPreset), (#"{"type":"previousPreset"}"#, .previousPreset),
        (#"{"type":"randomPreset"}"#, .randomPreset), (#"{"type":"toggleCycle"}"#, .toggleCycle), (#"{"type":"tap"}"#, .tap),
        (#"{"type":"loadPreset","name":"a \"b\" \\ </script> \ud83d\ude00\n"}"#, .loadPreset(name: "a \"b\" \\ </script> 😀\n")),
        (#"{"type":"lockPreset","locked":true}"#, .lockPreset(true)), (#"{"type":"setSpeed","speed":0.5}"#, .setSpeed(0.5)),
        (#"{"type":"setSpeed","speed":1}"#, .setSpeed(1)), (#"{"type":"lockTempo","bpm":128}"#, .lockTempo(beatsPerMinute: 128)),
        (#"{"type":"lockTempo","bpm":null}"#, .lockTempo(beatsPerMinute: nil)), (#"{"type":"halveTempo"}"#, .halveTempo),
        (#"{"type":"doubleTempo"}"#, .doubleTempo), (#"{"type":"setDownbeat"}"#, .setDownbeat),
        (#"{"type":"resetTempo"}"#, .resetTempo), (#"{"type":"ready","presets":["x","y"]}"#, .ready(presets: ["x", "y"])),
        (#"{"type":"ready"}"#, .ready(presets: [])), (#"{"type":"presetNames","names":[]}"#, .presetNames([])),
        (#"{"type":"presetHandler","name":"é"}"#, .presetChanged(name: "é")),
        (#"{"type":"presetRefused","name":"z"}"#, .presetRefused(name: "z")),
        (#"{"type":"speedHandler","speed":1.0}"#, .speedChanged(1)),
        (#"{"type":"keyHandler","key":"a","event":"keydown"}"#, .key(KeyStroke(key: "a", note: 60, phase: .down))),
        (#"{"type":"keyHandler","key":"p","event":"keyup"}"#, .key(KeyStroke(key: "p", note: 75, phase: .up))),
        (#"{"type":"keyHandler","key":"Enter","event":"keyup"}"#, .key(KeyStroke(key: "Enter", note: nil, phase: .up))),
        (#" { "what" : [{}] , "type" : "tap" } "#, .tap),
    ])
    func `control: has its name and fields`(line: String, control: Control) throws {
        let message = try ClientMessage(Array(line.utf8))
        #expect(message == ClientMessage(id: nil, body: .control(control)))
    }

    @Test(arguments: [
        #"{"type":"tap",}"#, #"{"type":"ready","presets":["x",]}"#, #"{,"type":"tap"}"#, #"{"type":"tap" "x":1}"#,
        #"{"type":"tap","x":01}"#, #"{"type":"tap","x":+1}"#, #"{"type":"tap","x":1.}"#, #"{"type":"tap","x":.5}"#,
        #"{"type":"tap","x":1e}"#, #"{"type":"tap","x":NaN}"#, #"{"type":"tap","x":Infinity}"#, #"{"type":"tap","x":0x1}"#,
        #"{'type':'tap'}"#, #"{type:"tap"}"#, #"{"type":"tap","x":"\a"}"#, #"{"type":"tap","x":"\u12g4"}"#,
        "{\"type\":\"tap\",\"x\":\"\u{1}\"}", #"{"type":"tap"}{"#, #"{"type":"tap"} x"#, #"{"type":"tap","x":[1}]"#,
        #"{"type":"tap"/* x */}"#, #"{"type":"tap","x":tru}"#, "\u{FEFF}{\"type\":\"tap\"}", "\u{A0}{\"type\":\"tap\"}",
        #"{"type":"tap","x":-}"#, #"{"type":"tap","x":}"#, #"{"type":"tap","x"}"#, #"["type","tap""#, #"{"type":"tap","x":""#,
    ])
    func `invalid JSON syntax: is refused`(line: String) {
        #expect(fault(line.utf8) == ClientMessage.Fault(text: "invalid JSON"))
    }

    @Test(arguments: [
        #"{"type":"tap","x":[1,-0,0.5,1e9,-1.5E-3,true,false,null,"",[],{},[[]],{"a":{}}]}"#,
        "\t{ \"type\" :\r \"tap\" , \"x\" : [ ] } ", #"{"type":"tap","x":"\"\\\/\b\f\n\r\t\u00e9"}"#,
    ])
    func `valid JSON syntax: is read`(line: String) throws {
        #expect(try ClientMessage(Array(line.utf8)).body == .control(.tap))
    }

    @Test func `nesting deeper than 512 brackets: is refused`() throws {
        func line(_ depth: Int) -> [UInt8] {
            Array("{\"type\":\"tap\",\"x\":\(String(repeating: "[", count: depth))\(String(repeating: "]", count: depth))}".utf8)
        }
        #expect(StrictJSON.isValid(line(500)) && !StrictJSON.isValid(line(513)) && !StrictJSON.isValid(line(500_000)))
    }

    @Test func `text longer than 1024 bytes, list longer than 10000 names: are refused`() throws {
        let (fits, long) = (String(repeating: "x", count: 1024), String(repeating: "x", count: 1025))
        _ = try ClientMessage(Array("{\"type\":\"loadPreset\",\"name\":\"\(fits)\"}".utf8))
        #expect(
            fault("{\"type\":\"loadPreset\",\"name\":\"\(long)\",\"id\":3}".utf8)
                == ClientMessage.Fault(text: "\"name\" is longer than 1024 bytes", id: .integer(3)))
        #expect(
            fault("{\"type\":\"keyHandler\",\"key\":\"\(long)\",\"event\":\"keyup\"}".utf8)?.text == "\"key\" is longer than 1024 bytes")
        #expect(
            fault("{\"type\":\"presetNames\",\"names\":[\"x\",\"\(long)\"]}".utf8)?.text == "a name in \"names\" is longer than 1024 bytes")
        let list = Array(repeating: "\"x\"", count: 10_000).joined(separator: ",")
        _ = try ClientMessage(Array("{\"type\":\"ready\",\"presets\":[\(list)]}".utf8))
        #expect(fault("{\"type\":\"ready\",\"presets\":[\(list),\"x\"]}".utf8)?.text == "\"presets\" has more than 10000 names")
    }

    @Test func `every message type: is parsed`() {
        for name in ClientMessage.names {
            let fault = fault("{\"type\":\"\(name)\"}".utf8)
            #expect(fault == nil || fault!.text.hasPrefix("the control \(name) needs its"), "\(name)")
        }
    }

    @Test func `subscribe, closeViz and ids: are parsed`() throws {
        #expect(
            try ClientMessage(Array(#"{"type":"subscribe","streams":["beat"],"payload":"bare","id":"q"}"#.utf8))
                == ClientMessage(id: .text("q"), body: .subscribe(streams: ["beat"], payload: "bare")))
        #expect(try ClientMessage(Array(#"{"id":-3,"type":"closeViz"}"#.utf8)) == ClientMessage(id: .integer(-3), body: .close))
        #expect(try ClientMessage(Array(#"{"id":0.5,"type":"tap"}"#.utf8)).id == .number(0.5))
        #expect(try ClientMessage(Array(#"{"id":null,"type":"tap"}"#.utf8)).id == nil)
    }

    @Test(arguments: [
        ("", "invalid JSON"), ("tap", "invalid JSON"), ("{", "invalid JSON"), ("[]", "not a JSON object"),
        ("3", "not a JSON object"), ("null", "not a JSON object"), ("{}", "missing \"type\""),
        (#"{"type":3}"#, "\"type\" has the wrong type"), (#"{"type":"tapp"}"#, "unknown message type \"tapp\""),
        (#"{"type":"setSpeed"}"#, "the control setSpeed needs its \"speed\""),
        (#"{"type":"setSpeed","speed":"fast"}"#, "\"speed\" has the wrong type"),
        (#"{"type":"presetNames","names":["x",3]}"#, "\"names.1\" has the wrong type"),
        (#"{"type":"keyHandler","key":"a","event":"hit"}"#, "the control keyHandler needs its \"event\""),
        (#"{"type":"tap","id":{}}"#, "\"id\" has the wrong type"),
        (#"{"type":"tap","id":"\#(String(repeating: "x", count: 257))"}"#, "\"id\" is longer than 256 bytes"),
        (#"{"type":"tap"}{"type":"tap"}"#, "invalid JSON"),
    ])
    func `invalid message: error says what is invalid`(line: String, text: String) {
        #expect(fault(line.utf8)?.text == text)
    }

    @Test func `invalid message with an id: error has the id`() {
        #expect(fault(#"{"type":"setSpeed","id":7}"#.utf8)?.id == .integer(7))
        #expect(fault(#"{"type":"setSpeed","id":7,"speed":[]}"#.utf8)?.id == .integer(7))
        #expect(fault(#"{"type":"no","id":"x"}"#.utf8)?.id == .text("x"))
        #expect(fault("{".utf8)?.id == nil)
    }

    @Test func `invalid UTF-8, deep nesting, numbers out of range: are refused or ignored`() {
        #expect(fault([0x7B, 0xFF, 0xFE, 0x7D])?.text == "invalid UTF-8")
        #expect(fault([0xFE, 0xFF, 0x00, 0x7B])?.text == "invalid UTF-8")
        for bracket in ["[", "{\"a\":", "{\"type\":["] {
            #expect(fault(String(repeating: bracket, count: 200_000).utf8) != nil)
        }
        let deep = String(repeating: "[", count: 400) + String(repeating: "]", count: 400)
        #expect(fault("{\"type\":\"tap\",\"x\":\(deep)}".utf8) == nil, "unknown fields are ignored")
        #expect(fault("{\"type\":\"setSpeed\",\"speed\":1e999}".utf8) != nil)
    }

    @Test func `ready with 10000 presets: is parsed`() throws {
        let names = (0..<10_000).map { "preset \($0) \"x\" </script> 😀" }
        let list = names.map { "\"\($0.replacing("\"", with: "\\\""))\"" }.joined(separator: ",")
        let message = try ClientMessage(Array("{\"type\":\"ready\",\"presets\":[\(list)]}".utf8))
        #expect(message.body == .control(.ready(presets: names)))
    }
}

@Suite struct LineSplitterTests {
    @Test(arguments: [1, 2, 3, 7, 100]) func `bytes in pieces: lines do not depend on the size of the pieces`(size: Int) {
        let bytes = Array("one\n\ntwo\r\n  \nthree é😀\nrest".utf8)
        var splitter = LineSplitter()
        var lines: [LineSplitter.Line] = []
        for start in stride(from: 0, to: bytes.count, by: size) { lines += splitter.add(bytes[start..<min(start + size, bytes.count)]) }
        #expect(lines == ["one", "two\r", "three é😀"].map { .line(Array($0.utf8)) })
        #expect(splitter.finish() == .line(Array("rest".utf8)))
        #expect(splitter.finish() == nil)
    }

    @Test(arguments: [1000, 65_536, 3 << 20]) func `line above the limit: is reported once and skipped`(size: Int) {
        var splitter = LineSplitter()
        var lines: [LineSplitter.Line] = []
        let bytes = [UInt8](repeating: 0x78, count: 3 << 20) + Array("\nnext\n".utf8)
        for start in stride(from: 0, to: bytes.count, by: size) { lines += splitter.add(bytes[start..<min(start + size, bytes.count)]) }
        #expect(lines == [.tooLong, .line(Array("next".utf8))])
    }

    @Test func `line of 1 MiB: is accepted, one byte more is not`() {
        var splitter = LineSplitter()
        let line = [UInt8](repeating: 0x78, count: LineSplitter.limit)
        #expect(splitter.add(line + [10]) == [.line(line)])
        #expect(splitter.add(line + [0x78, 10]) == [.tooLong])
        #expect(splitter.add([0x79, 10]) == [.line([0x79])])
    }
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
