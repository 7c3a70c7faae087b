import HemiolaRecords
import Testing

@testable import HemiolaCommandLine

@Suite struct PageRequestParsingTests {
    @Test func `call and import: fields by name, the first one also by its value alone`() throws {
        #expect(try PageRequest("call", ["f"]) == request(.call(function: "f", arguments: "[]")))
        #expect(
            try PageRequest("call", ["page=web/2", "arguments=[1,\n\"=\"]", "function=a=b"])
                == request(.call(function: "a=b", arguments: "[1, \"=\"]"), page: "web/2"))
        #expect(try PageRequest("import", ["a=b.milk"]) == request(.importFile(path: "a=b.milk", name: nil)))
        #expect(try PageRequest("import", ["file=x", "name=y"]) == request(.importFile(path: "x", name: "y")))
    }

    @Test func `tabs and window: a file, and a request with its value`() throws {
        #expect(try PageRequest("tabs", ["tabs.json"]) == request(.tabs(path: "tabs.json")))
        #expect(try PageRequest("tabs", ["file=-"]) == request(.tabs(path: "-")))
        #expect(try PageRequest("window", ["fullscreen"]) == request(.window("fullscreen", .null)))
        #expect(try PageRequest("window", ["fullscreen", "true"]) == request(.window("fullscreen", .boolean(true))))
        #expect(try PageRequest("window", ["fullscreen", "false"]) == request(.window("fullscreen", .boolean(false))))
        #expect(try PageRequest("window", ["tab", "a=b"]) == request(.window("tab", .text("a=b"))))
        #expect(try PageRequest("window", ["reload"]) == request(.window("reload", .null)))
        #expect(try PageRequest("window", ["snapshot", "x.png"]) == request(.snapshot(path: "x.png")))
    }

    private func request(_ task: PageRequest.Task, page: String? = nil) throws -> PageRequest {
        var request = try PageRequest("call", ["f"])
        request.task = task
        request.page = page
        return request
    }

    @Test(arguments: [
        (["call"], "call needs function=; see hemiola send --help"),
        (["call", "f", "g"], "\"g\" is not a field of call; fields: function=, arguments=, page="),
        (["call", "f", "function=g"], "\"function\" is given twice"),
        (["call", "f", "arguments=3"], "arguments is not a JSON list; example: arguments='[1,\"text\"]'"),
        (["call", "f", "arguments=[1"], "arguments is not a JSON list; example: arguments='[1,\"text\"]'"),
        (["call", ""], "call: function is empty"),
        (["import", "x", "arguments=[]"], "\"arguments=[]\" is not a field of import; fields: file=, name=, page="),
        (["import", "-"], "import: standard input has no name; add name=NAME"),
        (["tabs"], "tabs needs file=; see hemiola send --help"), (["tabs", ""], "tabs: file is empty"),
        (["tabs", "a.json", "b.json"], "\"b.json\" is not a field of tabs; fields: file="),
        (["window"], "window needs a request: fullscreen, tab, reload, snapshot"),
        (["window", "snapshit"], "window has no request \"snapshit\"; did you mean snapshot?"),
        (["window", "x"], "window has no request \"x\"; requests: fullscreen, tab, reload, snapshot"),
        (["window", "fullscreen", "on"], "window fullscreen is true or false, not \"on\""),
        (["window", "tab"], "window tab needs the id or title of a tab; see hemiola send --help"),
        (["window", "tab", ""], "window: a value is empty"), (["window", "reload", "x"], "window reload has no value"),
        (["window", "snapshot"], "window snapshot needs a file; see hemiola send --help"),
        (["window", "tab", "a", "b"], "\"b\" is too much: window has a request and its value"),
    ])
    func `invalid fields: refused before anything is sent`(words: [String], message: String) {
        #expect(throws: Failure(message)) { try PageRequest(words[0], Array(words.dropFirst())) }
    }
}
