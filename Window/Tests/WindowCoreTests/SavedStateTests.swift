import Foundation
import HemiolaSystem
import Testing
import WindowCore

extension SavedStateFile {
    /// Replaces the stored state.
    fileprivate func write(_ state: SavedState) throws {
        _ = try update(warn: { _ in }, { $0 = state })
    }
}

/// Real files in a folder of the test.
@Suite struct SavedStateTests {
    private func withFolder(_ body: (String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "hemiola-window-\(UUID())").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try body(folder)
    }

    private var example: SavedState {
        var state = SavedState()
        state.update("/pages/a") {
            $0.preset = "Rain \"1\"\n"
            $0.speed = 0.5
            $0.zoom = 1.5
            $0.session = Data([0, 255, 7])
        }
        state.update("/pages/b") { $0.preset = "Snow" }
        state.window.tabs = [Tab(id: "a", title: "A", path: "/pages/a"), Tab(id: "b", title: "B", path: "/pages/b")]
        state.window.selection = 1
        state.window.isFullScreen = true
        state.window.size = WindowSize(width: 640, height: 360)
        return state
    }

    @Test func `a stored state is read again`() throws {
        try withFolder { folder in
            let file = SavedStateFile(path: "\(folder)/new/hemiola/window.json")
            try file.write(example)
            var warnings: [String] = []
            #expect(file.read { warnings.append($0) } == example)
            #expect(warnings.isEmpty)
            try file.write(SavedState())
            #expect(file.read { warnings.append($0) } == SavedState())
            #expect(try FileManager.default.contentsOfDirectory(atPath: "\(folder)/new/hemiola") == ["window.json"])
            let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
        }
    }

    @Test func `two windows: each keeps what the other has stored, and the last one stores its tabs`() throws {
        try withFolder { folder in
            let file = SavedStateFile(path: "\(folder)/new/window.json")
            for name in ["a", "b"] {
                _ = try file.update(warn: { Issue.record("\($0)") }) { state in
                    state.update("/\(name)") { $0.preset = name }
                    state.window.tabs = [Tab(id: name, title: name, path: "/\(name)")]
                }
            }
            let state = file.read { Issue.record("\($0)") }
            #expect(state.page("/a").preset == "a" && state.page("/b").preset == "b")
            #expect(state.window.tabs.map(\.id) == ["b"])
        }
    }

    @Test func `two windows at once: no change is lost`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "hemiola-window-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let file = SavedStateFile(path: "\(folder)/window.json")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for window in 0..<2 {
                group.addTask {
                    for index in 0..<50 {
                        _ = try file.update(warn: { Issue.record("\($0)") }) { state in state.update("/\(window)/\(index)") { $0.zoom = 2 }
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(file.read { Issue.record("\($0)") }.pages.count == 100)
    }

    @Test func `a process that holds the lock delays a change by a second at most`() throws {
        try withFolder { folder in
            let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            defer { close(descriptor) }
            #expect(flock(descriptor, LOCK_EX) == 0)
            let file = SavedStateFile(path: "\(folder)/window.json")
            _ = try file.update(warn: { Issue.record("\($0)") }) { state in state.update("/a") { $0.zoom = 2 } }
            #expect(file.read { Issue.record("\($0)") }.page("/a").zoom == 2)
        }
    }

    @Test func `no file: an empty state without a warning`() throws {
        try withFolder { folder in
            var warnings: [String] = []
            #expect(SavedStateFile(path: "\(folder)/window.json").read { warnings.append($0) } == SavedState())
            #expect(warnings.isEmpty)
        }
    }

    @Test(arguments: [
        "", "{", "[]", #"{"version":2,"pages":[],"window":{"tabs":[],"selection":0,"fullscreen":false}}"#, #"{"version":1,"pages":7}"#,
        "\u{0}",
    ])
    func `a damaged file is reported and kept under another name`(_ text: String) throws {
        try withFolder { folder in
            let file = SavedStateFile(path: "\(folder)/window.json")
            try Data(text.utf8).write(to: URL(filePath: file.path))
            var warnings: [String] = []
            #expect(file.read { warnings.append($0) } == SavedState())
            #expect(warnings.count == 1 && warnings[0].hasPrefix("\(file.path): damaged file, renamed to \(file.path).damaged"))
            #expect(try String(contentsOfFile: "\(file.path).damaged", encoding: .utf8) == text)
            try file.write(example)
            #expect(file.read { warnings.append($0) } == example)
            #expect(warnings.count == 1)
        }
    }

    @Test func `a file beyond 8 MiB is not read`() throws {
        try withFolder { folder in
            let file = SavedStateFile(path: "\(folder)/window.json")
            try Data(repeating: UInt8(ascii: " "), count: SavedStateFile.sizeLimit + 1).write(to: URL(filePath: file.path))
            var warnings: [String] = []
            #expect(file.read { warnings.append($0) } == SavedState())
            #expect(warnings.first?.contains("damaged") == true)
        }
    }

    @Test func `a file that other users can change is not read, and is replaced`() throws {
        try withFolder { folder in
            let file = SavedStateFile(path: "\(folder)/window.json")
            try file.write(example)
            chmod(file.path, 0o666)
            var warnings: [String] = []
            #expect(file.read { warnings.append($0) } == SavedState())
            #expect(warnings.count == 1 && warnings.first?.contains("other users can change it") == true)
            try file.write(example)
            #expect(file.read { warnings.append($0) } == example && warnings.count == 1)
        }
    }

    @Test func `a folder in place of the file is reported and left`() throws {
        try withFolder { folder in
            var warnings: [String] = []
            #expect(SavedStateFile(path: folder).read { warnings.append($0) } == SavedState())
            #expect(warnings.first?.contains("not a regular file") == true)
            #expect(throws: Problem.self) { try SavedStateFile(path: folder).write(example) }
            let entries = try FileManager.default.contentsOfDirectory(atPath: folder)
            #expect(entries.isEmpty)
        }
    }

    @Test func `a folder that cannot be created is reported with its path`() throws {
        try withFolder { folder in
            try Data("x".utf8).write(to: URL(filePath: "\(folder)/file"))
            let error = #expect(throws: Problem.self) {
                try SavedStateFile(path: "\(folder)/file/hemiola/window.json").write(example)
            }
            #expect(error?.message.contains("\(folder)/file") == true)
        }
    }

    @Test func `values out of range are not stored`() {
        var state = SavedState()
        state.update("/a") {
            $0.preset = String(repeating: "x", count: SavedState.textLimit + 1)
            $0.speed = 2
            $0.zoom = .nan
            $0.session = Data(repeating: 0, count: SavedState.sessionLimit + 1)
        }
        #expect(state.page("/a") == SavedState.Page(path: "/a"))
        state.update(String(repeating: "p", count: SavedState.textLimit + 1)) { $0.speed = 1 }
        #expect(state.pages.map(\.path) == ["/a"])
    }

    @Test func `the page that was used longest ago is removed beyond the limit`() {
        var state = SavedState()
        for index in 0..<SavedState.pageLimit { state.update("/\(index)") { $0.zoom = 2 } }
        state.update("/0") { $0.zoom = 3 }
        state.update("/new") { $0.zoom = 2 }
        #expect(state.pages.count == SavedState.pageLimit)
        #expect(state.page("/0").zoom == 3)
        #expect(state.page("/1").zoom == nil)
        #expect(state.page("/new").zoom == 2)
    }

    @Test func `invalid values of a file are ignored, valid ones are kept`() throws {
        try withFolder { folder in
            let file = SavedStateFile(path: "\(folder)/window.json")
            let text = #"""
                {"version":1,"pages":[{"path":"/a","speed":7,"zoom":2,"extra":1},{"path":""}],
                "window":{"tabs":[{"id":"a","title":"A","path":"/a"},{"id":"a","title":"B","path":"/b"}],"selection":9,"fullscreen":true,
                "size":{"width":1,"height":1}}}
                """#
            try Data(text.utf8).write(to: URL(filePath: file.path))
            let state = file.read { Issue.record("\($0)") }
            #expect(state.page("/a").zoom == 2 && state.page("/a").speed == nil)
            #expect(state.pages.count == 1)
            #expect(state.window.tabs.isEmpty && state.window.selection == 0 && state.window.isFullScreen && state.window.size == nil)
        }
    }

    @Test func `sessions that make the file too large are left out, the oldest first`() throws {
        try withFolder { folder in
            var state = SavedState()
            for index in 0..<SavedState.pageLimit {
                state.update("/\(index)") { $0.session = Data(repeating: 1, count: SavedState.sessionLimit) }
            }
            let file = SavedStateFile(path: "\(folder)/window.json")
            try file.write(state)
            let read = file.read { Issue.record("\($0)") }
            #expect(!read.pages.isEmpty && read.pages.count < SavedState.pageLimit)
            #expect(read.page("/\(SavedState.pageLimit - 1)").session != nil)
        }
    }

    @Test func `the standard path follows the XDG Base Directory Specification`() {
        #expect(SavedStateFile.standard { ["XDG_STATE_HOME": "/s", "HOME": "/h"][$0] }?.path == "/s/hemiola/window.json")
        #expect(SavedStateFile.standard { ["XDG_STATE_HOME": "s", "HOME": "/h"][$0] }?.path == "/h/.local/state/hemiola/window.json")
        #expect(SavedStateFile.standard { _ in nil } == nil)
    }
}
