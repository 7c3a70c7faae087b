internal import ArgumentParser
internal import Hemiola
internal import HemiolaEngine
internal import HemiolaSignal

/// `hemiola run PIPELINE`
struct RunCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run the pipeline that a YAML file describes.",
        usage: "hemiola run <pipeline> [--controls <records>] [--quiet] [--verbose]",
        discussion: """
            A pipeline file, all of its keys optional but captures or inputs:

              inputs: [song.flac]            # paths, relative to the working directory
              captures: ["tone:clicks"]      # besides them, or instead: plugins as SPECs or maps
              analyzers:                     # instead of the default ones
                - levels
                - {id: spectrum, bands: 32, as: coarse}
              sinks:                         # unset: JSON Lines on standard output
                - {id: json-lines, path: song.jsonl}
              batch: 1024                    # frames
              rate: 48000                    # a wish to live captures, or native
              realtime: false
              whole_file: false              # analyzers look at it all before they answer
              seed: 0
              jobs: 1                        # files at a time; 0: one per processor
              select: [levels, end]
              sync: false                    # files are on the disk (fsync) when it ends

            The file is one YAML 1.2 document of at most 8 MiB in UTF-8, each key given once, without anchors, aliases and tags.

            Examples:
              hemiola run pipeline.yaml
              hemiola run pipeline.yaml --controls recorded.jsonl
              sed s/song.flac/other.flac/ pipeline.yaml | hemiola run -

            Settings that are not given have their defaults. "hemiola check" tells what is wrong with a file, or prints it \
            with all defaults filled in; "hemiola plugins" tells which settings there are.

            Exit codes: 0 all is well; 1 some input could not be analysed, or not wholly; 2 the file is wrong; 3 output could \
            not be written. See "hemiola --help".
            """)

    @Argument(help: ArgumentHelp("The pipeline file; - is standard input.", valueName: "pipeline"), completion: .file())
    var path: String

    @OptionGroup var replay: ReplayOptions

    @OptionGroup var console: ConsoleOptions

    func run(with registry: PluginRegistry, on console: Console) async throws(Failure) -> CommandStatus {
        let plan = try PipelinePlan(registry, pipelineFile: path)
        if path == "-" && replay.controls == "-" {
            throw Failure("standard input cannot be both the pipeline and the controls; give one of them a name")
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
        abstract: "Tell all that is wrong with a pipeline file, or print it with its defaults.",
        usage: "hemiola check <pipeline> [--print]",
        discussion: """
            Everything is built and nothing is touched: no file is opened but the pipeline's own.

            Examples:
              hemiola check pipeline.yaml
              hemiola check pipeline.yaml --print > whole.yaml
              sed s,song.flac,other.flac, pipeline.yaml | hemiola check -

            Exit codes: 0 all is well; 2 something is wrong: a line per problem.
            """)

    @Argument(help: ArgumentHelp("The pipeline file; - is standard input.", valueName: "pipeline"), completion: .file())
    var path: String

    @Flag(help: "Print the pipeline as it will run, with all defaults filled in, as YAML.")
    var print = false

    func run(with registry: PluginRegistry, on console: Console) async throws(Failure) -> CommandStatus {
        try Root.print(text(with: registry))
    }

    func text(with registry: PluginRegistry) throws(Failure) -> String {
        let plan = try PipelinePlan(registry, pipelineFile: path)
        let pipeline = try plan.assemble()
        guard print else { return "\(System.title(of: path)): all is well\n" }
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
    /// - Throws: All that is wrong with it, a line per problem: `pipeline.yaml:7:5: sinks[1].period_s: …`.
    init(_ registry: PluginRegistry, pipelineFile path: String) throws(Failure) {
        let title = System.title(of: path)
        let bytes: [UInt8]
        do {
            // One byte more than a document may have: enough to see that it is larger.
            bytes = try System.contents(of: path, atMost: YAMLNode.maxByteCount + 1)
        } catch {
            throw Failure("cannot read \(title): \(error)")
        }
        guard bytes.count <= YAMLNode.maxByteCount else { throw Failure(Self.line(title, nil, YAMLNode.SyntaxError.size.message)) }
        guard let text = String(validating: bytes.withoutByteOrderMark, as: UTF8.self) else {
            throw Failure("\(title) is no text in UTF-8")
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
            // In the order of the file, so that they can be worked through from top to bottom.
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
