import Foundation
import Glibc
import Hemiola
import HemiolaSignal
import HemiolaTesting
import JSONLinesSink
import TestSupport
import Testing

@Suite struct JSONLinesSinkTests {
    private let folder: Folder

    init() throws {
        folder = try Folder()
    }

    private func error(_ body: () async throws -> Void) async -> SinkError? {
        do {
            try await body()
            return nil
        } catch {
            return error as? SinkError
        }
    }

    // MARK: Settings

    @Test func `it writes to standard output unless it is given a path`() throws {
        func needs(_ settings: [String: ParameterValue]) -> Bool {
            var problems: [ConfigurationProblem] = []
            let spec = PluginSpec("json-lines", settings: settings)
            return SinkPlugin.jsonLines.needs(
                SinkPlugin.jsonLines.about.values(from: spec, path: "", problems: &problems)!
            ).standardOutput
        }
        #expect(needs([:]))
        #expect(needs(["path": .text("-")]))
        #expect(needs(["path": .text("/dev/stdout")]))
        #expect(!needs(["path": .text("out.jsonl")]))
        #expect(!needs(["path": .text("/dev/stderr")]))
    }

    @Test func `an empty path is refused before anything runs`() {
        #expect(throws: ConfigurationError.self) { try Fixture.sink("") }
    }

    @Test func `making it touches nothing`() throws {
        _ = try Fixture.sink(folder("a.jsonl"))
        #expect(folder.names.isEmpty)
    }

    // MARK: A new file

    @Test func `a file appears when it is complete`() async throws {
        let sink = try Fixture.sink(folder("a.jsonl"))
        try await sink.open(SinkContext(name: "json-lines"))
        try await sink.begin(Fixture.header)
        try await sink.write(Fixture.block())
        #expect(folder.names.count == 1)
        #expect(folder.names[0].wholeMatch(of: /\.a\.jsonl\.[a-z0-9]{6}\.partial/) != nil)
        try await sink.end(Fixture.summary)
        try await sink.close()
        #expect(folder.names == ["a.jsonl"])
        #expect(try folder.types("a.jsonl") == ["header", "batch", "batch", "end"])
    }

    @Test func `several streams share a file`() async throws {
        let sink = try Fixture.sink(folder("a.jsonl"))
        try await sink.open(SinkContext(name: "json-lines"))
        for _ in 0..<2 {
            try await sink.begin(Fixture.header)
            try await sink.end(Fixture.summary)
        }
        try await sink.close()
        #expect(try folder.types("a.jsonl") == ["header", "end", "header", "end"])
    }

    @Test func `an old file is there until the new one takes its place`() async throws {
        try folder.put("old", in: "a.jsonl")
        let sink = try Fixture.sink(folder("a.jsonl"))
        try await sink.open(SinkContext(name: "json-lines"))
        try await sink.begin(Fixture.header)
        #expect(try folder.text("a.jsonl") == "old")
        try await sink.close()
        #expect(folder.names == ["a.jsonl"])
        #expect(try folder.types("a.jsonl") == ["header"])
    }

    @Test func `when no stream began an old file stays as it is`() async throws {
        try folder.put("old", in: "a.jsonl")
        for path in ["a.jsonl", "b.jsonl"] {
            let sink = try Fixture.sink(folder(path))
            try await sink.open(SinkContext(name: "json-lines"))
            try await sink.close()
        }
        #expect(folder.names == ["a.jsonl"])
        #expect(try folder.text("a.jsonl") == "old")
    }

    @Test func `a sink that is never closed leaves nothing behind`() async throws {
        do {
            let sink = try Fixture.sink(folder("a.jsonl"))
            try await sink.open(SinkContext(name: "json-lines"))
            try await sink.begin(Fixture.header)
        }
        #expect(folder.names.isEmpty)
    }

    @Test func `a new file has the permissions of any new file`() async throws {
        close(open(folder("other"), O_WRONLY | O_CREAT, 0o666))
        try await Fixture.run(Fixture.sink(folder("a.jsonl")))
        #expect(folder.mode("a.jsonl") == folder.mode("other"))
    }

    @Test func `a file keeps its permissions when it is replaced`() async throws {
        try folder.put("old", in: "a.jsonl")
        chmod(folder("a.jsonl"), 0o640)
        try await Fixture.run(Fixture.sink(folder("a.jsonl")))
        #expect(folder.mode("a.jsonl") == 0o640)
    }

    @Test func `what a link points to is replaced, and the link stays`() async throws {
        try FileManager.default.createDirectory(atPath: folder("deep"), withIntermediateDirectories: false)
        try folder.put("old", in: "deep/real.jsonl")
        symlink("deep/real.jsonl", folder("link.jsonl"))
        try await Fixture.run(Fixture.sink(folder("link.jsonl")))
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder("link.jsonl")) == "deep/real.jsonl")
        #expect(try folder.types("deep/real.jsonl").last == "end")
    }

    @Test func `what a dangling link points to is made`() async throws {
        symlink("second.jsonl", folder("first.jsonl"))
        symlink("real.jsonl", folder("second.jsonl"))
        try await Fixture.run(Fixture.sink(folder("first.jsonl")))
        #expect(folder.names == ["first.jsonl", "real.jsonl", "second.jsonl"])
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder("first.jsonl")) == "second.jsonl")
        #expect(try folder.types("real.jsonl").last == "end")
    }

    @Test func `a name may be as long as the file system takes`() async throws {
        let name = String(repeating: "ä", count: 127) + "b"
        try await Fixture.run(Fixture.sink(folder(name)))
        #expect(folder.names == [name])
    }

    @Test func `a mere name is a file in the working folder`() async throws {
        await #expect(processExitsWith: .success) {
            let folder = try Folder()
            #expect(chdir(folder.path) == 0)
            try await Fixture.run(Fixture.sink("a.jsonl"))
            #expect(folder.names == ["a.jsonl"])
        }
    }

    // MARK: Adding to a file

    @Test func `lines are added behind those of an old file`() async throws {
        for _ in 0..<2 { try await Fixture.run(Fixture.sink(folder("a.jsonl"), ["append": .text("true")])) }
        #expect(folder.names == ["a.jsonl"])
        #expect(try folder.types("a.jsonl") == ["header", "batch", "batch", "end", "header", "batch", "batch", "end"])
    }

    @Test func `a line that broke off is not continued`() async throws {
        try folder.put("{\"type\":\"bat", in: "a.jsonl")
        try await Fixture.run(Fixture.sink(folder("a.jsonl"), ["append": .text("true")]))
        let lines = try folder.text("a.jsonl").split(separator: "\n")
        #expect(lines.count == 5)
        #expect(lines[1].hasPrefix(#"{"type":"header""#))
    }

    @Test func `nothing is added when no stream began`() async throws {
        try folder.put("old", in: "a.jsonl")
        for path in ["a.jsonl", "b.jsonl"] {
            let sink = try Fixture.sink(folder(path), ["append": .text("true")])
            try await sink.open(SinkContext(name: "json-lines"))
            try await sink.close()
        }
        #expect(folder.names == ["a.jsonl"])
        #expect(try folder.text("a.jsonl") == "old")
    }

    // MARK: Flushing

    @Test(arguments: [("auto", true, true), ("auto", false, false), ("line", false, true), ("block", true, false)])
    func `lines leave at once when live or asked to, else in blocks`(flush: String, live: Bool, atOnce: Bool) async throws {
        let pipe = Pipe()
        let sink = try Fixture.sink(pipe.path, ["flush": .text(flush)])
        try await sink.open(SinkContext(name: "json-lines", isLive: live))
        try await sink.begin(Fixture.header)
        #expect(try recordTypes(pipe.available()) == (atOnce ? ["header"] : []))
        try await sink.write(Fixture.block(events: [Event(at: 0, .onset(Onset(strength: 1)))]))
        #expect(try recordTypes(pipe.available()) == (atOnce ? ["batch", "onset", "batch"] : []))
        try await sink.end(Fixture.summary)
        try await sink.close()
        #expect(try recordTypes(pipe.available()).last == "end")
        pipe.closeWriteEnd()
        pipe.closeReadEnd()
    }

    @Test func `a block is whole lines`() async throws {
        let pipe = Pipe()
        let sink = try Fixture.sink(pipe.path)
        try await sink.open(SinkContext(name: "json-lines"))
        try await sink.begin(Fixture.header)
        let reading = Reading { pipe.readEnd }
        for block in Fixture.manyBlocks { try await sink.write(block) }
        // Not closed: only whole blocks have left.
        pipe.closeWriteEnd()
        let text = await reading.text
        #expect(text.utf8.count > 65_536)
        _ = try recordTypes(text)
        pipe.closeReadEnd()
    }

    // MARK: Selection

    @Test func `only what is selected is written`() async throws {
        let sink = try Fixture.sink(folder("a.jsonl"))
        try await sink.open(SinkContext(name: "json-lines", selection: Selection(items: ["onset", "levels.peak_db"])))
        try await sink.begin(Fixture.header)
        try await sink.write(Fixture.block(count: 1, events: [Event(at: 0, .onset(Onset(strength: 1))), Event(at: 0, .speed(1))]))
        try await sink.end(Fixture.summary)
        try await sink.close()
        #expect(
            try folder.text("a.jsonl") == """
                {"type":"batch","n":0,"frame":0,"t":0.0,"levels":{"peak_db":-10.004}}
                {"type":"onset","t":0.0,"strength":1.0,"emitted_t":0.02322}

                """)
    }

    // MARK: Devices and pipes

    @Test func `a device is written as it is and stays a device`() async throws {
        try await Fixture.run(Fixture.sink("/dev/null"))
        var info = stat()
        #expect(stat("/dev/null", &info) == 0 && info.st_mode & S_IFMT == S_IFCHR)
    }

    @Test func `a named pipe is written as it is`() async throws {
        #expect(mkfifo(folder("pipe"), 0o600) == 0)
        let path = folder("pipe")
        let reading = Reading { open(path, O_RDONLY) }
        try await Fixture.run(Fixture.sink(path))
        #expect(try await recordTypes(reading.text).last == "end")
        #expect(folder.names == ["pipe"])
    }

    @Test func `a pipe that does not block loses nothing`() async throws {
        let pipe = Pipe(nonBlocking: true)
        let reading = Reading(after: 100_000) { pipe.readEnd }
        try await Fixture.run(Fixture.sink(pipe.path), blocks: Fixture.manyBlocks)
        pipe.closeWriteEnd()
        #expect(try await recordTypes(reading.text).count == 2 + 50 * 64)
        pipe.closeReadEnd()
    }

    @Test func `standard output is written and stays open, whatever it is called`() async throws {
        let result = try await #require(processExitsWith: .success, observing: [\.standardOutputContent]) {
            for path in ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
                try await Fixture.run(Fixture.sink(path))
            }
        }
        let types = try recordTypes(String(decoding: result.standardOutputContent, as: UTF8.self))
        #expect(types == Array(repeating: ["header", "batch", "batch", "end"], count: 4).flatMap(\.self))
    }

    @Test func `standard output that is a file is written where it stands, not replaced`() async throws {
        await #expect(processExitsWith: .success) {
            let folder = try Folder()
            try folder.put("{\"type\":\"old\"}\n", in: "a.jsonl")
            dup2(open(folder("a.jsonl"), O_WRONLY | O_APPEND), STDOUT_FILENO)
            try await Fixture.run(Fixture.sink("/dev/stdout"))
            #expect(folder.names == ["a.jsonl"])
            #expect(try folder.types("a.jsonl") == ["old", "header", "batch", "batch", "end"])
        }
    }

    // MARK: Errors

    @Test func `a reader that has gone wants no more`() async throws {
        let pipe = Pipe()
        let sink = try Fixture.sink(pipe.path, ["flush": .text("line")])
        try await sink.open(SinkContext(name: "json-lines"))
        try await sink.begin(Fixture.header)
        pipe.closeReadEnd()
        let error = await error { try await sink.write(Fixture.block()) }
        #expect(error?.remedy == .finish)
        #expect(await self.error { try await sink.close() } == nil)
        pipe.closeWriteEnd()
    }

    @Test func `a reader that goes before the last block wants no more`() async throws {
        let pipe = Pipe()
        let sink = try Fixture.sink(pipe.path)
        try await sink.open(SinkContext(name: "json-lines"))
        try await sink.begin(Fixture.header)
        pipe.closeReadEnd()
        #expect(await error { try await sink.close() }?.remedy == .finish)
        pipe.closeWriteEnd()
    }

    @Test(arguments: ["line", "block"])
    func `a full disk is told, at the latest when the sink is closed`(flush: String) async throws {
        let error = await error { try await Fixture.run(Fixture.sink("/dev/full", ["flush": .text(flush)])) }
        #expect(error?.remedy == .giveUp)
        #expect(error?.message == "cannot write /dev/full: the disk is full; free some space or write to another disk")
    }

    @Test func `a file that cannot be completed is removed, and an old one stays`() async throws {
        // A limit on the size of files stands in for a full disk; it holds for a whole process.
        await #expect(processExitsWith: .success) {
            let folder = try Folder()
            try folder.put("old", in: "a.jsonl")
            signal(SIGXFSZ, SIG_IGN)
            var limit = rlimit(rlim_cur: 100_000, rlim_max: 100_000)
            setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
            let sink = try Fixture.sink(folder("a.jsonl"))
            do {
                try await Fixture.run(sink, blocks: Fixture.manyBlocks)
                Issue.record("it was written after all")
            } catch let error as SinkError {
                #expect(error.message.contains("the file would be larger than allowed"))
                #expect(error.remedy == .giveUp)
            }
            try await sink.close()
            #expect(folder.names == ["a.jsonl"])
            #expect(try folder.text("a.jsonl") == "old")
        }
    }

    @Test func `a folder that does not exist is named, with the way out`() async throws {
        let message = await error { try await Fixture.run(Fixture.sink(folder("no such/a.jsonl"))) }?.message
        #expect(
            message
                == "cannot write \(folder("no such/a.jsonl")): folder \(folder("no such")) does not exist; create it first: mkdir -p '\(folder("no such"))'"
        )
        let plain = await error { try await Fixture.run(Fixture.sink("not-here/a.jsonl")) }?.message
        #expect(plain?.hasSuffix("create it first: mkdir -p not-here") == true)
    }

    @Test func `a folder is no file`() async throws {
        for path in [folder.path, folder.path + "/", folder("new/")] {
            let message = await error { try await Fixture.run(Fixture.sink(path)) }?.message
            #expect(message == "cannot write \(path): it is a folder; name a file in it")
        }
        try folder.put("", in: "file")
        let message = await error { try await Fixture.run(Fixture.sink(folder("file/a.jsonl"))) }?.message
        #expect(message?.contains("not a directory") == true)
    }

    @Test func `links in a circle are told`() async throws {
        symlink("b", folder("a"))
        symlink("a", folder("b"))
        let message = await error { try await Fixture.run(Fixture.sink(folder("a"))) }?.message
        #expect(message?.contains("too many levels of symbolic links") == true)
    }

    @Test func `a file that is open for reading only is refused`() async throws {
        let descriptor = open("/dev/null", O_RDONLY)
        defer { close(descriptor) }
        let message = await error { try await Fixture.run(Fixture.sink("/dev/fd/\(descriptor)")) }?.message
        #expect(message == "cannot write /dev/fd/\(descriptor): it is not open for writing; give a path instead")
    }

    @Test func `a folder that disappears is told at the end`() async throws {
        try FileManager.default.createDirectory(atPath: folder("deep"), withIntermediateDirectories: false)
        let sink = try Fixture.sink(folder("deep/a.jsonl"))
        try await sink.open(SinkContext(name: "json-lines"))
        try await sink.begin(Fixture.header)
        try FileManager.default.removeItem(atPath: folder("deep"))
        let error = await error { try await sink.close() }
        #expect(error?.message.contains("no such file or directory") == true)
    }

    // MARK: Compressed

    @Test(.enabled(if: Zstd.isExpected, "zstd is not installed"), arguments: ["auto", "line", "block"])
    func `a compressed file holds the same lines`(flush: String) async throws {
        try await Fixture.run(Fixture.sink(folder("a.jsonl"), ["flush": .text(flush)]), blocks: Fixture.manyBlocks)
        try await Fixture.run(Fixture.sink(folder("a.jsonl.zst"), ["flush": .text(flush)]), blocks: Fixture.manyBlocks)
        #expect(folder.names == ["a.jsonl", "a.jsonl.zst"])
        let (text, isWhole) = try Zstd.read(folder("a.jsonl.zst"))
        #expect(isWhole)
        #expect(try text == folder.text("a.jsonl"))
        let size = try Data(contentsOf: URL(fileURLWithPath: folder("a.jsonl.zst"))).count
        #expect(size < text.utf8.count / (flush == "line" ? 2 : 4))
    }

    @Test(.enabled(if: Zstd.isExpected, "zstd is not installed"), arguments: ["1", "19"])
    func `any file is compressed when asked to, and none when asked not to`(level: String) async throws {
        try await Fixture.run(Fixture.sink(folder("a.log"), ["compress": .text("zstd"), "level": .text(level)]))
        #expect(try recordTypes(Zstd.read(folder("a.log")).text) == ["header", "batch", "batch", "end"])
        try await Fixture.run(Fixture.sink(folder("b.zst"), ["compress": .text("none")]))
        #expect(try folder.types("b.zst").last == "end")
    }

    @Test(.enabled(if: Zstd.isExpected, "zstd is not installed"))
    func `flushed lines can be read before the file is complete`() async throws {
        let sink = try Fixture.sink(folder("a.jsonl.zst"), ["flush": .text("line")])
        try await sink.open(SinkContext(name: "json-lines"))
        try await sink.begin(Fixture.header)
        try await sink.write(Fixture.block())
        let (text, isWhole) = try Zstd.read(folder(try #require(folder.names.first)))
        #expect(!isWhole)
        #expect(try recordTypes(text) == ["header", "batch", "batch"])
        try await sink.close()
        #expect(try Zstd.read(folder("a.jsonl.zst")).isWhole)
    }

    @Test func `a compressed file appears when it is complete, or never`() async throws {
        try folder.put("old", in: "a.zst")
        do {
            let sink = try Fixture.sink(folder("a.zst"))
            try await sink.open(SinkContext(name: "json-lines"))
            try await sink.begin(Fixture.header)
            #expect(try folder.text("a.zst") == "old")
        }
        #expect(folder.names == ["a.zst"])
        #expect(try folder.text("a.zst") == "old")
    }

    @Test func `a full disk is told for compressed lines too`() async throws {
        let error = await error { try await Fixture.run(Fixture.sink("/dev/full", ["compress": .text("zstd")])) }
        #expect(error?.message == "cannot write /dev/full: the disk is full; free some space or write to another disk")
    }

    @Test func `nothing is added to a compressed file`() {
        #expect {
            try Fixture.sink(folder("a.zst"), ["append": .text("true")])
        } throws: { error in
            "\(error)".contains("append: nothing can be added to a compressed file")
        }
    }

    // MARK: The exam

    @Test(arguments: ["a.jsonl", "a.jsonl.zst"]) func `it sits the exam`(name: String) async throws {
        try await SinkExam(.jsonLines, settings: folder(name)).sit()
        #expect(folder.names == [name])
    }

    // MARK: The manual

    @Test func `the sample in the README is what it writes`() async throws {
        let readme = try String(
            contentsOf: URL(fileURLWithPath: #filePath).deletingLastPathComponent()
                .appendingPathComponent("../../Plugins/Sinks/JSONLines/README.md"), encoding: .utf8)
        let sample = try #require(readme.firstMatch(of: /```json\n((?s).*?)```/)).1
        try await Fixture.run(Fixture.sink(folder("a.jsonl")))
        #expect(try folder.text("a.jsonl") == sample.replacing("0.1.0", with: HemiolaVersion.current))
        for setting in SinkPlugin.jsonLines.about.settings {
            #expect(readme.contains("| `\(setting.key)` | `\(setting.defaultValue.text)` | \(setting.summary) |"))
        }
    }
}
