import Foundation
import Hemiola
import HemiolaEngine
import HemiolaPlugins
import TestSupport
import Testing

@testable import HemiolaCommandLine

@Suite struct OutputTests {
    private let stdout = PluginSpec("json-lines")

    @Test func `output path: replaces standard output`() throws {
        #expect(try configuration(["a", "-o", "x,y.jsonl"]).sinks == [PluginSpec("json-lines", primary: .text("x,y.jsonl"))])
        #expect(try configuration(["a", "-ox.jsonl"]).sinks == [PluginSpec("json-lines", primary: .text("x.jsonl"))])
        #expect(try configuration(["a", "-o", "-"]).sinks == [stdout])
    }

    @Test func `output path with a sink on standard output: set as the sink's path`() throws {
        let beats = PluginSpec("json-lines", primary: .text("x"), settings: ["select": .text("beat")])
        #expect(try configuration(["a", "-o", "x", "--sink", "json-lines:select=beat"]).sinks == [beats])
    }

    @Test func `named sink: replaces the default one`() throws {
        let file = PluginSpec("json-lines", primary: .text("x"))
        #expect(try configuration(["a", "--sink", "json-lines:x"]).sinks == [file])
        #expect(try configuration(["a", "--sink", "csv:x.csv"]).sinks == [PluginSpec("csv", primary: .text("x.csv"))])
        #expect(try configuration(["a", "--sink", "socket"]).sinks == [PluginSpec("socket")])
        #expect(try configuration(["a", "--sink", "json-lines:x", "--sink", "json-lines"]).sinks == [file, stdout])
        #expect(try configuration(["a", "--sink", "json-lines:x", "-o", "-"]).sinks == [file, stdout])
        let other = PluginSpec("json-lines", primary: .text("y"))
        #expect(try configuration(["a", "--sink", "json-lines:x", "-o", "y"]).sinks == [file, other])
    }

    @Test(arguments: ["json-lines:-", "json-lines:path=-"])
    func `output path with a sink that names standard output: the sink keeps standard output`(text: String) throws {
        let sinks = try configuration(["a", "--sink", text, "-o", "x"]).sinks
        #expect(sinks == [try PluginSpec(parsing: text), PluginSpec("json-lines", primary: .text("x"))])
    }

    @Test func `two sinks on standard output: refused`() throws {
        #expect(try configuration(["a", "--sink", "json-lines"]).sinks == [stdout])
    }

    @Test(arguments: [[], ["--sink", "json-lines"], ["--sink", "json-lines:x"], ["-o", "x"]])
    func `quiet: changes no output`(arguments: [String]) throws {
        #expect(try configuration(["a", "-q"] + arguments).sinks == configuration(["a"] + arguments).sinks)
    }

    @Test(arguments: [
        ("x", "json-lines"), ("x.jsonl", "json-lines"), ("x.JSONL", "json-lines"), ("x.jsonl.zst", "json-lines"), ("x.json", "json-lines"),
        ("x.zst", "json-lines"), ("a.b/x", "json-lines"), ("/dev/full", "json-lines"), ("/dev/fd/3", "json-lines"), ("x.csv", "csv"),
        ("x.csv.zst", "csv"), ("{stem}-{time}.csv", "csv"), (".hidden", "json-lines"),
        ("x.mid", "notes"), ("x.MIDI", "notes"),
    ])
    func `output path without a sink: its extension selects the sink`(path: String, sink: String) throws {
        #expect(try configuration(["a", "-o", path]).sinks == [PluginSpec(sink, primary: .text(path))])
    }

    @Test(arguments: ["x.txt", "x.mid.zst", "x.jsnol", "x.flac", "x.txt.zst"])
    func `output path with an unknown extension: refused with the supported extensions`(path: String) {
        do {
            _ = try builder(["a", "-o", path])
            Issue.record("\(path) was accepted")
        } catch {
            let line = (error as? Failure)?.lines.first ?? ""
            #expect(line.hasPrefix("--output \(path): ") && line.contains(".jsonl or .json (JSON Lines) or .csv"), "\(line)")
        }
    }

    @Test(arguments: ["x.parquet", "out/{stem}.PARQUET", "x.parquet.zst"])
    func `Parquet output: refused, with the command that converts records`(path: String) throws {
        let failure = #expect(throws: Failure.self) { _ = try configuration(["a", "-o", path]) }
        let records = path.prefix { $0 != "." } + ".jsonl"
        let line = try #require(failure?.lines.first)
        #expect(line.hasPrefix("--output \(path): Parquet") && line.hasSuffix("python3 -m hemiola_audio to-parquet \(records)"), "\(line)")
    }

    @Test func `output path with a named sink: any extension is accepted`() throws {
        #expect(try configuration(["a", "--sink", "csv", "-o", "x.txt"]).sinks == [PluginSpec("csv", primary: .text("x.txt"))])
    }

    @Test(arguments: [
        (["c1/a.flac", "c2/a.flac"], "out/{stem}.jsonl", "the results of c1/a.flac and c2/a.flac would both be written to out/a.jsonl; "),
        (["a.flac", "a.wav"], "{stem}.jsonl", "the results of a.flac and a.wav would both be written to a.jsonl; "),
        (["a.flac", "a.flac"], "{stem}.jsonl", "a.flac is given twice, and both results would be written to a.jsonl; "),
        (["c/a.flac", "./c/a.wav"], "{dir}/{stem}", "the results of c/a.flac and ./c/a.wav would both be written to ./c/a; "),
        (["a.flac"], "{stm}.jsonl", "there is no placeholder {stm}; there are: {stem}, {name}, {dir}, {time}, {n}; "),
    ])
    func `invalid output path: refused before any work`(inputs: [String], path: String, text: String) throws {
        let builder = try builder(inputs + ["-o", path])
        do throws(Failure) {
            _ = try builder.assemble()
            Issue.record("\(path) was accepted")
        } catch {
            #expect(error.status == .usage && error.lines.count == 1)
            #expect(error.lines[0].hasPrefix("--output \(path): \(text)"), "\(error.lines)")
        }
    }

    @Test(arguments: ["out/{dir}/{stem}.jsonl", "{dir}/{stem}", "out/all.jsonl"])
    func `output path with {dir} for inputs of one name, or without placeholders: accepted`(path: String) throws {
        _ = try builder(["c1/a.flac", "c2/a.flac", "-o", path]).assemble()
    }

    @Test(arguments: [
        ["--sink", "json-lines:{stem}.x", "--sink", "csv:a.x"], ["--sink", "csv:a.x", "--sink", "beats:./a.x"],
        ["--sink", "csv:b.csv,events=a.x", "--sink", "json-lines:a.x"], ["--sink", "csv:b.csv", "--sink", "json-lines:b.events.csv"],
    ])
    func `two sinks that write to one file: refused`(arguments: [String]) throws {
        #expect(throws: Failure.self) { try builder(["a.wav"] + arguments).assemble() }
    }

    @Test func `two paths of one file, through a link, a parent folder or the current folder: refused`() throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder("real"), withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(atPath: folder("link"), withDestinationPath: "real")
        try FileManager.default.createSymbolicLink(atPath: folder("file.x"), withDestinationPath: "real/new.x")
        let current = FileManager.default.currentDirectoryPath
        for (one, other) in [
            (folder("real/a.x"), folder("link/a.x")), (folder("real/new.x"), folder("file.x")),
            (folder("real/../b/a.x"), folder("b/a.x")), (folder("c/../b/a.x"), folder("b/a.x")),
            ("no-such-folder/a.x", current + "/no-such-folder/a.x"), ("/dev/shm/hemiola-a.x", "/dev/shm/./hemiola-a.x"),
        ] {
            let builder = try builder(["a.wav", "--sink", "json-lines:\(one)", "--sink", "csv:\(other)"])
            #expect(throws: Failure.self, "\(one) \(other)") { try builder.assemble() }
        }
        _ = try builder(["a.wav", "--sink", "json-lines:/dev/null", "--sink", "csv:/dev/null,events=none"]).assemble()
        #expect(throws: Failure.self) { try builder(["c/a.wav", "c/a.mp3", "-o", "/dev/shm/{stem}.jsonl"]).assemble() }
        #expect(throws: Failure.self) { try builder(["c/out/a.wav", "c/x/a.mp3", "-o", "{dir}/../out/{stem}.jsonl"]).assemble() }
    }

    @Test func `documents of several inputs in one file: refused before any work`() throws {
        for format in ["jams", "mid"] {
            let builder = try builder(["a", "b", "--sink", "beats:all.\(format)"])
            let text =
                "all.\(format) is for the result of one input, but there are 2; write a file for each, with {stem} in the path of -o, or use --output-dir"
            #expect(throws: Failure("--sink beats:all.\(format): \(text)")) {
                _ = try builder.assemble()
            }
        }
        _ = try builder(["a", "b", "--sink", "beats:{stem}.mid"]).assemble()
        _ = try builder(["a", "b", "--sink", "beats:all.txt"]).assemble()
    }

    @Test func `sync: set for all sinks`() throws {
        #expect(try configuration(["a", "--sync"]).syncsFiles)
        #expect(try !configuration(["a"]).syncsFiles)
    }

    @Test func `usesStandardOutput: true if a sink uses standard output`() throws {
        #expect(try builder(["a"]).assemble().usesStandardOutput)
        #expect(try !builder(["a", "-o", "x"]).assemble().usesStandardOutput)
        #expect(try builder(["a", "--sink", "json-lines:select=beat"]).assemble().usesStandardOutput)
        #expect(try builder(["a", "--sink", "presets:names=x"]).assemble().usesStandardOutput)
        #expect(try !builder(["a", "--sink", "presets:names=x,path=plan"]).assemble().usesStandardOutput)
    }

    @Test func `output path with presets: for the records; the presets plan has no file`() throws {
        let sinks = try configuration(["a", "-o", "x.jsonl", "--sink", "presets:names=x"]).sinks
        #expect(sinks.map(\.id) == ["presets", "json-lines"] && sinks.last?.primary == .text("x.jsonl"))
    }

    @Test(arguments: [["--capture", "tone:sine", "--start", "2"], ["a.flac", "--capture", "tone:sine", "--duration", "1:00"]])
    func `--start or --duration with --capture: refused`(arguments: [String]) throws {
        let failure = try #require(throws: Failure.self) { try builder(arguments) }
        #expect(failure.status == .usage && failure.lines[0].hasPrefix("--start and --duration apply to file arguments only"))
    }

    @Test func `output path with a sink on standard output that has no path setting: refused`() throws {
        let shouting = SinkPlugin(
            PluginDescription("shout", "Writes to standard output."), settings: NoSettings.self,
            needs: { _ in SinkPlugin.Needs(standardOutput: true) },
            make: { _ throws(Problem) in throw Problem("never made") })
        let registry = PluginRegistry.standard.adding(sinks: [shouting])
        #expect(try builder(["a", "--sink", "shout"], registry: registry).configuration.sinks == [PluginSpec("shout")])
        #expect(throws: Failure("--output: shout writes to standard output and takes no path; leave one out")) {
            _ = try builder(["a", "--sink", "shout", "-o", "x"], registry: registry)
        }
    }

    @Test func `output path that is an input: refused`() throws {
        let file = try TemporaryFile([1, 2, 3])
        #expect(throws: Failure("\(file.path) is an input file and would be overwritten; write to another file")) {
            _ = try builder([file.path, "--sink", "json-lines:\(file.path)"]).assemble()
        }
        #expect(throws: Failure.self) { _ = try builder([file.path, "--sink", "csv:x,events={dir}/{name}"]).assemble() }
        #expect(throws: Failure("\(file.path) is an input file and would be overwritten; write to another file")) {
            _ = try builder(["--capture", "file:\(file.path)", "--sink", "json-lines:\(file.path)"]).assemble()
        }
    }
}
