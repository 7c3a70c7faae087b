import Foundation
import TestSupport
import Testing

@testable import PresetsSink

@Suite struct MemoryTests {
    private func text(_ path: String) -> String? { try? String(contentsOfFile: path, encoding: .utf8) }

    @Test func `what is written is read again`() throws {
        let folder = try TemporaryFolder()
        let file = MemoryFile(path: folder("new/folder/visualizer.json"))
        let memory = ShowMemory(preset: "Geiss / \"Élan\"\n", speed: 0.35)
        try file.write(memory)
        #expect(file.read { _ in Issue.record("a sound file is no reason to warn") } == memory)
        try file.write(ShowMemory(preset: "p", speed: nil))
        #expect(text(file.path) == "{\"preset\":\"p\"}\n")
        // Written beside and renamed: nothing else is left.
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder("new/folder")) == ["visualizer.json"])
    }

    @Test func `no file is no memory and no fault`() throws {
        let folder = try TemporaryFolder()
        let memory = MemoryFile(path: folder("visualizer.json")).read { _ in Issue.record("nothing is wrong") }
        #expect(memory == ShowMemory())
    }

    @Test(arguments: ["", "{\"preset\":", "[1]", "{\"preset\":7}", "\u{0}\u{1}"])
    func `a damaged file is set aside with a warning`(damage: String) throws {
        let folder = try TemporaryFolder()
        let file = MemoryFile(path: folder("visualizer.json"))
        try Data(damage.utf8).write(to: URL(filePath: file.path))
        try Data("older".utf8).write(to: URL(filePath: file.path + ".damaged"))
        var warnings: [String] = []
        #expect(file.read { warnings.append($0) } == ShowMemory())
        #expect(warnings.count == 1)
        #expect(warnings.first?.contains(file.path + ".damaged") == true)
        #expect(text(file.path) == nil)
        #expect(text(file.path + ".damaged") == damage)
    }

    @Test func `a file that cannot be written is an error, and the old one stays`() throws {
        let folder = try TemporaryFolder()
        try Data("x".utf8).write(to: URL(filePath: folder("file")))
        let file = MemoryFile(path: folder("file/below/visualizer.json"))
        #expect(throws: (any Error).self) { try file.write(ShowMemory(preset: "p")) }
        #expect(text(folder("file")) == "x")
    }

    @Test(arguments: [
        (["XDG_STATE_HOME": "/s", "HOME": "/h"], "/s/hemiola/visualizer.json"),
        (["HOME": "/h"], "/h/.local/state/hemiola/visualizer.json"),
        (["XDG_STATE_HOME": "relative", "HOME": "/h"], "/h/.local/state/hemiola/visualizer.json"),
        (["XDG_STATE_HOME": "", "HOME": "/h"], "/h/.local/state/hemiola/visualizer.json"), ([:], nil),
    ])
    func `it lies in the user's state folder`(environment: [String: String], path: String?) {
        #expect(MemoryFile.standard(environment)?.path == path)
    }
}
