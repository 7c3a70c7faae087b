internal import ArgumentParser
internal import Hemiola

struct DemoCommand: PipelineCommand {
    /// The tempo of the loop, in BPM.
    static let tempo = 174.0

    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Analyse generated music, shown on the terminal and in a browser: no file and no sound server needed.",
        usage: "hemiola demo [<options>]",
        discussion: """
            Generates a drum and bass loop at 174 BPM, analyses it in real time, and shows the view of "hemiola listen" and the page of \
            the sink web. The loop is not played: the page and the terminal show it without sound.

            In a desktop session, the page opens in the default browser, with a URL that is valid for this run. Otherwise, open the \
            URL that the terminal shows. To a pipe or a file, standard output is JSON Lines. The same seed gives the same loop and the \
            same records.

            Keys: q quits, ? shows all of them; they are those of "hemiola listen".

            Examples:
              hemiola demo
              hemiola demo --seed 7 --seconds 30
              hemiola demo --no-browser --seconds 10 | grep '"type":"beat"'

            To listen to the loop, write it to a file:
              hemiola analyze --capture tone:loop,seconds=30 --sink audio:loop.flac

            Exit codes: 0 success, also after q; 2 invalid arguments; 3 output could not be written; 130 ended by Ctrl-C. See \
            "hemiola --help".
            """)

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Duration in seconds, 0.1...86400. Default: until q or Ctrl-C.", valueName: "seconds"))
    var seconds: Double?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Seed of the loop, 0...2147483647; another seed gives other notes and hits.", valueName: "number"))
    var seed = 0

    @Flag(help: "Do not open the browser; the URL of the page is printed.")
    var noBrowser = false

    @OptionGroup var console: ConsoleOptions

    func validate() throws {
        if let seconds, !(0.1...86_400).contains(seconds) {
            throw ValidationError("--seconds: \(seconds) is outside 0.1...86400 seconds")
        }
        guard (0...2_147_483_647).contains(seed) else { throw ValidationError("--seed: \(seed) is outside 0...2147483647") }
    }

    /// The capture that generates the loop.
    var capture: PluginSpec {
        PluginSpec(
            "tone", primary: .text("loop"),
            settings: [
                "bpm": .number(Self.tempo), "seed": .integer(seed), "seconds": .number(seconds ?? 0), "level_db": .number(-3),
            ])
    }

    func run(with registry: PluginRegistry, on console: Console) throws(Failure) -> CommandStatus {
        var console = console
        var registry = registry
        var output = SinkPlugin.jsonLinesID
        if FileDescriptor.standardOutput.isScreen {
            output = SinkPlugin.terminalID
        } else if FileDescriptor.standardOutput.isTerminal {
            console = console.withBarOnStandardOutput()
            registry = registry.adding(sinks: [.liveLine(on: console)])
            output = SinkPlugin.liveLineID
        }
        let pipeline = try ConfigurationBuilder(registry, configuration(with: registry, output: output)).assemble()
        console.remark("a drum and bass loop at \(Int(Self.tempo)) BPM, generated and not played: there is no sound")
        return pipeline.run(on: console, showsProgress: false, saysEnd: output != SinkPlugin.jsonLinesID)
    }

    /// - Parameter output: The sink that uses standard output.
    private func configuration(with registry: PluginRegistry, output: String) -> PipelineConfiguration {
        var sinks = [PluginSpec(output)]
        // A program without SwiftNIO has no web server.
        if registry.sinks.contains(where: { $0.about.id == "web" }) {
            sinks.append(PluginSpec("web", settings: ["open": .boolean(!noBrowser)]))
        }
        return PipelineConfiguration(
            captures: [capture],
            analyzers: registry.defaultAnalyzers + (output == SinkPlugin.terminalID ? registry.viewAnalyzers : []), sinks: sinks,
            isPaced: true, seed: UInt64(seed))
    }
}
