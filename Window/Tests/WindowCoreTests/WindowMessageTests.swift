import FoundationEssentials
import Testing
import WindowCore

@Suite struct WindowMessageTests {
    private func message(_ line: String) -> WindowMessage { WindowMessage(Data(line.utf8)) }

    @Test func `requests are read`() {
        #expect(
            message(#"{"type":"window","call":7,"action":"fullscreen","value":true}"#)
                == .request(WindowRequest(call: 7, action: .fullScreen(true))))
        #expect(
            message(#"{"type":"window","call":7,"action":"fullscreen","value":null}"#)
                == .request(WindowRequest(call: 7, action: .fullScreen(nil))))
        #expect(
            message(#"{"type":"window","call":1,"action":"tab","value":"Stars"}"#)
                == .request(WindowRequest(call: 1, action: .tab("Stars"))))
        #expect(message(#"{"type":"window","call":2,"action":"reload"}"#) == .request(WindowRequest(call: 2, action: .reload)))
        #expect(message(#"{"type":"window","call":3,"action":"snapshot"}"#) == .request(WindowRequest(call: 3, action: .snapshot)))
    }

    @Test(arguments: [
        #"{"type":"window","call":5,"action":"fly"}"#, #"{"type":"window","call":5,"action":"tab"}"#,
        #"{"type":"window","call":5,"action":"fullscreen","value":"on"}"#, #"{"type":"window","call":5,"action":"reload","value":1}"#,
        #"{"type":"window","call":5}"#,
    ])
    func `a request that the window does not support has no action`(_ line: String) {
        #expect(message(line) == .request(WindowRequest(call: 5, action: nil)))
    }

    @Test func `tabs are read`() {
        let tabs = #"[{"id":"a","title":"A","path":"/a"},{"id":"b","title":"B","path":"/b"}]"#
        let directive = TabDirective(active: "a", tabs: [Tab(id: "a", title: "A", path: "/a"), Tab(id: "b", title: "B", path: "/b")])
        #expect(message(#"{"type":"tabs","active":"a","tabs":\#(tabs)}"#) == .tabs(directive))
        #expect(message(#"{"type":"tabs","active":"a","tabs":{}}"#) == .error("the list of tabs is not valid"))
    }

    @Test func `refusals and other messages`() {
        #expect(message(#"{"type":"cancel","call":3}"#) == .other)
        #expect(
            message(#"{"type":"error","error":"client limit reached (64); raise max_clients","count":1}"#)
                == .error("client limit reached (64); raise max_clients"))
        #expect(message(#"{"type":"reply","id":1,"ok":false,"error":"no"}"#) == .error("no"))
        #expect(message(#"{"type":"reply","id":1,"ok":true,"error":null}"#) == .other)
        #expect(message(#"{"type":"hello","schema":2}"#) == .other)
        #expect(message(#"{"type":"beat","t":1.5,"bpm":120,"position":1,"due_in_s":0.25}"#) == .other)
        #expect(message("no JSON") == .other)
        #expect(message(#"{"type":"window","call":"x","action":"reload"}"#) == .other)
    }

    @Test func `answers are lines of JSON, whatever their text is`() throws {
        struct Answer: Decodable, Equatable {
            var type: String
            var call: Int
            var value: String?
            var error: String?
        }
        func decoded(_ line: String) throws -> Answer {
            #expect(line.allSatisfy { $0 != "\n" })
            return try JSONDecoder().decode(Answer.self, from: Data(line.utf8))
        }
        let request = WindowRequest(call: 9, action: .snapshot)
        #expect(try decoded(request.result()) == Answer(type: "result", call: 9))
        #expect(try decoded(request.result("/run/a \"b\"\n.png")) == Answer(type: "result", call: 9, value: "/run/a \"b\"\n.png"))
        #expect(try decoded(request.failure("no tab \"x\"")) == Answer(type: "result", call: 9, error: "no tab \"x\""))
        #expect(request.result().contains(#""value":null"#))
    }

    @Test func `the greeting is two messages`() throws {
        #expect(WindowMessage.greeting.count == 2)
        for line in WindowMessage.greeting { _ = try JSONDecoder().decode([String: Ignored].self, from: Data(line.utf8)) }
    }

    private struct Ignored: Decodable {
        init(from decoder: any Decoder) {}
    }
}
