import Glibc
import TestSupport
import Testing

@testable import HemiolaSystem

@Suite struct PartialFileTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func names() throws -> [String] { try FileSystem.names(in: folder.path).sorted() }

    private func permissions(_ name: String) throws -> mode_t { try FileSystem.status(of: folder(name)).permissions }

    @Test func `file that is written: beside its path until it is moved there`() throws {
        let file = try PartialFile(for: folder("a.txt"))
        try file.write(Array("one".utf8))
        let partial = try #require(names().first)
        #expect(partial.hasPrefix(".a.txt.") && partial.hasSuffix(".partial") && partial.utf8.count == ".a.txt.123456.partial".utf8.count)
        try file.close(syncs: true)
        #expect(try file.moveToPath(replaces: false, syncs: true))
        #expect(try names() == ["a.txt"])
        #expect(try folder.text(of: "a.txt") == "one")
    }

    @Test func `old file: replaced as a whole, its permissions stay`() throws {
        try PartialFile.write([1, 2, 3], to: folder("a"))
        #expect(chmod(folder("a"), 0o640) == 0)
        #expect(try PartialFile.write([4], to: folder("a")))
        #expect(try FileSystem.bytes(of: folder("a"), count: 10) == [4])
        #expect(try permissions("a") == 0o640)
        #expect(try names() == ["a"])
    }

    @Test func `given permissions: those of the new file, whatever the old file has`() throws {
        try PartialFile.write([1], to: folder("a"))
        try PartialFile.write([2], to: folder("a"), permissions: 0o600)
        #expect(try permissions("a") == 0o600)
    }

    @Test func `old file that must not be replaced: stays, and the new file is removed; an empty one is replaced`() throws {
        try PartialFile.write([1], to: folder("full"))
        try PartialFile.write([], to: folder("empty"))
        #expect(try !PartialFile.write([2], to: folder("full"), replaces: false))
        #expect(try PartialFile.write([2], to: folder("empty"), replaces: false))
        #expect(try FileSystem.bytes(of: folder("full"), count: 10) == [1])
        #expect(try FileSystem.bytes(of: folder("empty"), count: 10) == [2])
        #expect(try names() == ["empty", "full"])
    }

    @Test func `folder at the path: error, and nothing is left`() throws {
        try FileSystem.createFolder(folder("a/b"))
        #expect(throws: SystemCallError(number: EISDIR)) { try PartialFile.write([1], to: folder("a")) }
        #expect(try names() == ["a"])
    }

    @Test func `missing folder: error`() throws {
        #expect(throws: SystemCallError(number: ENOENT)) { try PartialFile.write([1], to: folder("none/a")) }
    }

    @Test func `leftovers of a path: removed, unless they are being written; those of other paths stay`() throws {
        let open = try PartialFile(for: folder("a"))
        let names = [".a.123456.partial", ".ab.123456.partial", ".a.1234567.partial", "a.123456.partial"]
        for name in names { try PartialFile.write([1], to: folder(name)) }
        PartialFile.removeLeftovers(of: folder("a"))
        #expect(try self.names().count == 4 && !self.names().contains(names[0]))
        try open.close()
        #expect(try open.moveToPath(replaces: true))
    }

    @Test func `discarded file: removed`() throws {
        let file = try PartialFile(for: folder("a"))
        file.discard()
        #expect(try names().isEmpty)
    }

    @Test func `name that is not UTF-8, and one of 255 bytes: written under that name`() throws {
        let name = PathText.text(of: [0x61, 0xE9])
        let longName = String(repeating: "é", count: 127)
        for name in [name, longName] {
            try PartialFile.write([1], to: "\(folder.path)/\(name)")
            #expect(try FileSystem.bytes(of: "\(folder.path)/\(name)", count: 2) == [1])
        }
        #expect(try names().contains(name))
    }
}
