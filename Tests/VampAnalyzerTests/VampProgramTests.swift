import Foundation
import HemiolaForeign
import TestSupport
import Testing

/// The program, which is built next to these tests.
let program: String = {
    if let path = ProcessInfo.processInfo.environment["HEMIOLA"] { return path }
    let tests = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    return (tests as NSString).deletingLastPathComponent + "/hemiola"
}()

@Suite(.needsCompiler, .mayNotHang) struct `Program with Vamp libraries` {
    /// A folder with libraries of these faults, under other names.
    private func folder(_ libraries: [String: String]) throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        for (name, fault) in libraries {
            try FileManager.default.copyItem(atPath: VampFixtures.library(fault), toPath: folder("\(name).so"))
        }
        return folder
    }

    private func run(_ arguments: [String], _ folder: TemporaryFolder) throws -> ChildProcess.Outcome {
        try ChildProcess.run(program, arguments, in: folder.path, environment: ["VAMP_PATH": folder.path])
    }

    @Test func `list: plugins, outputs and parameters; a warning for each library that cannot be used`() throws {
        let folder = try folder([
            "good": "none", "crashing": "crashes", "hanging": "hangs", "other": "no_function", "newer": "version",
            "refusing": "no_instance",
        ])
        let outcome = try run(["plugins", "--vamp"], folder)
        #expect(outcome.status == 0)
        #expect(
            outcome.output == """
                good:probe  Probe
                  Returns what it gets
                  output Steps-1: 6 values per step; Channels, gain, scale, seconds,
                  nanoseconds, last sample
                  output beats: events
                  output frames: events with 1 value; At 10 Hz
                  output notes: events with values, Hz; Any number of values
                  parameter gain: 0...10 dB, default 1; The factor
                  parameter scale: 0...2, default 0, or one of linear, squared, cubed
                  programs: quiet, loud

                To run one: hemiola analyze FILE --analyzer vamp:LIBRARY:PLUGIN[:OUTPUT]

                """)
        let path = folder.path
        #expect(
            outcome.errorLines == [
                "hemiola: warning: \(path)/crashing.so: crashes when it is loaded (signal 6); remove or reinstall it",
                "hemiola: warning: \(path)/hanging.so: was not read within 10 s and 4 MB; remove or reinstall it",
                "hemiola: warning: newer:probe has version 3 of the Vamp API, Hemiola 1 and 2; install another version of the plugin",
                "hemiola: warning: \(path)/other.so: is no Vamp library: it has no function vampGetPluginDescriptor; name another one",
                "hemiola: warning: refusing:probe refuses 48000 Hz; use another sample rate",
            ])
    }

    @Test func `list as JSON: outputs and parameters`() throws {
        let outcome = try run(["plugins", "--vamp", "--json"], folder(["good": "none"]))
        let list = try #require(JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [[String: Any]])
        #expect(list.count == 1 && list[0]["key"] as? String == "good:probe" && list[0]["input"] as? String == "time-domain")
        let outputs = try #require(list[0]["outputs"] as? [[String: Any]])
        #expect(outputs.map { $0["name"] as? String } == ["Steps-1", "beats", "frames", "notes"])
        #expect(outputs.map { $0["events"] as? Bool } == [false, true, true, true])
        let parameters = try #require(list[0]["parameters"] as? [[String: Any]])
        #expect(parameters[0]["maximum"] as? Double == 10 && parameters[1]["values"] as? [String] == ["linear", "squared", "cubed"])
    }

    @Test func `no library: the searched folder`() throws {
        let folder = try TemporaryFolder()
        let outcome = try run(["plugins", "--vamp"], folder)
        #expect(outcome.status == 0 && outcome.errors.isEmpty && outcome.output.hasPrefix("No Vamp plugins in \(folder.path)\n"))
    }

    @Test func `library that is not named: not loaded`() throws {
        // The name is that of an example on the page of vamp.
        let folder = try folder(["vamp-example-plugins": "crashes"])
        for arguments in [["plugins"], ["plugins", "vamp"], ["plugins", "--json"], ["analyze", "--capture", "tone:sine,seconds=0.1"]] {
            let outcome = try run(arguments, folder)
            #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(arguments)")
        }
    }

    @Test func `real time: the records of a run that is not paced`() throws {
        let folder = try folder(["good": "none"])
        let arguments = ["analyze", "--capture", "tone:sine,seconds=0.7", "--analyzer", "vamp:good:probe", "--select", "event,batch,end"]
        let fast = try run(arguments, folder)
        let paced = try run(arguments + ["--realtime"], folder)
        #expect(fast.status == 0 && fast.errors.isEmpty && paced.status == 0)
        #expect(fast.lines.filter { $0.contains(#""type":"event""#) }.count > 10)
        #expect(fast.lines == paced.lines)
    }

    @Test func `check of a pipeline file: a valid plugin, and the line of an unknown one`() throws {
        let folder = try folder(["good": "none"])
        func check(_ plugin: String) throws -> ChildProcess.Outcome {
            try folder.write(
                """
                captures: ["tone:sine"]
                analyzers:
                  - {id: vamp, plugin: "\(plugin)", parameters: [gain=3, scale=cubed], step: 512}
                """, to: "pipeline.yaml")
            return try run(["check", "pipeline.yaml"], folder)
        }
        let valid = try check("good:probe:beats")
        #expect(valid.status == 0 && valid.output == "pipeline.yaml: valid\n" && valid.errors.isEmpty)
        let invalid = try check("good:prob")
        #expect(invalid.status == 2)
        #expect(invalid.errorLines == ["hemiola: pipeline.yaml:3:5: analyzers[0]: good has no plugin \"prob\"; did you mean probe?"])
    }
}
