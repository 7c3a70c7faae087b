import Hemiola
import TestSupport
import Testing

@testable import HemiolaFiles

@Suite struct OutputFileTests {
    @Test(arguments: [(FileOptions(.whole), false), (FileOptions(.whole), true), (FileOptions(), true), (FileOptions(appends: true), true)])
    func `path that is not UTF-8: the file has that name`(options: FileOptions, isLive: Bool) throws {
        let folder = try TemporaryFolder()
        let name = PathText.text(of: [0x61, 0xE9])
        for _ in 0..<(isLive && options.appends == nil ? 1 : 2) {
            let file = try OutputFile("\(folder.path)/new/\(name)", options, SinkContext(name: "test", timing: SinkTiming(isLive: isLive)))
            file.buffer.append("line\n")
            #expect(try file.finish(.replace))
        }
        #expect(try FileSystem.entries(of: folder("new")).map(\.name) == [name])
        #expect(OutputTarget("\(folder.path)/new/\(name)").isOccupied)
    }
}
