import FoundationEssentials
import Testing
import WindowCore

@Suite struct TabDirectiveTests {
    private func directive(_ json: String) throws -> TabDirective {
        try JSONDecoder().decode(TabDirective.self, from: Data(json.utf8))
    }

    @Test func `all fields are read, others are ignored`() throws {
        let directive = try directive(
            #"""
            {"type":"tabs","active":"b","tabs":[{"id":"a","title":"Alpha","icon":"a.png","path":"/a","deprecated":true},
            {"id":"b","title":"Beta","path":"/b","replaces":"a"},{"id":"c","title":"","icon":null,"path":"https://c.example/"}]}
            """#)
        #expect(directive.active == "b")
        #expect(directive.tabs.map(\.id) == ["a", "b", "c"])
        #expect(directive.tabs[0] == Tab(id: "a", title: "Alpha", path: "/a", isDeprecated: true))
        #expect(directive.tabs[1].replaces == "a")
    }

    @Test func `an empty list is a window with one page, whatever active is`() throws {
        #expect(try directive(#"{"tabs":[]}"#) == TabDirective())
        #expect(try directive(#"{"active":"x","tabs":[]}"#) == TabDirective())
        #expect(try directive(#"{"active":null,"tabs":[]}"#) == TabDirective())
    }

    @Test(arguments: [
        #"{"active":1,"tabs":[]}"#, #"{"active":"a","tabs":{}}"#, #"{"active":"a"}"#,
        #"{"active":"a","tabs":[{"id":1,"title":"A","path":"/a"}]}"#, #"{"active":"a""#, "[]",
    ])
    func `a text that is no list is refused`(_ json: String) {
        #expect(throws: (any Error).self) { try directive(json) }
    }
}
