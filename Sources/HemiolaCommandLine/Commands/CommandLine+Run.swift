public import Hemiola

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
        System.prepareProcess()
        System.guardProcess()
        AnalyzerService.setProgram("/proc/self/exe")
        let console = Console()
        let status = Root.run(System.arguments, with: registry, on: console)
        console.finish()
        System.exit(status)
    }
}
