import FoundationEssentials
import HemiolaSystem
import Testing
import WindowCore

@Suite struct TabDirectiveTests {
    private func fault(_ json: String) -> String? {
        do {
            _ = try TabDirective(json: Data(json.utf8))
            return nil
        } catch {
            return error.message
        }
    }

    private func list(_ count: Int, title: String = "T") -> String {
        let tabs = (0..<count).map { #"{"id":"\#($0)","title":"\#(title)","path":"/\#($0)"}"# }
        return #"{"active":"0","tabs":[\#(tabs.joined(separator: ","))]}"#
    }

    @Test func `all fields are read, others are ignored`() throws {
        let directive = try TabDirective(
            json: Data(
                #"""
                {"type":"tabs","active":"b","tabs":[{"id":"a","title":"Alpha","icon":"a.png","path":"/a","deprecated":true},
                {"id":"b","title":"Beta","path":"/b","replaces":"a"},{"id":"c","title":"","icon":null,"path":"https://c.example/"}]}
                """#.utf8))
        #expect(directive.active == "b")
        #expect(directive.tabs.map(\.id) == ["a", "b", "c"])
        #expect(directive.tabs[0] == Tab(id: "a", title: "Alpha", path: "/a", isDeprecated: true))
        #expect(directive.tabs[1].replaces == "a")
    }

    @Test func `an empty list is bootstrap, whatever active is`() throws {
        #expect(try TabDirective(json: Data(#"{"tabs":[]}"#.utf8)) == .bootstrap)
        #expect(try TabDirective(json: Data(#"{"active":"x","tabs":[]}"#.utf8)) == .bootstrap)
        #expect(try TabDirective(json: Data(#"{"active":null,"tabs":[]}"#.utf8)) == .bootstrap)
    }

    @Test func `64 tabs are accepted, 65 are not`() {
        #expect(fault(list(64)) == nil)
        #expect(fault(list(65)) == "\"tabs\" has more than 64 tabs")
    }

    @Test func `texts of 1024 bytes are accepted, longer ones are not`() {
        #expect(fault(list(2, title: String(repeating: "é", count: 512))) == nil)
        #expect(fault(list(2, title: String(repeating: "é", count: 512) + "x")) == "\"title\" of a tab is longer than 1024 bytes")
    }

    @Test(arguments: [
        (#"{"active":"a","tabs":[{"id":"a","title":"A","path":"/a"}]}"#, "at least two tabs"),
        (
            #"{"active":"a","tabs":[{"id":"a","title":"A","path":"/a"},{"id":"b","title":"B","path":"/b","deprecated":true}]}"#,
            "at least two tabs"
        ),
        (#"{"active":"a","tabs":[{"id":"a","title":"A","path":"/a"},{"id":"a","title":"B","path":"/b"}]}"#, "two tabs have the id \"a\""),
        (#"{"active":"c","tabs":[{"id":"a","title":"A","path":"/a"},{"id":"b","title":"B","path":"/b"}]}"#, "\"active\" is not the id"),
        (#"{"tabs":[{"id":"a","title":"A","path":"/a"},{"id":"b","title":"B","path":"/b"}]}"#, "missing \"active\""),
        (#"{"active":1,"tabs":[]}"#, "\"active\" has the wrong type"),
        (#"{"active":"a","tabs":{}}"#, "\"tabs\" has the wrong type"),
        (#"{"active":"a"}"#, "missing \"tabs\""),
        (#"{"active":"a","tabs":[{"id":1,"title":"A","path":"/a"}]}"#, "\"tabs."),
        (#"{"active":"a","tabs":[{"id":"","title":"A","path":"/a"},{"id":"b","title":"B","path":"/b"}]}"#, "the \"id\" of a tab is empty"),
        (#"{"active":"a","tabs":[{"id":"a","title":"A","path":""},{"id":"b","title":"B","path":"/b"}]}"#, "the \"path\" of the tab \"a\""),
        (
            #"{"active":"a","tabs":[{"id":"a","title":"A","path":"/a","replaces":"b"},{"id":"b","title":"B","path":"/b"}]}"#,
            "not a deprecated tab of the list"
        ),
        (#"{"active":"a""#, "invalid JSON"),
        ("[]", "not a JSON object"),
    ])
    func `an invalid list is refused with the reason`(_ json: String, _ reason: String) {
        #expect(fault(json)?.contains(reason) == true, "\(fault(json) ?? "accepted")")
    }

    @Test func `a tab is replaced by one other, which is not deprecated`() {
        let tabs = [
            Tab(id: "a", title: "", path: "/a"), Tab(id: "b", title: "", path: "/b"),
            Tab(id: "old", title: "", path: "/old", isDeprecated: true),
        ]
        var two = tabs
        two[0].replaces = "old"
        #expect((try? TabDirective(active: "a", tabs: two)) != nil)
        two[1].replaces = "old"
        #expect(throws: Problem.self) { try TabDirective(active: "a", tabs: two) }
        var own = tabs
        own[2].replaces = "old"
        #expect(throws: Problem.self) { try TabDirective(active: "a", tabs: own) }
        #expect(throws: Problem.self) { try TabDirective(active: "old", tabs: tabs) }
    }
}
