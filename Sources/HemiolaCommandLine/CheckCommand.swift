internal import ArgumentParser
internal import Hemiola
internal import HemiolaEngine
internal import HemiolaSignal

/// `hemiola check [PIPELINE]`
struct CheckCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Validate a pipeline file or the defaults file, or print it with all defaults.",
        usage: "hemiola check [<pipeline>] [--print] [--no-defaults]",
        discussion: """
            The pipeline is built but not run: no file is opened except the pipeline file and the Vamp libraries that it names.

            Without <pipeline>, the defaults file of "hemiola listen" is validated: $XDG_CONFIG_HOME/hemiola/defaults.yaml, by default \
            ~/.config/hemiola/defaults.yaml. --print then prints the pipeline of "hemiola listen" with these defaults, as a pipeline \
            file.

            Examples:
              hemiola check pipeline.yaml
              hemiola check pipeline.yaml --print > whole.yaml
              sed s,song.flac,other.flac, pipeline.yaml | hemiola check -
              hemiola check --print

            Exit codes: 0 the file is valid, or there is no defaults file; 2 the file is invalid: one line per problem.
            """)

    @Argument(
        help: ArgumentHelp("The pipeline file; - is standard input. Default: the defaults file.", valueName: "pipeline"),
        completion: .file())
    var path: String?

    @Flag(help: "Print the pipeline as YAML with all defaults.")
    var print = false

    @OptionGroup var defaults: DefaultsOptions

    func validate() throws {
        if path != nil, defaults.noDefaults {
            throw ValidationError("--no-defaults needs no pipeline file: pipeline files do not use the defaults file")
        }
    }

    func run(with registry: PluginRegistry, on console: Console) async throws(Failure) -> CommandStatus {
        try Root.print(text(with: registry))
    }

    func text(with registry: PluginRegistry) throws(Failure) -> String {
        guard let path else { return try textOfDefaults(with: registry) }
        let plan = try PipelinePlan(registry, pipelineFile: path)
        let title = System.title(of: path)
        return print ? try Self.text(of: plan, title: title, registry) : "\(title): valid\n"
    }

    private func textOfDefaults(with registry: PluginRegistry) throws(Failure) -> String {
        let state = defaults.noDefaults ? .noPath : DefaultsFile.state(registry)
        var file: DefaultsFile?
        let finding: String
        switch state {
        case .noPath where defaults.noDefaults: finding = "the built-in defaults"
        case .noPath: finding = "no defaults file: neither XDG_CONFIG_HOME nor HOME is set"
        case .missing(let path): finding = "no defaults file: \(PathText.shown(path)) does not exist"
        case .valid(let defaults):
            file = defaults
            finding = "\(PathText.shown(defaults.path)): valid"
        case .invalid(_, let lines): throw Failure(lines)
        }
        guard print else { return "\(finding)\n" }
        let listen = try ListenCommand.withoutOptions()
        let plan = try listen.plan(with: registry, defaults: file, showsLine: false)
        return "# hemiola listen; \(finding.onOneLine)\n" + (try Self.text(of: plan, title: "hemiola listen", registry))
    }

    /// The pipeline as a pipeline file.
    private static func text(of plan: PipelinePlan, title: String, _ registry: PluginRegistry) throws(Failure) -> String {
        let pipeline = try plan.assemble()
        do throws(AnalyzerError) {
            let analyzers = try pipeline.describeAnalyzers(for: PluginPage.format, startsExternals: false)
            return PipelineFile.text(plan.configuration, analyzers: analyzers, registry: registry)
        } catch {
            throw Failure("\(title): \(error.message)")
        }
    }
}
