internal import ArgumentParser
internal import Hemiola
internal import HemiolaEngine

struct SchemaCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Print the JSON Schema of the output records, or the columns of a table of them.",
        usage: "hemiola schema [<options>]",
        discussion: """
            The JSON Schema describes the records of the default analyzers, or of those that --analyzer names, for files of \
            any sample rate and channel count.

            Examples:
              hemiola schema > hemiola.schema.json
              hemiola schema --columns
              hemiola schema --columns --analyzer levels
              hemiola schema --analyzer +spectrum:mfcc=13,as=timbre
              hemiola schema --columns --summary --select title,bpm
            """)

    @Flag(help: "Print the columns of a table of all records. Their types are generic, and those of DuckDB and pandas.")
    var columns = false

    @Flag(help: "Describe the records of \"analyze --summary\", one per file.")
    var summary = false

    @OptionGroup var analyzing: AnalyzerOptions

    @Option(
        help: ArgumentHelp(
            "Describe only these records, as in \"analyze --select\"; repeatable. Items are types, analyzers or features, and values with --summary.",
            valueName: "items"), completion: Completions.selection)
    var select: [String] = []

    func run(with registry: PluginRegistry, on console: Console) throws(Failure) -> CommandStatus {
        try Root.print(text(with: registry))
    }

    func text(with registry: PluginRegistry) throws(Failure) -> String {
        // A pipeline opens no file until it runs: any file name is accepted here.
        var builder = ConfigurationBuilder(registry, PipelineConfiguration(captures: [captureSpec(for: "-")]))
        try builder.setAnalyzers(analyzing.analyzers, adding: summary ? registry.summaryAnalyzers : [])
        try builder.select(select)
        // The selection is that of a sink.
        builder.configuration.sinks = [PluginSpec(summary ? "summary" : SinkPlugin.jsonLinesID)]
        let items = builder.configuration.selection
        let selection = items.isEmpty ? Selection.all : Selection(items: items, catalog: registry.catalog)
        let pipeline = try builder.assemble()
        var values = pipeline.summary
        // Starts analyzers that are other programs, whose outputs are not known before.
        if values?.isComplete == false { values?.complete(with: try pipeline.describedAnalyzers(for: PluginPage.format)) }
        if columns, let values { return SchemaText.columns(ofSummary: values) }
        let analyzers = try pipeline.describedAnalyzers(for: PluginPage.format)
        if columns { return SchemaText.columns(analyzers: analyzers, selection: selection, catalog: registry.catalog) }
        // The format of future input is unknown: whatever differs between two formats is left open in the schema.
        let other = try pipeline.describedAnalyzers(for: StreamFormat(sampleRate: 44_100, channelCount: 1))
        if let values { return SchemaText.jsonSchema(ofSummary: values, otherFormats: other) }
        return SchemaText.jsonSchema(analyzers: analyzers, otherFormats: other, selection: selection, catalog: registry.catalog)
    }
}

extension Pipeline {
    /// The analyzers with their outputs for a format.
    func describedAnalyzers(for format: StreamFormat) throws(Failure) -> [StreamHeader.Analyzer] {
        do {
            return try describeAnalyzers(for: format)
        } catch {
            throw Failure(error.message)
        }
    }
}
