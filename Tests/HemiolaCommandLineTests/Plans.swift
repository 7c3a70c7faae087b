import ArgumentParser
import Hemiola
import HemiolaPlugins

@testable import HemiolaCommandLine

/// The command of the arguments after its name.
func command<Parsed: Command>(_: Parsed.Type, _ arguments: [String]) throws -> Parsed {
    guard case .command(let command as Parsed) = try Root.parsed([Parsed.configuration.commandName ?? ""] + arguments) else {
        throw Failure("\(arguments) is not a \(Parsed.self)")
    }
    return command
}

/// The configuration of the arguments after `hemiola analyze`.
func builder(_ arguments: [String], registry: PluginRegistry = .standard) throws -> ConfigurationBuilder {
    try command(AnalyzeCommand.self, arguments).builder(with: registry)
}

func configuration(_ arguments: [String]) throws -> PipelineConfiguration {
    try builder(arguments).configuration
}

extension PipelineConfiguration {
    /// The paths of the captures.
    var paths: [String] { captures.compactMap { $0.primary?.text } }
}
