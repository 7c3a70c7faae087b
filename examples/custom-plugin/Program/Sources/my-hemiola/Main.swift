import HemiolaCommandLine
import HemiolaPlugins
import MyPlugins

let mine = PluginRegistry.standard.adding(captures: [.metronome], analyzers: [.zeroCrossings], sinks: [.udp, .lamps])
@main struct Main { static func main() { CommandLine.run(with: mine) } }
