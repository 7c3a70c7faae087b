public import Hemiola
internal import HemiolaSignal

extension CommandLine {
    /// Runs the command that the process's arguments name, with the plugins of a registry, and ends the process with its exit code.
    ///
    /// Call it from a synchronous `main`, on the main thread. A complete executable that adds a sink:
    ///
    ///     import Hemiola
    ///     import HemiolaCommandLine
    ///     import HemiolaPlugins
    ///
    ///     @main struct Main { static func main() { CommandLine.run(with: .standard.adding(sinks: [.mine])) } }
    public static func run(with registry: PluginRegistry) -> Never {
        System.prepareProcess()
        let mainThread = System.MainThread()
        Task(executorPreference: mainThread) {
            let console = Console()
            let status = await Root.run(System.arguments, with: registry, on: console)
            console.finish()
            System.exit(status)
        }
        mainThread.run()
    }
}
