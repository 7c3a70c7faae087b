internal import ArgumentParser
internal import Hemiola

/// A subcommand of `hemiola`. `Root.configuration` lists all of them; help and completion follow from that list.
protocol Command: ParsableCommand {
    /// The messages that its options request.
    var verbosity: Console.Verbosity { get }

    /// Runs the command and returns the exit status.
    func run(with registry: PluginRegistry, on console: Console) throws(Failure) -> CommandStatus
}

extension Command {
    var verbosity: Console.Verbosity { Console.Verbosity() }
}

/// A command that runs a pipeline.
protocol PipelineCommand: Command {
    var console: ConsoleOptions { get }
}

extension PipelineCommand {
    var verbosity: Console.Verbosity { console.verbosity }
}
