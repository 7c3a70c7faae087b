import Glibc
import TestSupport
import Testing

@testable import HemiolaSystem

@Suite struct FileDescriptorTests {
    @Test(arguments: SystemCallError.Code.allCases) func `error: has one number`(code: SystemCallError.Code) {
        #expect(SystemCallError(code).code == code)
    }

    @Test func `file: written, read at an offset, cut and locked`() throws {
        let folder = try TemporaryFolder()
        let file = try FileDescriptor.open(folder("a"), [.readWrite, .create, .exclusive])
        defer { file.close() }
        try file.writeAll(Array("abcdef".utf8))
        #expect(try file.bytes(at: 2, count: 10) == Array("cdef".utf8))
        try file.truncate(to: 3)
        let status = try file.status()
        #expect(status.size == 3 && status.kind == .file && status.isOwn && status.linkCount == 1)
        #expect(throws: SystemCallError(.fileExists)) { try FileDescriptor.open(folder("a"), [.writeOnly, .create, .exclusive]) }
        let other = try FileDescriptor.open(folder("a"))
        defer { other.close() }
        #expect(try other.readAll() == Array("abc".utf8))
        #expect(file.lock() && !other.lock())
        #expect(!other.isWritable && file.isWritable)
    }

    @Test func `empty pipe that does not wait: would block`() throws {
        let ends = try PipeEnds()
        let (reader, writer) = (FileDescriptor(ends.reader), FileDescriptor(ends.writer))
        defer { reader.close() }
        try #require(fcntl(reader.number, F_SETFL, O_NONBLOCK) == 0)
        #expect(throws: SystemCallError(.wouldBlock)) { try reader.read(atMost: 1) }
        #expect(!reader.isReadable(within: 0))
        try writer.writeAll([1, 2])
        #expect(try reader.next(atMost: 10) == [1, 2])
        writer.close()
        #expect(reader.isReadable(within: 1))
        #expect(try reader.readAll() == [])
    }
}
