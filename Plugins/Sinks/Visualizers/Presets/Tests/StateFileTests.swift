import Foundation
import TestSupport
import Testing

@testable import PresetsSink

@Suite struct StateFileTests {
    private func text(_ path: String) -> String? { try? String(contentsOfFile: path, encoding: .utf8) }

    @Test func `written state is read back`() throws {
        let folder = try TemporaryFolder()
        let file = StateFile(path: folder("new/folder/visualizer.json"))
        let state = PersistedState(preset: "Geiss / \"Élan\"\n", speed: 0.35)
        try file.write(state)
        #expect(file.read { _ in Issue.record("unexpected warning for an intact file") } == state)
        try file.write(PersistedState(preset: "p", speed: nil))
        #expect(text(file.path) == "{\"preset\":\"p\"}\n")
        // The temporary file of the atomic write is gone.
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder("new/folder")) == ["visualizer.json"])
    }

    @Test func `missing file: empty state and no warning`() throws {
        let folder = try TemporaryFolder()
        let state = StateFile(path: folder("visualizer.json")).read { _ in Issue.record("unexpected warning") }
        #expect(state == PersistedState())
    }

    @Test(arguments: ["", "{\"preset\":", "[1]", "{\"preset\":7}", "\u{0}\u{1}"])
    func `damaged file: renamed, with a warning`(damage: String) throws {
        let folder = try TemporaryFolder()
        let file = StateFile(path: folder("visualizer.json"))
        try Data(damage.utf8).write(to: URL(filePath: file.path))
        try Data("older".utf8).write(to: URL(filePath: file.path + ".damaged"))
        var warnings: [String] = []
        #expect(file.read { warnings.append($0) } == PersistedState())
        #expect(warnings.count == 1)
        #expect(warnings.first?.contains(file.path + ".damaged") == true)
        #expect(text(file.path) == nil)
        #expect(text(file.path + ".damaged") == damage)
    }

    @Test func `write fails: an error, and the old file is kept`() throws {
        let folder = try TemporaryFolder()
        try Data("x".utf8).write(to: URL(filePath: folder("file")))
        let file = StateFile(path: folder("file/below/visualizer.json"))
        #expect(throws: (any Error).self) { try file.write(PersistedState(preset: "p")) }
        #expect(text(folder("file")) == "x")
    }

    @Test(arguments: [
        (["XDG_STATE_HOME": "/s", "HOME": "/h"], "/s/hemiola/visualizer.json"),
        (["HOME": "/h"], "/h/.local/state/hemiola/visualizer.json"),
        (["XDG_STATE_HOME": "relative", "HOME": "/h"], "/h/.local/state/hemiola/visualizer.json"),
        (["XDG_STATE_HOME": "", "HOME": "/h"], "/h/.local/state/hemiola/visualizer.json"), ([:], nil),
    ])
    func `default path: in the user's state directory`(environment: [String: String], path: String?) {
        #expect(StateFile.standard(environment)?.path == path)
    }
}
