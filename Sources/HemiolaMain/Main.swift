import HemiolaCommandLine
import HemiolaPlugins

@main struct Main { static func main() { CommandLine.run(with: .standard) } }
