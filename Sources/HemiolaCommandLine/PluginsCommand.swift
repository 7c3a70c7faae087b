internal import ArgumentParser
internal import Hemiola

/// `hemiola plugins [NAME]`
struct PluginsCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "plugins",
        abstract: "List the plugins, or describe one: settings, examples, outputs.",
        usage: "hemiola plugins [<name>] [--json]",
        discussion: """
            Examples:
              hemiola plugins
              hemiola plugins spectrum
              hemiola plugins --json | jq -r '.[] | .id + ": " + .description'
            """)

    @Argument(help: ArgumentHelp("The id of the plugin to describe.", valueName: "name"), completion: Completions.plugin)
    var name: String?

    @Flag(help: "Print JSON: a list with one object per plugin.")
    var json = false

    func run(with registry: PluginRegistry, on console: Console) async throws(Failure) -> CommandStatus {
        try Root.print(text(with: registry, columns: System.columns(of: System.standardOutput) ?? 80))
    }

    func text(with registry: PluginRegistry, columns: Int = 80) throws(Failure) -> String {
        let pages = try name.map { name throws(Failure) in try PluginPage.pages(name, of: registry) } ?? PluginPage.all(of: registry)
        if json { return JSONTree.list(pages.map(\.json)).line }
        if name == nil { return PluginPage.list(pages) }
        return pages.map { $0.text(columns: min(max(columns, 40), 100)) }.joined(separator: "\n")
    }
}
