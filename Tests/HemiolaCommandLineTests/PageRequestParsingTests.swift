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
    ])
    func `invalid fields: refused before anything is sent`(words: [String], message: String) {
        #expect(throws: Failure(message)) { try PageRequest(words[0], Array(words.dropFirst())) }
    }
}
