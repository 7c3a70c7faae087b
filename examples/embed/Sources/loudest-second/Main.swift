import Foundation
import Hemiola
import HemiolaEngine
import HemiolaPlugins

@main
struct Main {
    static func main() throws {
        guard let path = CommandLine.arguments.dropFirst().first else {
            fail("usage: loudest-second FILE")
        }

        // Registers the sink as a plugin, so that a configuration can name it.
        let registry = PluginRegistry.standard.adding(sinks: [
            SinkPlugin(PluginDescription("loudest", "The loudest second."), settings: NoSettings.self) { _ throws(Problem) in
                LoudestSecond { start, decibels in print(String(format: "%.2f s: %.1f dB", start, decibels)) }
            }
        ])

        // The whole configuration is checked before any plugin opens its input or output. The error lists all problems.
        let pipeline = try registry.assemble(
            PipelineConfiguration(
                captures: [PluginSpec("file", primary: .text(path))], analyzers: [PluginSpec("levels")],
                sinks: [PluginSpec("loudest")]))

        // The libraries do not print: events of the run are reported as notices.
        let outcome = pipeline.run { notice in
            if case .inputFailed(_, let error) = notice { fail(error.message) }
        }
        guard outcome.failedInputs == 0, outcome.failedSinks == 0 else { fail("\(path) was not completely analysed") }
    }

    static func fail(_ message: String) -> Never {
        FileHandle.standardError.write(Data("loudest-second: \(message)\n".utf8))
        exit(1)
    }
}
