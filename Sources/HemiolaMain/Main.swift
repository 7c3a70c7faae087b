import HemiolaCommandLine
import HemiolaPlugins

@main struct Main { static func main() async { await CommandLine.run(with: .standard) } }
