import Foundation
import HemiolaSystem
import TestSupport
import Testing

@testable import PresetsSink

@Suite struct StateFileTests {
    private func text(_ path: String) -> String? { try? String(contentsOfFile: path, encoding: .utf8) }

    @Test func `written state is read back`() throws {
        let folder = try TemporaryFolder()
        let path = folder("new/folder/visualizer.json")
        let state = PersistedState(preset: "Geiss / \"Élan\"\n", speed: 0.35, favourites: ["Élan", "b"])
        try state.write(to: path)
        #expect(PersistedState.read(path) { _ in Issue.record("unexpected warning for an intact file") } == state)
        try PersistedState(preset: "p", speed: nil).write(to: path)
        #expect(text(path) == "{\"preset\":\"p\"}\n")
        // The temporary file of the atomic write is gone.
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder("new/folder")) == ["visualizer.json"])
    }

    @Test func `longest preset and favourites: read back`() throws {
        let folder = try TemporaryFolder()
        let state = PersistedState(
            preset: String(repeating: "x", count: 1 << 20), favourites: [String(repeating: "\u{1}", count: 128 << 10)])
        try state.write(to: folder("visualizer.json"))
        #expect(PersistedState.read(folder("visualizer.json")) { _ in Issue.record("unexpected warning for an intact file") } == state)
    }

    @Test func `missing file: empty state and no warning`() throws {
        let folder = try TemporaryFolder()
        let state = PersistedState.read(folder("visualizer.json")) { _ in Issue.record("unexpected warning") }
        #expect(state == PersistedState())
    }

    @Test(arguments: ["", "{\"preset\":", "[1]", "{\"preset\":7}", "{\"favourites\":[7]}", "\u{0}\u{1}"])
    func `damaged file: renamed, with a warning`(damage: String) throws {
        let folder = try TemporaryFolder()
        let path = folder("visualizer.json")
        try Data(damage.utf8).write(to: URL(filePath: path))
        try Data("older".utf8).write(to: URL(filePath: path + ".damaged"))
        var warnings: [String] = []
        #expect(PersistedState.read(path) { warnings.append($0) } == PersistedState())
        #expect(warnings.count == 1)
        #expect(warnings.first?.contains(path + ".damaged") == true)
        #expect(text(path) == nil)
        #expect(text(path + ".damaged") == damage)
    }

    @Test func `write fails: an error, and the old file is kept`() throws {
        let folder = try TemporaryFolder()
        try Data("x".utf8).write(to: URL(filePath: folder("file")))
        #expect(throws: SystemCallError.self) { try PersistedState(preset: "p").write(to: folder("file/below/visualizer.json")) }
        #expect(text(folder("file")) == "x")
    }

    @Test(arguments: [
        (["XDG_STATE_HOME": "/s", "HOME": "/h"], "/s/hemiola/visualizer.json"),
        (["HOME": "/h"], "/h/.local/state/hemiola/visualizer.json"),
        (["XDG_STATE_HOME": "relative", "HOME": "/h"], "/h/.local/state/hemiola/visualizer.json"),
        (["XDG_STATE_HOME": "", "HOME": "/h"], "/h/.local/state/hemiola/visualizer.json"), ([:], nil),
    ])
    func `default path: in the user's state directory`(environment: [String: String], path: String?) {
        #expect(PersistedState.defaultPath { environment[$0] } == path)
    }
}
