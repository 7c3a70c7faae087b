import Hemiola
import HemiolaPlugins

@testable import HemiolaCommandLine

/// The plan of the arguments after `hemiola analyze`.
func plan(_ arguments: [String], registry: PluginRegistry = .standard) throws -> PipelinePlan {
    guard case .command(let command as AnalyzeCommand) = try Root.parsed(["analyze"] + arguments) else {
        throw Failure("no analyze command")
    }
    return try command.plan(with: registry)
}

func configuration(_ arguments: [String]) throws -> PipelineConfiguration {
    try plan(arguments).configuration
}

extension PipelineConfiguration {
    /// The paths of the captures.
    var paths: [String] { captures.compactMap { $0.primary?.text } }
}
