internal import ArgumentParser
internal import Hemiola
internal import VampAnalyzer

struct PluginsCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "plugins",
        abstract: "List the plugins, or describe one: settings, examples, outputs.",
        usage: "hemiola plugins [<name>] [--json]\nhemiola plugins --vamp [--json]\nhemiola plugins new <package> [--sink]",
        discussion: """
            new makes a folder with a Swift package: an analyzer of your own, which the installed hemiola starts by the analyzer exec; \
            with --sink a program that reads records, for the sink exec. The commands that build and run it are printed, and in its README.

            --vamp loads each Vamp library in a process of its own: a library that crashes is reported as a warning.

            Examples:
              hemiola plugins
              hemiola plugins spectrum
              hemiola plugins --vamp
              hemiola plugins new my-meter
              hemiola plugins --json | jq -r '.[] | .id + ": " + .description'
            """)

    @Argument(help: ArgumentHelp("The id of the plugin to describe.", valueName: "name"), completion: Completions.plugin)
    var name: String?

    @Argument(help: ArgumentHelp("After new: the name of the package and its folder.", valueName: "package"))
    var package: String?

    @Flag(help: "After new: a sink instead of an analyzer.")
    var sink = false

    @Flag(help: "Print JSON: a list with one object per plugin.")
    var json = false

    @Flag(help: "List the installed Vamp plugins, for the analyzer vamp. Their outputs and parameters are listed too.")
    var vamp = false

    /// The library that a child process reads for `--vamp`.
    @Option(parsing: .unconditional, help: ArgumentHelp("The Vamp library to read.", visibility: .hidden))
    var vampLibrary: String?

    /// The settings of the Vamp plugin that a child process runs.
    @Option(parsing: .unconditional, help: ArgumentHelp("Run a Vamp plugin for another process.", visibility: .hidden))
    var runVamp: String?

    func validate() throws {
        if let package, name != "new" { throw ValidationError("unexpected argument '\(package)'") }
        if sink, package == nil { throw ValidationError("--sink applies to hemiola plugins new NAME") }
        if name == "new", package == nil { throw ValidationError("name the package, as in hemiola plugins new my-meter") }
        if vamp, name != nil { throw ValidationError("--vamp lists all Vamp plugins; leave out the name") }
    }

    func run(with registry: PluginRegistry, on console: Console) throws(Failure) -> CommandStatus {
        if let runVamp { AnalyzerPlugin.vampHost.serve(settings: runVamp) }
        if let vampLibrary { VampListing.list(vampLibrary) }
        if let package {
            let template = try PluginTemplate(package, isSink: sink)
            try template.write()
            return try Root.print(template.instructions)
        }
        let columns = FileDescriptor.standardOutput.columns
        if vamp {
            let (text, warnings) = VampListing.text(asJSON: json, columns: columns)
            for warning in warnings { console.warning(warning) }
            return try Root.print(text)
        }
        return try Root.print(text(with: registry, columns: columns))
    }

    func text(with registry: PluginRegistry, columns: Int = 80) throws(Failure) -> String {
        let pages = try name.map { name throws(Failure) in try PluginPage.pages(name, of: registry) } ?? PluginPage.all(of: registry)
        if json { return JSONValue.list(pages.map(\.json)).line }
        if name == nil { return PluginPage.list(pages) }
        return pages.map { $0.text(columns: min(max(columns, 40), 100)) }.joined(separator: "\n")
    }
}
