import Testing

@testable import HemiolaCommandLine

@Suite struct FileListTests {
    private func names(_ text: String, null: Bool = false) throws -> [String] {
        let file = try TemporaryFile(Array(text.utf8))
        do {
            return try FileList.names(in: file.path, isNullSeparated: null)
        } catch {
            throw Failure(error.lines.map { $0.replacing(" \"\(file.path)\"", with: "") })
        }
    }

    @Test(arguments: [
        ("a\nb\n", ["a", "b"]), ("a\nb", ["a", "b"]), ("a\r\nb\r\n", ["a", "b"]), ("\n\na\n\n\r\nb\n", ["a", "b"]),
        ("\u{FEFF}a\nb", ["a", "b"]), (" a b \n\tc", [" a b ", "\tc"]), ("é,=:\n#x\n-o\n", ["é,=:", "#x", "-o"]),
        ("a\rb\n", ["a\rb"]),
    ])
    func `list of lines: one name per line`(text: String, names: [String]) throws {
        #expect(try self.names(text) == names)
    }

    @Test(arguments: [
        ("a\0b\0", ["a", "b"]), ("a\0b", ["a", "b"]), ("a\nb\0c\r\0", ["a\nb", "c\r"]), ("\0\0a\0", ["a"]), ("a", ["a"]),
    ])
    func `list with NULs: all bytes between two NULs are the name`(text: String, names: [String]) throws {
        #expect(try self.names(text, null: true) == names)
    }

    @Test func `wrong kind of list: error that suggests or rejects --null`() {
        #expect(throws: Failure("the list has NUL characters; for a list from find -print0, add --null")) {
            _ = try names("a\0b\0")
        }
        #expect(throws: Failure("the list has lines and no NUL characters; remove --null")) {
            _ = try names("a\nb\n", null: true)
        }
    }

    @Test func `name above 1 MiB: error that says what the list is not`() {
        #expect(throws: Failure("the list has a name of more than 1 MiB; this is not a list of names")) {
            _ = try names("a\n" + String(repeating: "x", count: (1 << 20) + 1))
        }
        #expect(throws: Failure("the list has lines and no NUL characters; remove --null")) {
            _ = try names(String(repeating: "a.wav\n", count: 1 << 18), null: true)
        }
    }

    @Test(arguments: [true, false]) func `device without an end: refused`(null: Bool) {
        #expect(throws: Failure.self) { try FileList.names(in: "/dev/zero", isNullSeparated: null) }
    }

    @Test func `list in a file: read`() throws {
        let file = try TemporaryFile(Array("a.wav\nb.wav\n".utf8))
        #expect(try FileList.names(in: file.path, isNullSeparated: false) == ["a.wav", "b.wav"])
    }

    @Test func `long list: read completely`() throws {
        let names = (0..<20_000).map { "music/album \($0 / 12)/track \($0 % 12).flac" }
        let file = try TemporaryFile(Array(names.joined(separator: "\n").utf8))
        #expect(try FileList.names(in: file.path, isNullSeparated: false) == names)
    }

    @Test(arguments: [("", false), ("\n", false), ("\r\n\n", false), ("", true), ("\0", true)])
    func `list without names: error`(text: String, null: Bool) {
        #expect(throws: Failure("the list is empty: no input files")) { _ = try names(text, null: null) }
    }

    @Test func `missing list, folder: error`() throws {
        #expect(throws: Failure("cannot read the list \"/no/such/list\": No such file or directory")) {
            _ = try FileList.names(in: "/no/such/list", isNullSeparated: false)
        }
        #expect(throws: Failure("cannot read the list \"/\": Is a directory")) {
            _ = try FileList.names(in: "/", isNullSeparated: false)
        }
    }
}
