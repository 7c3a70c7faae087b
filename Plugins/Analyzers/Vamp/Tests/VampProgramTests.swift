import AnalysisSupport
import Foundation
import Hemiola
import HemiolaTesting
import TestSupport
import Testing

@testable import VampAnalyzer

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

@Suite(.needsCompiler, .mayNotHang) struct `Program with faulty Vamp plugins` {
    /// Runs the probe with a fault.
    private func run(_ fault: String, _ arguments: [String] = []) throws -> ChildProcess.Outcome {
        let folder = try TemporaryFolder()
        try FileManager.default.copyItem(atPath: VampFixtures.library(fault), toPath: folder("probed.so"))
        return try ChildProcess.run(
            program, ["analyze", "--capture", "tone:sine,seconds=1.5", "--analyzer", "vamp:probed:probe"] + arguments,
            in: folder.path, environment: ["VAMP_PATH": folder.path])
    }

    @Test(arguments: ["exits", "exits_early", "exits_later"])
    func `plugin that ends its process: a failure in one line`(fault: String) throws {
        let outcome = try run(fault, ["-o", "out.jsonl"])
        #expect(outcome.status == (fault == "exits" ? 2 : 1) && !outcome.wasKilled)
        // Records that were written before the end stay, which another line says.
        let failures = outcome.errorLines.filter { !$0.hasPrefix("hemiola: warning: out.jsonl:") }
        #expect(failures.count == 1 && outcome.errors.contains("probed:probe: ended with exit code 1"), "\(outcome.errors)")
    }

    @Test func `list with a library that ends the process: a warning`() throws {
        let folder = try TemporaryFolder()
        try FileManager.default.copyItem(atPath: VampFixtures.library("exits"), toPath: folder("probed.so"))
        let outcome = try ChildProcess.run(program, ["plugins", "--vamp"], in: folder.path, environment: ["VAMP_PATH": folder.path])
        #expect(outcome.errorLines.count == 1 && outcome.errors.contains("probed.so"), "\(outcome.errors)")
    }

    @Test(arguments: ["channels", "outputs", "bins", "parameters", "programs", "frames"])
    func `plugin that declares a million: refused at once, with the plugin and the number`(what: String) throws {
        let start = Date.now
        let outcome = try run("million_\(what)")
        #expect(outcome.status == 1 || outcome.status == 2)
        let line = try #require(outcome.errorLines.first)
        #expect(outcome.errorLines.count == 1 && line.contains("probed:probe") && line.contains("1000000"), "\(line)")
        #expect(Date.now.timeIntervalSince(start) < 20)
    }
}

@Suite(.needsCompiler, .mayNotHang) struct `Process of a Vamp plugin` {
    private static let tone = ["--capture", "tone:sine,seconds=1.5", "--select", "batch,event,dropped,end"]

    /// Runs the probe with a fault.
    private func run(_ fault: String, _ settings: String, _ arguments: [String] = tone) throws -> ChildProcess.Outcome {
        let folder = try TemporaryFolder()
        try FileManager.default.copyItem(atPath: VampFixtures.library(fault), toPath: folder("probed.so"))
        return try ChildProcess.run(
            program, ["analyze", "--analyzer", "vamp:probed:probe\(settings)"] + arguments, in: folder.path,
            environment: ["VAMP_PATH": folder.path])
    }

    /// The batches, each with whether it has values.
    private func batches(_ outcome: ChildProcess.Outcome) throws -> [Bool] {
        try outcome.lines.filter { $0.contains(#""type":"batch""#) }.map { line in
            let record = try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            let values = try #require((record["vamp"] as? [String: Any])?["steps_1"] as? [Any])
            return values.contains { $0 is NSNumber }
        }
    }

    /// Everything that an analyzer has found.
    private func results(_ plugin: AnalyzerPlugin, _ settings: String) async throws -> [String] {
        let audio = Audio.noise(amplitude: 0.5, frames: 50_000, channelCount: 2)
        let samples = audio.samples
        let analysis = try await Analysis(
            of: [.samples(samples), .gap(Gap(frames: 44_100, reason: .frozen)), .samples(samples)], audio.format, plugin, settings)
        let events = analysis.stream.events.map { event in "\(event.time) \(AnalyzerEvent(event).map { "\($0)" } ?? "")" }
        return ["\(analysis.declared)"] + analysis.batches.map { "\($0.row)" } + events
    }

    @Test(arguments: [
        ("none", ""), ("none", ",block=300"), ("none", ",channels=mix,step=2000,parameters=gain=3+scale=cubed"), ("not_finite", ""),
    ])
    func `no fault: declaration, values and events of the plugin in this process, also after a gap`(fault: String, settings: String)
        async throws
    {
        let spec = try "\(VampFixtures.library(fault)):probe\(settings)"
        let expected = try await results(.vampHost, spec)
        #expect(expected.count > 100)
        #expect(try await results(.vampProcess(of: program), spec) == expected)
    }

    @Test(.needsVampSDK, arguments: ["amplitudefollower", "fixedtempo", "percussiononsets", "powerspectrum", "spectralcentroid"])
    func `example plugin: declaration, values and events of the plugin in this process`(plugin: String) async throws {
        let spec = "\(try #require(VampFixtures.examples)):\(plugin)"
        #expect(try await results(.vampProcess(of: program), spec) == results(.vampHost, spec))
    }

    @Test func `crash, from a file: a failure in one line`() throws {
        let outcome = try run("crashes_later", "")
        #expect(outcome.status == 1 && !outcome.wasKilled)
        #expect(
            outcome.errorLines == [
                "hemiola: sine: probed:probe: was ended by signal 11 (Segmentation fault); report it to the plugin's author, "
                    + "or set on_error=skip"
            ])
    }

    @Test func `crash, from a file with on_error=skip: null from there on, and a warning`() throws {
        let outcome = try run("crashes_later", ",on_error=skip")
        let batches = try batches(outcome)
        #expect(outcome.status == 0 && batches.count > 60 && batches == batches.indices.map { $0 < 20 })
        #expect(outcome.errorLines.count == 1 && outcome.errors.contains("signal 11") && outcome.errors.contains("null from here on"))
    }

    @Test func `crash, in real time: started again after a pause, every batch written, losses counted`() throws {
        let outcome = try run("crashes_later", "", Self.tone + ["--realtime"])
        let batches = try batches(outcome)
        #expect(outcome.status == 0 && batches.count > 60)
        // Values, none during the pause, values again.
        let first = try #require(batches.firstIndex(of: true))
        let pause = try #require(batches[first...].firstIndex(of: false))
        #expect(batches[pause...].contains(true))
        #expect(outcome.errors.contains("starting it again in 0.1 s"))
        #expect(outcome.lines.contains { $0.contains(#""type":"dropped""#) && $0.contains(#""sink":"vamp""#) })
    }

    @Test func `hang, from a file: a failure after timeout_s`() throws {
        let start = Date.now
        let outcome = try run("hangs_later", ",timeout_s=0.5")
        #expect(outcome.status == 1 && Date.now.timeIntervalSince(start) < 20)
        #expect(
            outcome.errorLines == [
                "hemiola: sine: probed:probe: has not answered a block for 0.5 s, and was ended; report it to the plugin's author, "
                    + "or set on_error=skip"
            ])
    }

    @Test func `library that crashes when it is loaded: an error of the configuration`() throws {
        let outcome = try run("crashes", "")
        #expect(outcome.status == 2 && !outcome.wasKilled)
        #expect(
            outcome.errorLines.first?.hasSuffix(
                "probed:probe: was ended by signal 6 (Aborted); report it to the plugin's author") == true, "\(outcome.errors)")
    }

    @Test(arguments: [
        (":nothing", "none", 2, "probed:probe has no output \"nothing\"; there are: Steps-1, beats, frames, notes"),
        (",parameters=gain=99", "none", 2, "probed:probe: \"99\" is not a value of gain; use a number within 0.0...10.0 dB"),
        ("", "no_instance", 1, "probed:probe refuses 44100 Hz; use another sample rate"),
        (",channel=9", "none", 1, "probed:probe: there is no channel 9, the input has 2; use another channel="),
    ])
    func `invalid settings, or a plugin that refuses: its message, in one line`(
        settings: String, fault: String, status: Int, message: String
    ) throws {
        let outcome = try run(fault, settings)
        #expect(outcome.status == Int32(status) && outcome.errorLines.first?.hasSuffix(": \(message)") == true, "\(outcome.errors)")
    }

    @Test func `plugin that prints: reported, and not in the records`() throws {
        let outcome = try run("prints", "")
        #expect(outcome.status == 0 && outcome.lines.allSatisfy { $0.hasPrefix("{") })
        #expect(outcome.errors.contains("a line of the plugin"))
    }

    @Test func `NaN: null, and the warning of the end`() throws {
        let outcome = try run("not_finite", "")
        #expect(outcome.status == 0 && outcome.errorLines.count == 1, "\(outcome.errors)")
        #expect(outcome.errors.contains("probed:probe has returned ") && outcome.errors.hasSuffix("NaN or infinite: written as null\n"))
    }
}
