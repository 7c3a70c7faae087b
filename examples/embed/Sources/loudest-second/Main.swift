import Foundation
import Hemiola
import HemiolaEngine
import HemiolaPlugins

@main
struct Main {
    static func main() async throws {
        guard let path = CommandLine.arguments.dropFirst().first else {
            fail("usage: loudest-second FILE")
        }

        // The sink becomes a plugin beside the built-in ones, so that a configuration can name it.
        let loudest = LoudestSecond()
        let registry = PluginRegistry.standard.adding(sinks: [
            SinkPlugin("loudest", "The loudest second.", make: { _ throws(ConfigurationError) in loudest })
        ])

        // A pipeline is checked as a whole before anything is opened; all that is wrong with it is in the error.
        let pipeline = try registry.assemble(
            PipelineConfiguration(
                captures: [PluginSpec("file", primary: .text(path))], analyzers: [PluginSpec("levels")],
                sinks: [PluginSpec("loudest")]))

        // Library code does not print: what befalls the run comes as notices.
        let outcome = await pipeline.run { notice in
            if case .captureFailed(_, let error) = notice { fail(error.message) }
        }
        guard outcome.failedInputs == 0, outcome.failedSinks == 0 else { fail("\(path) was not wholly analysed") }

        let (start, decibels) = await (loudest.start, loudest.decibels)
        print(String(format: "%.2f s: %.1f dB", start, decibels))
    }

    static func fail(_ message: String) -> Never {
        FileHandle.standardError.write(Data("loudest-second: \(message)\n".utf8))
        exit(1)
    }
}
