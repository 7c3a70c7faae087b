import AnalysisSupport
import Foundation
import Hemiola
import HemiolaEngine
import HemiolaTesting
import Synchronization
import TestSupport
import Testing

@testable import VampAnalyzer

/// Libraries and programs that tests compile.
enum VampFixtures {
    private static let root = Repository.root.path
    private static let folder = try! TemporaryFolder()
    private static let built = Mutex<[String: String]>([:])

    /// The library of Debian's package vamp-examples; nil: not installed.
    static let examples = VampFolders.path(of: "vamp-example-plugins")
    static let hasSDK = FileManager.default.fileExists(atPath: "/usr/include/vamp-hostsdk/PluginLoader.h")

    /// The path of the test library `plugin.c`, with a fault.
    static func library(_ fault: String = "none", isSpectral: Bool = false) throws -> String {
        let name = "probe-\(fault)\(isSpectral ? "-spectral" : "").so"
        return try build(name) {
            [
                "cc", "-shared", "-fPIC", "-w", "-DFAULT=\(fault)", "-I\(root)/Libraries/CVamp", "-o", $0,
                "\(root)/Plugins/Analyzers/Vamp/Tests/Libraries/plugin.c", "-lm",
            ] + (isSpectral ? ["-DSPECTRAL"] : [])
        }
    }

    /// The reference host.
    static func host() throws -> String {
        try build("reference-host") {
            ["g++", "-O1", "-o", $0, "\(root)/Plugins/Analyzers/Vamp/Tests/reference-host.cpp", "-lvamp-hostsdk", "-ldl"]
        }
    }

    /// The host that calls the functions of a library in the wrong order.
    static func carelessHost() throws -> String {
        try build("careless-host") {
            ["cc", "-O1", "-I\(root)/Libraries/CVamp", "-o", $0, "\(root)/Plugins/Analyzers/Vamp/Tests/careless-host.c", "-ldl"]
        }
    }

    private static func build(_ name: String, _ command: (String) -> [String]) throws -> String {
        try built.withLock { built in
            if let path = built[name] { return path }
            let path = folder(name)
            let outcome = try ChildProcess.run("/usr/bin/env", command(path))
            try #require(outcome.status == 0, "\(outcome.errors)")
            built[name] = path
            return path
        }
    }
}

extension Trait where Self == ConditionTrait {
    /// Requires a C compiler.
    static var needsCompiler: Self { .enabled(if: Tool.program("cc").isExpected, "cc is not installed") }

    /// Requires the host library of the Vamp SDK and its example plugins.
    static var needsVampSDK: Self {
        .enabled(
            if: Tool.isStrict || VampFixtures.hasSDK && VampFixtures.examples != nil && Tool.program("g++").isThere,
            "g++ or one of the packages vamp-plugin-sdk and vamp-examples is not installed")
    }
}

/// A feature: a time, a duration, values, a label.
struct TestFeature: Equatable {
    /// nil: that of a step, which a batch does not state.
    var time: Double?
    var duration: Double?
    var values: [Float] = []
    var label = ""
}

extension Analysis {
    var declared: AnalyzerOutputs { stream.header.analyzers[0].outputs }

    /// All features of an output: those in batches, then those of events.
    func features(_ output: String, binCount: Int) -> [TestFeature] {
        var found: [TestFeature] = []
        if declared.features.contains(where: { $0.name == output }) {
            for batch in values(output) {
                for first in stride(from: 0, to: batch.count, by: binCount) {
                    let values = Array(batch[first..<first + binCount])
                    if !values.allSatisfy(\.isNaN) { found.append(TestFeature(values: values)) }
                }
            }
        }
        return found + events(output)
    }

    /// The events of an output.
    func events(_ output: String) -> [TestFeature] {
        stream.events.compactMap { event in
            guard let value = AnalyzerEvent(event), value.output == output else { return nil }
            return TestFeature(
                time: event.time, duration: value.duration, values: value.values.map { Float($0) }, label: value.label)
        }
    }
}

/// The notices of a run with one analyzer.
func notices(of audio: Audio, _ settings: String) async throws -> [String] {
    let sink = CollectingSink()
    let registry = PluginRegistry(
        captures: [.scripted(format: audio.format, [.samples(audio.samples)])], analyzers: [.vampHost], sinks: [.collecting(sink)])
    let configuration = PipelineConfiguration(
        captures: [PluginSpec("scripted")], analyzers: [try PluginSpec(parsing: "vamp:\(settings)")], sinks: [PluginSpec("collecting")])
    let pipeline = try registry.assemble(configuration)
    let texts = Mutex<[String]>([])
    _ = await pipeline.run { notice in
        if case .finished = notice { return }
        texts.withLock { $0.append(notice.text) }
    }
    return texts.withLock { $0 }
}
