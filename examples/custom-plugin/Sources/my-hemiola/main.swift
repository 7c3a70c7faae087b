import HemiolaCommandLine
import HemiolaPlugins
import MyPlugins

CommandLine.run(
    with: .standard.adding(
        captures: [.metronome], analyzers: [.zeroCrossings], sinks: [.udp, .meter, .lamps], controls: [.lines]))
