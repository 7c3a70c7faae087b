import Hemiola
import HemiolaPlugins

@testable import HemiolaCommandLine

/// The configuration of the arguments after `hemiola analyze`.
func builder(_ arguments: [String], registry: PluginRegistry = .standard) throws -> ConfigurationBuilder {
    guard case .command(let command as AnalyzeCommand) = try Root.parsed(["analyze"] + arguments) else {
        throw Failure("no analyze command")
    }
    return try command.builder(with: registry)
}

func configuration(_ arguments: [String]) throws -> PipelineConfiguration {
    try builder(arguments).configuration
}

extension PipelineConfiguration {
    /// The paths of the captures.
    var paths: [String] { captures.compactMap { $0.primary?.text } }
}
