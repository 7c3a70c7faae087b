internal import ArgumentParser
internal import Hemiola
internal import HemiolaEngine
internal import HemiolaSignal

/// `hemiola run PIPELINE`
struct RunCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run a pipeline from a YAML file.",
        usage: "hemiola run <pipeline> [--controls <records>] [--quiet] [--verbose]",
        discussion: """
            The keys of a pipeline file. inputs or captures is required; all others are optional:

              inputs: [song.flac]            # paths, relative to the working directory
              captures: ["tone:clicks"]      # capture plugins, with or without inputs
              analyzers:                     # default: levels, spectrum, visualizer, beat
                - levels
                - {id: spectrum, bands: 32, as: coarse}
              sinks:                         # default: JSON Lines on standard output
                - {id: json-lines, path: song.jsonl}
              batch: 1024                    # frames per batch
              rate: 48000                    # in Hz, for live captures; or native
              realtime: false                # process at real-time speed
              whole_file: false              # read the whole file before writing results
              seed: 0                        # seed of the random number generators
              jobs: 1                        # files in parallel; 0: one per processor
              select: [levels, end]          # write only these records
              sync: false                    # fsync output files before exiting

            A plugin is a SPEC as on the command line (id:key=value,key=value) or a map. The file is one YAML 1.2 document in \
            UTF-8 of at most 8 MiB. Duplicate keys, anchors, aliases and tags are errors.

            Examples:
              hemiola run pipeline.yaml
              hemiola run pipeline.yaml --controls recorded.jsonl
              sed s/song.flac/other.flac/ pipeline.yaml | hemiola run -

            "hemiola check" validates a file, or prints it with all defaults. "hemiola plugins" lists the settings of each plugin.

            Exit codes: 0 success; 1 at least one input failed or was incomplete; 2 the pipeline file is invalid; 3 output could \
            not be written. See "hemiola --help".
            """)

    @Argument(help: ArgumentHelp("The pipeline file; - is standard input.", valueName: "pipeline"), completion: .file())
    var path: String

    @OptionGroup var replay: ReplayOptions

    @OptionGroup var console: ConsoleOptions

    func run(with registry: PluginRegistry, on console: Console) async throws(Failure) -> CommandStatus {
        let plan = try PipelinePlan(registry, pipelineFile: path)
        if path == "-" && replay.controls == "-" {
            throw Failure("standard input cannot be both the pipeline and the controls; use a file for one of them")
        }
        let replay = try self.replay.read(registry.catalog)
        try plan.checkThatNoInputIsOverwritten()
        return await PipelineSession(
            try plan.assemble(), usesStandardOutput: plan.usesStandardOutput, replay: replay,
            console: console.with(self.console.verbosity)
        ).run()
    }
}

/// `hemiola check PIPELINE`
struct CheckCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Validate a pipeline file, or print it with all defaults.",
        usage: "hemiola check <pipeline> [--print]",
        discussion: """
            The pipeline is built but not run: no file except the pipeline file is opened.

            Examples:
              hemiola check pipeline.yaml
              hemiola check pipeline.yaml --print > whole.yaml
              sed s,song.flac,other.flac, pipeline.yaml | hemiola check -

            Exit codes: 0 the file is valid; 2 the file is invalid: one line per problem.
            """)

    @Argument(help: ArgumentHelp("The pipeline file; - is standard input.", valueName: "pipeline"), completion: .file())
    var path: String

    @Flag(help: "Print the pipeline as YAML with all defaults.")
    var print = false

    func run(with registry: PluginRegistry, on console: Console) async throws(Failure) -> CommandStatus {
        try Root.print(text(with: registry))
    }

    func text(with registry: PluginRegistry) throws(Failure) -> String {
        let plan = try PipelinePlan(registry, pipelineFile: path)
        let pipeline = try plan.assemble()
        guard print else { return "\(System.title(of: path)): valid\n" }
        do throws(AnalyzerError) {
            let analyzers = try pipeline.describeAnalyzers(for: PluginPage.format)
            return PipelineFile.text(plan.configuration, analyzers: analyzers, registry: registry)
        } catch {
            throw Failure("\(System.title(of: path)): \(error.message)")
        }
    }
}

extension PipelinePlan {
    /// Reads a pipeline file and builds it once.
    ///
    /// - Throws: One line per problem: `pipeline.yaml:7:5: sinks[1].period_s: …`.
    init(_ registry: PluginRegistry, pipelineFile path: String) throws(Failure) {
        let title = System.title(of: path)
        let bytes: [UInt8]
        do {
            // One byte above the limit is enough to detect a file that is too large.
            bytes = try System.contents(of: path, atMost: YAMLNode.maxByteCount + 1)
        } catch {
            throw Failure("cannot read \(title): \(error)")
        }
        guard bytes.count <= YAMLNode.maxByteCount else { throw Failure(Self.line(title, nil, YAMLNode.SyntaxError.size.message)) }
        guard let text = String(validating: bytes.withoutByteOrderMark, as: UTF8.self) else {
            throw Failure("\(title): not UTF-8 text")
        }
        try self.init(registry, pipeline: text, title: title)
    }

    init(_ registry: PluginRegistry, pipeline text: String, title: String) throws(Failure) {
        let file: PipelineFile
        do {
            file = try PipelineFile(text, registry: registry)
        } catch {
            throw Failure(Self.line(title, error.place, error.message))
        }
        var problems = file.problems
        do throws(ConfigurationError) {
            _ = try registry.assemble(file.configuration)
        } catch {
            problems += error.problems.compactMap(file.located)
        }
        guard problems.isEmpty else {
            let lines = problems.map { (place: file.place(of: $0.path), text: $0.description) }
            // In the order of the file, so that they can be fixed from top to bottom.
            let order = lines.indices.sorted { one, other in
                let (first, second) = (lines[one].place, lines[other].place)
                return (first?.line ?? .max, first?.column ?? .max, one) < (second?.line ?? .max, second?.column ?? .max, other)
            }
            throw Failure(order.map { Self.line(title, lines[$0].place, lines[$0].text) })
        }
        self.init(registry, file.configuration)
    }

    private static func line(_ title: String, _ place: YAMLNode.Place?, _ message: String) -> String {
        "\(title)\(place.map { ":\($0.line):\($0.column)" } ?? ""): \(message)"
    }
}
