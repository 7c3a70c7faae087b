internal import ArgumentParser
internal import Hemiola

/// A subcommand of `hemiola`. `Root.configuration` lists all of them; help and completion follow from that list.
protocol Command: ParsableCommand {
    /// Runs the command and returns the exit status.
    func run(with registry: PluginRegistry, on console: Console) throws(Failure) -> CommandStatus
}
