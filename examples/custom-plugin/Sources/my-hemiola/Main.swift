import HemiolaCommandLine
import HemiolaPlugins
import ZeroCrossings

@main struct Main { static func main() async { await CommandLine.run(with: .standard.adding(analyzers: [.zeroCrossings])) } }
