internal import ArgumentParser
internal import Hemiola
internal import HemiolaEngine
internal import HemiolaFieldMaps

struct CheckCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Validate a pipeline file, a field map or the defaults file, or print it with all defaults.",
        usage: """
            hemiola check [<pipeline>] [--print] [--no-defaults]
            hemiola check --map <name> [--print]
            """,
        discussion: """
            The pipeline is built but not run: no file is opened except the pipeline file and the Vamp libraries that it names.

            Without <pipeline>, the defaults file of "hemiola listen" is validated: $XDG_CONFIG_HOME/hemiola/defaults.yaml, by default \
            ~/.config/hemiola/defaults.yaml. --print then prints the pipeline of "hemiola listen" with these defaults, as a pipeline \
            file.

            A field map, which is a list of entries, is validated against the features of all analyzers with their default settings, and \
            the declared records; a map of controls, whose entries begin with messages such as /fader/1 and note.36, against the declared \
            controls. A map is for the setting map of a sink or a control source: hemiola plugins osc.

            Examples:
              hemiola check pipeline.yaml
              hemiola check map.yaml
              hemiola check --map touchdesigner --print > map.yaml
              hemiola check pipeline.yaml --print > whole.yaml
              hemiola check --print

            Exit codes: 0 the file is valid, or there is no defaults file; 2 the file is invalid: one line per problem.
            """)

    @Argument(
        help: ArgumentHelp(
            "The pipeline file or field map; - is standard input. Default: the defaults file.", valueName: "pipeline"),
        completion: .file())
    var path: String?

    @Flag(help: "Print the pipeline as YAML with all defaults. A field map is printed as it is.")
    var print = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Validate a built-in field map: \(FieldMap.builtInNames().joined(separator: ", ")).", valueName: "name"))
    var map: String?

    @OptionGroup var defaults: DefaultsOptions

    func validate() throws {
        if path != nil, defaults.noDefaults {
            throw ValidationError("--no-defaults needs no pipeline file: pipeline files do not use the defaults file")
        }
        if map != nil, path != nil || defaults.noDefaults {
            throw ValidationError("--map is the name of a built-in field map, without a file and --no-defaults")
        }
    }

    func run(with registry: PluginRegistry, on console: Console) throws(Failure) -> CommandStatus {
        try Root.print(text(with: registry))
    }

    func text(with registry: PluginRegistry) throws(Failure) -> String {
        if let map { return try checked(map, with: registry) { () throws(Problem) in try FieldMap.text(ofBuiltIn: map) } }
        guard let path else { return try textOfDefaults(with: registry) }
        let title = CommandInput.title(of: path)
        let text = try PipelineFile.text(at: path, title: title)
        // A text that is no YAML is reported as a pipeline file.
        if let direction = FieldMap.direction(of: text) { return try checked(title, with: registry) { (direction, text) } }
        let file = try PipelineFile(checking: text, title: title, registry)
        return print ? try Self.text(of: ConfigurationBuilder(registry, file.configuration), title: title, registry) : "\(title): valid\n"
    }

    /// Resolves a field map against what the program declares.
    private func checked(
        _ title: String, with registry: PluginRegistry,
        _ read: () throws(Problem) -> (direction: FieldMap.Direction, text: String)
    ) throws(Failure) -> String {
        let pages = PluginPage.all(of: registry).filter { $0.role == .analyzer }
        let analyzers = pages.compactMap { page in
            (try? page.outputs?.get()).map {
                StreamHeader.Analyzer(name: page.about.id, id: page.about.id, version: page.about.version, parameters: [], outputs: $0)
            }
        }
        let header = StreamHeader(
            source: StreamSource(format: PluginPage.format, kind: "", name: ""), isLive: false, batching: .standard, seed: 0,
            analyzers: analyzers, catalog: registry.catalog)
        do {
            let (direction, text) = try read()
            let map = try FieldMap(text, title: title, direction)
            switch direction {
            case .output: _ = try FieldRoutes(map, for: header)
            case .input: _ = try ControlRoutes(map, controls: registry.catalog.controls)
            }
            return print ? text : "\(title): valid\n"
        } catch {
            throw Failure(error.all.map(\.message))
        }
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
        let builder = try listen.builder(with: registry, defaults: file)
        return "# hemiola listen; \(finding.onOneLine)\n" + (try Self.text(of: builder, title: "hemiola listen", registry))
    }

    /// The pipeline as a pipeline file.
    private static func text(of builder: ConfigurationBuilder, title: String, _ registry: PluginRegistry) throws(Failure) -> String {
        let pipeline = try builder.assemble()
        do {
            let analyzers = try pipeline.describeAnalyzers(for: PluginPage.format, startsExternals: false)
            return PipelineFile.text(builder.configuration, analyzers: analyzers, registry: registry)
        } catch {
            throw Failure("\(title): \(error.message)")
        }
    }
}
