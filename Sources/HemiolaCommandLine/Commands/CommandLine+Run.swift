public import Hemiola
internal import VampAnalyzer

extension CommandLine {
    /// Runs the command of the process's arguments with the plugins of a registry, then ends the process with its exit code.
    ///
    /// A complete executable with one additional sink:
    ///
    ///     import Hemiola
    ///     import HemiolaCommandLine
    ///     import HemiolaPlugins
    ///
    ///     @main struct Main { static func main() { CommandLine.run(with: .standard.adding(sinks: [.mine])) } }
    public static func run(with registry: PluginRegistry) -> Never {
        CurrentProcess.begin()
        let console = Console()
        let status = Root.run(CurrentProcess.arguments, with: registry.runningVampPluginsItself, on: console)
        console.finish()
        CurrentProcess.exit(status.rawValue)
    }
}

extension PluginRegistry {
    /// This registry for a program that has the command line: no other one needs to be installed for Vamp plugins.
    fileprivate var runningVampPluginsItself: PluginRegistry {
        guard analyzers.contains(where: { $0.about.id == AnalyzerPlugin.vamp.about.id }) else { return self }
        return adding(analyzers: [.vampProcess(of: "/proc/self/exe")])
    }
}
