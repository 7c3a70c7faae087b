public import Hemiola
internal import HemiolaSignal

extension CommandLine {
    /// Does what the arguments say with the plugins of a registry, then ends the process with an exit code.
    ///
    /// The whole of an executable, with a plugin of one's own:
    ///
    ///     import Hemiola
    ///     import HemiolaCommandLine
    ///     import HemiolaPlugins
    ///
    ///     @main struct Main { static func main() async { await CommandLine.run(with: .standard.adding(sinks: [.mine])) } }
    public static func run(with registry: PluginRegistry) async -> Never {
        System.prepareProcess()
        let console = Console()
        let status = await Root.run(System.arguments, with: registry, on: console)
        console.finish()
        System.exit(status)
    }
}
