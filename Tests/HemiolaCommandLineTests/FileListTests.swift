import Testing

@testable import HemiolaCommandLine

@Suite struct FileListTests {
    private func names(_ text: String, null: Bool = false) throws -> [String] {
        try FileList.names(in: Array(text.utf8), isNullSeparated: null, title: "the list")
    }

    @Test(arguments: [
        ("a\nb\n", ["a", "b"]), ("a\nb", ["a", "b"]), ("a\r\nb\r\n", ["a", "b"]), ("\n\na\n\n\r\nb\n", ["a", "b"]),
        ("\u{FEFF}a\nb", ["a", "b"]), (" a b \n\tc", [" a b ", "\tc"]), ("é,=:\n#x\n-o\n", ["é,=:", "#x", "-o"]), ("", []), ("\n", []),
        ("a\rb\n", ["a\rb"]),
    ])
    func `a line is a name`(text: String, names: [String]) throws {
        #expect(try self.names(text) == names)
    }

    @Test(arguments: [
        ("a\0b\0", ["a", "b"]), ("a\0b", ["a", "b"]), ("a\nb\0c\r\0", ["a\nb", "c\r"]), ("\0\0a\0", ["a"]), ("a", ["a"]), ("", []),
    ])
    func `between NULs every byte counts`(text: String, names: [String]) throws {
        #expect(try self.names(text, null: true) == names)
    }

    @Test func `a list of the other kind is found out`() {
        #expect(throws: Failure("the list has NUL characters; is it from find -print0? Then add --null")) {
            _ = try names("a\0b\0")
        }
        #expect(throws: Failure("the list has lines and no NUL characters; leave --null out")) {
            _ = try names("a\nb\n", null: true)
        }
    }

    @Test func `a list is read from a file`() throws {
        let file = try TemporaryFile(Array("a.wav\nb.wav\n".utf8))
        #expect(try FileList.names(in: file.path, isNullSeparated: false) == ["a.wav", "b.wav"])
    }

    @Test func `a long list is read whole`() throws {
        let names = (0..<20_000).map { "music/album \($0 / 12)/track \($0 % 12).flac" }
        let file = try TemporaryFile(Array(names.joined(separator: "\n").utf8))
        #expect(try FileList.names(in: file.path, isNullSeparated: false) == names)
    }

    @Test func `a list that is missing, empty or a folder is told`() throws {
        let empty = try TemporaryFile([])
        #expect(throws: Failure("cannot read the list \"/no/such/list\": No such file or directory")) {
            _ = try FileList.names(in: "/no/such/list", isNullSeparated: false)
        }
        #expect(throws: Failure("cannot read the list \"/\": Is a directory")) {
            _ = try FileList.names(in: "/", isNullSeparated: false)
        }
        #expect(throws: Failure("the list \"\(empty.path)\" is empty: there is nothing to analyse")) {
            _ = try FileList.names(in: empty.path, isNullSeparated: false)
        }
    }
}
