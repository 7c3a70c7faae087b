import Foundation
import HemiolaRecords
import HemiolaSystem
import TestSupport
import Testing

@testable import HemiolaCommandLine

@Suite struct WindowCommandTests {
    private func command(_ arguments: String...) throws -> WindowCommand {
        try HemiolaCommandLineTests.command(WindowCommand.self, arguments)
    }

    @Test func `arguments: passed on with the path of this program`() throws {
        #expect(try command().arguments(hemiola: "/usr/bin/hemiola") == ["--hemiola", "/usr/bin/hemiola"])
        #expect(try command().arguments(hemiola: nil) == [])
        #expect(
            try command(
                "a", "--socket", "s", "--fullscreen", "--monitor", "2", "b b.html", "--size", "1280x720", "--memory-limit", "2048",
                "--inspect", "--no-restore", "--", "--c"
            ).arguments(hemiola: "/h") == [
                "--hemiola", "/h", "--socket", "s", "--monitor", "2", "--fullscreen", "--size", "1280x720", "--memory-limit", "2048",
                "--inspect", "--no-restore", "--", "a", "b b.html", "--c",
            ])
        // Values that begin with a dash reach the program, which refuses them.
        #expect(try command("--monitor", "-1").arguments(hemiola: nil) == ["--monitor", "-1"])
    }

    @Test func `program: beside hemiola, in ../libexec/hemiola, then in PATH`() throws {
        let folder = try TemporaryFolder()
        let own = folder("own/bin/hemiola")
        func path(_ search: String? = nil) throws -> String {
            try WindowCommand.path(named: nil, search: search, hemiola: own)
        }
        func install(_ path: String, mode: Int = 0o755) throws {
            let url = URL(filePath: folder(path))
            try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data("#!/bin/sh\n".utf8).write(to: url)
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: url.path)
        }
        let missing = Failure(
            "hemiola-window is not installed; install the package or run \"make install PRODUCT=window\" (docs/install.md), or set HEMIOLA_WINDOW to its path",
            status: .windowFailed)
        #expect(throws: missing) { try path("/nowhere:\(folder("a"))") }
        try install("a/hemiola-window", mode: 0o644)
        #expect(throws: missing) { try path("\(folder("a")):relative:") }
        try install("b/hemiola-window")
        #expect(try path("\(folder("a")):\(folder("b"))") == folder("b/hemiola-window"))
        try install("own/libexec/hemiola/hemiola-window")
        try install("own/bin/x")
        #expect(try path("\(folder("b"))") == folder("own/bin/../libexec/hemiola/hemiola-window"))
        try install("own/bin/hemiola-window")
        #expect(try path("\(folder("b"))") == folder("own/bin/hemiola-window"))
    }

    @Test func `HEMIOLA_WINDOW: used if it is a program, else an error`() throws {
        #expect(try WindowCommand.path(named: "/bin/sh", search: nil, hemiola: nil) == "/bin/sh")
        #expect(throws: Failure("HEMIOLA_WINDOW: /bin is not an executable file; correct or unset the variable", status: .windowFailed)) {
            try WindowCommand.path(named: "/bin", search: nil, hemiola: nil)
        }
    }
}

@Suite struct TabsFileTests {
    private func line(_ text: String, in folder: String = "/f") throws -> String {
        do {
            return JSONValue.object(try TabsFile.members(of: JSONValue(Array(text.utf8)), in: folder)).line
        } catch {
            throw Failure(error.message)
        }
    }

    @Test func `relative paths become absolute, addresses and absolute paths stay`() throws {
        #expect(
            try line(
                #"""
                {"active": "a", "tabs": [
                  {"id": "a", "title": "é\n", "path": "rain/index.html", "icon": "a.png", "deprecated": false},
                  {"id": "b", "title": "B", "path": "/b", "icon": null, "replaces": "c"},
                  {"id": 3, "title": "C", "path": "https://c.example/x"}]}
                """#)
                == #"{"active":"a","tabs":[{"id":"a","title":"é\n","path":"/f/rain/index.html","icon":"/f/a.png","deprecated":false},{"id":"b","title":"B","path":"/b","icon":null,"replaces":"c"},{"id":3,"title":"C","path":"https://c.example/x"}]}"#
                + "\n")
        #expect(try line(#"{"tabs":[]}"#) == "{\"tabs\":[]}\n")
    }

    @Test(arguments: [
        ("[]", "not a JSON object; example: {\"active\":\"a\",\"tabs\":[…]}"), ("{\"tabs\":[1]}", "a tab is not a JSON object"),
        ("{\"tab\":[]}", "unknown member \"tab\"; did you mean tabs?"), ("{\"x\":1}", "unknown member \"x\"; members: active, tabs"),
        ("{\"tabs\":[{\"titel\":\"a\"}]}", "unknown member \"titel\"; did you mean title?"), ("{", "invalid JSON at byte 2"),
        ("{\"type\":\"closeViz\",\"tabs\":[]}", "unknown member \"type\"; members: active, tabs"),
    ])
    func `invalid file: refused with the reason`(text: String, message: String) {
        #expect(throws: Failure(message)) { try line(text) }
    }

    @Test func `file that cannot be read or is too large: refused`() throws {
        let folder = try TemporaryFolder()
        #expect(throws: Failure("\(folder("none")): No such file or directory", status: .inputFailed)) { try TabsFile(folder("none")) }
        try Data(repeating: 0x20, count: TabsFile.limit + 1).write(to: URL(filePath: folder("large")))
        #expect(throws: Failure("\(folder("large")): the list of tabs is larger than 1 MiB", status: .inputFailed)) {
            try TabsFile(folder("large"))
        }
    }
}

@Suite struct SnapshotTests {
    private static let png = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 1, 2, 3])

    @Test func `picture of the window: moved to the path`() throws {
        let folder = try TemporaryFolder()
        try Self.png.write(to: URL(filePath: folder("shot \"1\".png")))
        try Snapshot.move(JSONValue.quoted(folder("shot \"1\".png")), to: folder("target.png"))
        #expect(try Data(contentsOf: URL(filePath: folder("target.png"))) == Self.png)
        #expect(folder.names == ["target.png"])
    }

    @Test func `file that is no picture, link, path that is none: refused, nothing is written or removed`() throws {
        let folder = try TemporaryFolder()
        try folder.write("secret", to: "key")
        try Self.png.write(to: URL(filePath: folder("shot.png")))
        try FileManager.default.createSymbolicLink(atPath: folder("link.png"), withDestinationPath: folder("shot.png"))
        for (value, reason) in [
            (JSONValue.quoted(folder("key")), "is not a PNG file"), (JSONValue.quoted(folder("link.png")), "cannot read the picture"),
            (JSONValue.quoted(folder.path), "cannot read the picture"), (JSONValue.quoted("shot.png"), "has not answered with a path"),
            ("null", "has not answered with a path"), ("{}", "has not answered with a path"),
            (JSONValue.quoted("/dev/zero"), "cannot read the picture"),
        ] {
            let failure = #expect(throws: Failure.self) { try Snapshot.move(value, to: folder("target.png")) }
            #expect(
                failure?.lines.first?.contains(reason) == true && failure?.status == .refused, "\(value): \(String(describing: failure))")
        }
        #expect(folder.names.sorted() == ["key", "link.png", "shot.png"])
        let failure = #expect(throws: Failure.self) {
            try Snapshot.move(JSONValue.quoted(folder("shot.png")), to: folder("none/target.png"))
        }
        #expect(failure?.status == .outputFailed)
        #expect(folder.names.contains("shot.png"))
    }
}
