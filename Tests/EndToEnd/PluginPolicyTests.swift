import Foundation
import TestSupport
import Testing

/// `on_error` and `min_version`, in SPECs and pipeline files.
@Suite struct PluginPolicyTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func run(_ pipeline: String) throws -> ChildProcess.Outcome {
        try folder.write(pipeline, to: "pipeline.yaml")
        return try Hemiola.run(["run", "pipeline.yaml"], in: folder.path)
    }

    @Test func `full disk of a skipped sink: a warning, a count, exit code 0, and the other sink is complete`() throws {
        let file = Hemiola.minuet
        let outcome = try Hemiola.run(["analyze", file, "--sink", "json-lines:/dev/full,on_error=skip", "--sink", "json-lines"])
        #expect(outcome.status == 0)
        #expect(outcome.errorLines.count == 2, "\(outcome.errors)")
        let (first, last) = (outcome.errorLines.first ?? "", outcome.errorLines.last ?? "")
        #expect(first.hasPrefix("hemiola: warning: cannot write /dev/full: the disk is full; "), "\(first)")
        #expect(first.hasSuffix("; the run goes on without it"), "\(first)")
        #expect(last.hasPrefix("hemiola: warning: json-lines: batches that were not written: "), "\(last)")
        let records = try Record.all(in: outcome.output)
        // The losses are in a record of their own and in the end record, and nothing else differs.
        #expect(records.count { $0.type == "dropped" } == 1)
        #expect(try records.filter { $0.type != "dropped" }.dropLast().map(\.line) == Hemiola.records([file]).dropLast().map(\.line))
    }

    @Test func `skip of a program that fails: the records of the other sink are complete`() throws {
        let file = try folder.writeTone()
        let outcome = try run(
            """
            inputs: ["\(file)"]
            sinks:
              - {id: json-lines, path: out.jsonl}
              - {id: exec, command: "head -n 2 >/dev/null; exit 3", on_error: skip}
            """)
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.errors.contains("ended with exit code 3; the run goes on without it"), "\(outcome.errors)")
        let records = try Record.all(in: folder.text(of: "out.jsonl"))
        #expect(records.last?.type == "end")
        #expect(try records.count == Hemiola.records([file]).count)
    }

    @Test func `skip of the only sink: exit code 3`() throws {
        let outcome = try Hemiola.run(["analyze", try folder.writeTone(), "--sink", "json-lines:/dev/full,on_error=skip"])
        #expect(outcome.status == 3)
        #expect(outcome.errors.contains("hemiola: all sinks have failed; the rest was not analysed"), "\(outcome.errors)")
    }

    @Test func `skip of an input that is missing: a warning, and the next one is analysed`() throws {
        let file = try folder.writeTone()
        let outcome = try run(
            """
            captures:
              - {id: file, path: missing.flac, on_error: skip}
              - {id: file, path: "\(file)"}
            """)
        #expect(outcome.status == 0)
        #expect(outcome.errorLines.count == 1)
        #expect(outcome.errors.contains("warning: missing.flac: no such file"), "\(outcome.errors)")
        #expect(outcome.errors.contains("; this input is skipped"), "\(outcome.errors)")
        #expect(try Record.all(in: outcome.output).count { $0.type == "header" } == 1)
    }

    @Test func `check: reports versions that are missing, in one line each`() throws {
        try folder.write("inputs: [a.wav]\nanalyzers: [\"beat:min_version=77\"]\n", to: "plugin.yaml")
        try folder.write("min_version: 77.0.0\ninputs: [a.wav]\n", to: "program.yaml")
        let plugin = try Hemiola.run(["check", "plugin.yaml"], in: folder.path)
        #expect(plugin.status == 2 && plugin.errorLines.count == 1)
        #expect(plugin.errors.contains("plugin.yaml:2:13: analyzers[0].min_version: beat has version "), "\(plugin.errors)")
        #expect(plugin.errors.contains(", but version 77 is needed; install a newer version of the program, or lower min_version"))
        let program = try Hemiola.run(["check", "program.yaml"], in: folder.path)
        #expect(program.status == 2 && program.errorLines.count == 1)
        #expect(program.errors.contains("program.yaml:1:1: min_version: the file needs Hemiola 77.0.0, but this is "), "\(program.errors)")
    }
}
