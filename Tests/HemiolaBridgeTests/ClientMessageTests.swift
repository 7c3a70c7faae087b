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
    func `every control is typed`(line: String, control: Control) throws {
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
    func `what the grammar of JSON does not allow is refused`(line: String) {
        #expect(fault(line.utf8) == ClientMessage.Fault(text: "this is no JSON"))
    }

    @Test(arguments: [
        #"{"type":"tap","x":[1,-0,0.5,1e9,-1.5E-3,true,false,null,"",[],{},[[]],{"a":{}}]}"#,
        "\t{ \"type\" :\r \"tap\" , \"x\" : [ ] } ", #"{"type":"tap","x":"\"\\\/\b\f\n\r\t\u00e9"}"#,
    ])
    func `what the grammar of JSON allows is read`(line: String) throws {
        #expect(try ClientMessage(Array(line.utf8)).body == .control(.tap))
    }

    @Test func `brackets are refused beyond 512 inside each other`() throws {
        func line(_ depth: Int) -> [UInt8] {
            Array("{\"type\":\"tap\",\"x\":\(String(repeating: "[", count: depth))\(String(repeating: "]", count: depth))}".utf8)
        }
        #expect(StrictJSON.isValid(line(500)) && !StrictJSON.isValid(line(513)) && !StrictJSON.isValid(line(500_000)))
    }

    @Test func `a text has a kibibyte at most, and a list ten thousand names`() throws {
        let (fits, long) = (String(repeating: "x", count: 1024), String(repeating: "x", count: 1025))
        _ = try ClientMessage(Array("{\"type\":\"loadPreset\",\"name\":\"\(fits)\"}".utf8))
        #expect(
            fault("{\"type\":\"loadPreset\",\"name\":\"\(long)\",\"id\":3}".utf8)
                == ClientMessage.Fault(text: "\"name\" has 1024 bytes at most", id: .integer(3)))
        #expect(fault("{\"type\":\"keyHandler\",\"key\":\"\(long)\",\"event\":\"keyup\"}".utf8)?.text == "\"key\" has 1024 bytes at most")
        #expect(
            fault("{\"type\":\"presetNames\",\"names\":[\"x\",\"\(long)\"]}".utf8)?.text == "a name in \"names\" has 1024 bytes at most")
        let list = Array(repeating: "\"x\"", count: 10_000).joined(separator: ",")
        _ = try ClientMessage(Array("{\"type\":\"ready\",\"presets\":[\(list)]}".utf8))
        #expect(fault("{\"type\":\"ready\",\"presets\":[\(list),\"x\"]}".utf8)?.text == "\"presets\" has 10000 names at most")
    }

    @Test func `every name is known`() {
        for name in ClientMessage.names {
            let fault = fault("{\"type\":\"\(name)\"}".utf8)
            #expect(fault == nil || fault!.text.hasPrefix("the control \(name) needs its"), "\(name)")
        }
    }

    @Test func `the rest is typed too`() throws {
        #expect(
            try ClientMessage(Array(#"{"type":"subscribe","streams":["beat"],"payload":"bare","id":"q"}"#.utf8))
                == ClientMessage(id: .text("q"), body: .subscribe(streams: ["beat"], payload: "bare")))
        #expect(try ClientMessage(Array(#"{"id":-3,"type":"closeViz"}"#.utf8)) == ClientMessage(id: .integer(-3), body: .close))
        #expect(try ClientMessage(Array(#"{"id":0.5,"type":"tap"}"#.utf8)).id == .number(0.5))
        #expect(try ClientMessage(Array(#"{"id":null,"type":"tap"}"#.utf8)).id == nil)
    }

    @Test(arguments: [
        ("", "this is no JSON"), ("tap", "this is no JSON"), ("{", "this is no JSON"), ("[]", "this is no JSON object"),
        ("3", "this is no JSON object"), ("null", "this is no JSON object"), ("{}", "the message has no \"type\""),
        (#"{"type":3}"#, "\"type\" has another type"), (#"{"type":"tapp"}"#, "there is no message of type \"tapp\""),
        (#"{"type":"setSpeed"}"#, "the control setSpeed needs its \"speed\""),
        (#"{"type":"setSpeed","speed":"fast"}"#, "\"speed\" has another type"),
        (#"{"type":"presetNames","names":["x",3]}"#, "\"names.1\" has another type"),
        (#"{"type":"keyHandler","key":"a","event":"hit"}"#, "the control keyHandler needs its \"event\""),
        (#"{"type":"tap","id":{}}"#, "\"id\" has another type"),
        (#"{"type":"tap","id":"\#(String(repeating: "x", count: 257))"}"#, "an id has 256 bytes at most"),
        (#"{"type":"tap"}{"type":"tap"}"#, "this is no JSON"),
    ])
    func `what is wrong is told`(line: String, text: String) {
        #expect(fault(line.utf8)?.text == text)
    }

    @Test func `a fault keeps the id where there is one`() {
        #expect(fault(#"{"type":"setSpeed","id":7}"#.utf8)?.id == .integer(7))
        #expect(fault(#"{"type":"setSpeed","id":7,"speed":[]}"#.utf8)?.id == .integer(7))
        #expect(fault(#"{"type":"no","id":"x"}"#.utf8)?.id == .text("x"))
        #expect(fault("{".utf8)?.id == nil)
    }

    @Test func `bytes that no client should send do no harm`() {
        #expect(fault([0x7B, 0xFF, 0xFE, 0x7D])?.text == "this is no UTF-8")
        #expect(fault([0xFE, 0xFF, 0x00, 0x7B])?.text == "this is no UTF-8")
        for bracket in ["[", "{\"a\":", "{\"type\":["] {
            #expect(fault(String(repeating: bracket, count: 200_000).utf8) != nil)
        }
        let deep = String(repeating: "[", count: 400) + String(repeating: "]", count: 400)
        #expect(fault("{\"type\":\"tap\",\"x\":\(deep)}".utf8) == nil, "what nobody asks for may be anything")
        #expect(fault("{\"type\":\"setSpeed\",\"speed\":1e999}".utf8) != nil)
    }

    @Test func `ten thousand presets are taken`() throws {
        let names = (0..<10_000).map { "preset \($0) \"x\" </script> 😀" }
        let list = names.map { "\"\($0.replacing("\"", with: "\\\""))\"" }.joined(separator: ",")
        let message = try ClientMessage(Array("{\"type\":\"ready\",\"presets\":[\(list)]}".utf8))
        #expect(message.body == .control(.ready(presets: names)))
    }
}

@Suite struct LineSplitterTests {
    @Test(arguments: [1, 2, 3, 7, 100]) func `lines are found whatever the pieces`(size: Int) {
        let bytes = Array("one\n\ntwo\r\n  \nthree é😀\nrest".utf8)
        var splitter = LineSplitter()
        var lines: [LineSplitter.Line] = []
        for start in stride(from: 0, to: bytes.count, by: size) { lines += splitter.add(bytes[start..<min(start + size, bytes.count)]) }
        #expect(lines == ["one", "two\r", "three é😀"].map { .line(Array($0.utf8)) })
        #expect(splitter.finish() == .line(Array("rest".utf8)))
        #expect(splitter.finish() == nil)
    }

    @Test(arguments: [1000, 65_536, 3 << 20]) func `a line without an end is told once, and passed over`(size: Int) {
        var splitter = LineSplitter()
        var lines: [LineSplitter.Line] = []
        let bytes = [UInt8](repeating: 0x78, count: 3 << 20) + Array("\nnext\n".utf8)
        for start in stride(from: 0, to: bytes.count, by: size) { lines += splitter.add(bytes[start..<min(start + size, bytes.count)]) }
        #expect(lines == [.tooLong, .line(Array("next".utf8))])
    }

    @Test func `a line may have a mebibyte`() {
        var splitter = LineSplitter()
        let line = [UInt8](repeating: 0x78, count: LineSplitter.limit)
        #expect(splitter.add(line + [10]) == [.line(line)])
        #expect(splitter.add(line + [0x78, 10]) == [.tooLong])
        #expect(splitter.add([0x79, 10]) == [.line([0x79])])
    }
}

@Suite struct ReplyQueueTests {
    @Test func `answers come in the order of the requests`() {
        var queue = ReplyQueue<String>()
        let numbers = (0..<4).map { _ in queue.expect() }
        #expect(queue.resolve(numbers[2], "c") == [])
        #expect(queue.resolve(numbers[1], "b") == [])
        #expect(queue.resolve(numbers[0], "a") == ["a", "b", "c"])
        #expect(queue.count == 1)
        let next = queue.expect()
        #expect(queue.resolve(next, "e") == [])
        #expect(queue.resolve(numbers[3], "d") == ["d", "e"])
        #expect(queue.resolve(numbers[3], "again") == [])
    }
}
