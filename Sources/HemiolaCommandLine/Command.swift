internal import ArgumentParser
internal import Hemiola

/// A subcommand of `hemiola`: add it to `Root.configuration` and it is there, with help and completion.
protocol Command: ParsableCommand {
    /// Does it, and says how it went.
    func run(with registry: PluginRegistry, on console: Console) async throws(Failure) -> CommandStatus
}
