import Foundation
import TestSupport
import Testing

/// `hemiola presets add`. Tests/Page shows the presets in the page.
@Suite struct PresetsTests {
    private static let preset = #"{"version": 2, "baseVals": {"zoom": 1.02}, "shapes": [], "waves": [], "frame_eqs_str": ""}"#
    private static let visualizer = "exports.default = {createVisualizer() {}}"
    private static let pack = #"exports.default = {"Rain": {"baseVals": {}}}"#

    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        for name in ["node/presets/converted", "node/lib", "node/.git", "milk"] {
            try FileManager.default.createDirectory(atPath: folder(name), withIntermediateDirectories: true)
        }
        try folder.write(Self.preset, to: "node/presets/converted/Rose Field.json")
        try folder.write(Self.preset, to: "node/presets/Été.json")
        try folder.write(#"{"name": "butterchurn-presets"}"#, to: "node/package.json")
        try folder.write(Self.visualizer + "\n", to: "node/lib/butterchurn.js")
        try folder.write(Self.visualizer, to: "node/lib/butterchurn.min.js")
        try folder.write("import presets from './pack.js'; createVisualizer", to: "node/lib/all.mjs")
        try folder.write("let unused = 1", to: "node/lib/isSupported.min.js")
        try folder.write(Self.pack, to: "node/lib/pack.js")
        try folder.write(Self.preset, to: "node/.git/x.json")
    }

    private func add(_ paths: String...) throws -> ChildProcess.Outcome {
        try ChildProcess.run(
            Hemiola.path, ["presets", "add"] + paths, in: folder.path, environment: ["XDG_DATA_HOME": folder("data")],
            timeout: Hemiola.timeout)
    }

    private var names: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder("data/hemiola/presets"))) ?? []).sorted()
    }

    @Test func `folder: its presets, the smaller form of a script, and packs; nothing else`() throws {
        let outcome = try add("node")
        #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
        #expect(outcome.output == "2 presets, butterchurn.min.js, pack.js added to \(folder("data/hemiola/presets"))\n")
        #expect(names == ["Rose Field.json", "butterchurn.min.js", "pack.js", "Été.json"].sorted())
        #expect(try folder.text(of: "data/hemiola/presets/Été.json") == Self.preset)
    }

    @Test(arguments: [("a.tgz", "tar czf"), ("a.tar.xz", "tar cJf"), ("a.zip", "python3 -m zipfile -c")])
    func `archive: the same as its folder`(path: String, command: String) throws {
        let made = try ChildProcess.run(
            "/usr/bin/env", command.split(separator: " ").map(String.init) + [path, "node"], in: folder.path, environment: [:], timeout: 60)
        try #require(made.status == 0, "\(made.errors)")
        let outcome = try add(path)
        #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
        #expect(names == ["Rose Field.json", "butterchurn.min.js", "pack.js", "Été.json"].sorted())
    }

    @Test func `archive with a name that is too long: a failure of that entry, all others added`() throws {
        let script =
            "import sys, zipfile\nwith zipfile.ZipFile('a.zip', 'w') as z:\n"
            + "  for n in ['a.json', 'n' * 300 + '.json', 'b.json']: z.writestr(n, sys.argv[1])"
        let made = try ChildProcess.run(
            "/usr/bin/env", ["python3", "-c", script, Self.preset], in: folder.path, environment: [:], timeout: 60)
        try #require(made.status == 0, "\(made.errors)")
        let outcome = try add("a.zip")
        #expect(outcome.status == 1 && outcome.errors.contains("a.zip: nnn") && outcome.output.hasPrefix("2 presets"), "\(outcome.errors)")
        #expect(names == ["a.json", "b.json"])
    }

    @Test func `damaged archive: exit code 1, a line with its name, and what comes before the damage is added`() throws {
        // No compression shortens the last file.
        let script = "head -c 300000 /dev/urandom > z.js; tar czf a.tgz node/presets node/lib z.js; head -c 200000 a.tgz > b.tgz"
        let made = try ChildProcess.run("/usr/bin/env", ["sh", "-c", script], in: folder.path, environment: [:], timeout: 60)
        try #require(made.status == 0, "\(made.errors)")
        let outcome = try add("b.tgz")
        #expect(outcome.status == 1 && outcome.errorLines.count == 1 && outcome.errors.contains("b.tgz: "), "\(outcome.errors)")
        #expect(names.contains("Rose Field.json") && names.contains("butterchurn.min.js"))
    }

    @Test func `presets without Butterchurn: added, with a warning that says where it comes from`() throws {
        let outcome = try add("node/presets")
        #expect(outcome.status == 0 && outcome.errorLines.count == 1, "\(outcome.errors)")
        #expect(outcome.errors.contains("npm install butterchurn"))
        #expect(names == ["Rose Field.json", "Été.json"].sorted())
        #expect(try add("node/lib/butterchurn.min.js").errors.isEmpty)
    }

    @Test func `presets of MilkDrop: left out, with the converter; nothing else: exit code 1`() throws {
        try folder.write("[preset00]", to: "milk/a.milk")
        try folder.write("[preset00]", to: "milk/b.MILK")
        let outcome = try add("milk")
        #expect(outcome.status == 1 && outcome.errors.contains("2 presets of MilkDrop"), "\(outcome.errors)")
        #expect(outcome.errors.contains("milkdrop-preset-converter") && outcome.errorLines.count == 2)
    }

    @Test(arguments: [
        (["presets", "add", "none"], "none: No such file or directory"), (["presets", "remove", "x"], "unknown action 'remove'"),
        (["presets", "add"], "name a file, a folder or an archive"), (["presets"], "missing expected argument"),
    ])
    func `invalid arguments: exit code 2, one line, and no folder`(arguments: [String], message: String) throws {
        let outcome = try ChildProcess.run(
            Hemiola.path, arguments, in: folder.path, environment: ["XDG_DATA_HOME": folder("data")], timeout: Hemiola.timeout)
        #expect(outcome.status == 2 && outcome.errorLines.count == 1 && outcome.errors.contains(message), "\(outcome.errors)")
        #expect(names.isEmpty)
    }

    @Test func `script that exports no preset: left out and named, alone and in a folder`() throws {
        try folder.write("window.presets = {Rain: {baseVals: {}}}", to: "node/lib/global.js")
        for path in ["node/lib/global.js", "node"] {
            let outcome = try add(path)
            #expect(outcome.status == 1 && outcome.errorLines.first?.contains("node/lib/global.js: exports no preset") == true)
            #expect(!names.contains("global.js"))
        }
        #expect(names.contains("pack.js"))
    }

    @Test func `large files, and files that are no archives: refused one by one`() throws {
        try folder.write(Self.preset + String(repeating: " ", count: 1 << 20), to: "large.json")
        try folder.write("text", to: "notes.txt")
        let outcome = try add("large.json", "notes.txt", "node/package.json", "node/presets/Été.json", "node/lib/butterchurn.min.js")
        #expect(outcome.status == 1 && outcome.errorLines.count == 3, "\(outcome.errors)")
        #expect(outcome.errors.contains("node/package.json: not a preset of Butterchurn"))
        #expect(outcome.errors.contains("large.json: larger than 1 MiB") && outcome.errors.contains("notes.txt: cannot read the archive"))
        #expect(names == ["butterchurn.min.js", "Été.json"])
    }
}
