import HemiolaSystem
import TestSupport
import Testing

@testable import HemiolaFiles

@Suite struct OutputFileTests {
    @Test(arguments: [OutputMode.replace, .create, .live, .append]) func `path that is not UTF-8: the file has that name`(mode: OutputMode)
        throws
    {
        let folder = try TemporaryFolder()
        let line = UnsafeMutableRawBufferPointer.allocate(byteCount: 5, alignment: 1)
        defer { line.deallocate() }
        line.copyBytes(from: "line\n".utf8)
        let name = PathText.text(of: [0x61, 0xE9])
        for _ in 0..<(mode == .live || mode == .create ? 1 : 2) {
            let file = try OutputFile(OutputTarget("\(folder.path)/new/\(name)"), mode: mode)
            try file.write(UnsafeRawBufferPointer(line))
            try file.finish()
        }
        #expect(try FileSystem.entries(of: folder("new")).map(\.name) == [name])
        #expect(OutputTarget("\(folder.path)/new/\(name)").isOccupied)
    }
}
