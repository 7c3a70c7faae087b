public import Hemiola
internal import HemiolaFiles

extension SinkPlugin {
    /// A table with a row per batch, and one with a row per event.
    public static let csv = SinkPlugin(
        PluginDescription("csv", "A table with a row per batch, and one with a row per event.", primary: "path"),
        settings: CSVSettings.self,
        needs: { settings in
            let besides = OutputTarget(settings.path).descriptor == nil ? [TablePlaces.besides(settings.path)] : []
            let paths = [settings.path] + (settings.events.isEmpty ? besides : settings.events == "none" ? [] : [settings.events])
            // A selection may leave out any table but the first of two that lie beside each other.
            let replacesFirst = settings.options.replacesFile && settings.events.isEmpty
            return Needs(
                standardOutput: paths.contains { OutputTarget($0).isStandardOutput },
                outputs: paths.enumerated().map { Output($1, replacesFile: $0 == 0 && replacesFirst) })
        },
        make: { settings throws(Problem) in
            let options = settings.options
            let rows = try options.template(settings.path, at: "path")
            let places =
                switch settings.events {
                case "": TablePlaces(rows: rows, events: .beside)
                case "none": TablePlaces(rows: rows, events: .none)
                default: TablePlaces(rows: rows, events: .at(try options.template(settings.events, at: "events")))
                }
            if let problem = places.problem { throw Problem(problem, at: "events") }
            return DocumentFile(rows, options, paths: places.paths) { files, context in CSVDocument(files, context.records.selection) }
        })
}

struct CSVSettings: PluginSettings {
    var path: String
    var events: String
    var options: FileOptions

    init(_ read: inout SettingReader) {
        path = read.text(
            "path", default: "-", "The file to write, or - for standard output; {stem}, {name}, {dir}, {time} and {n} are placeholders.")
        events = read.text(
            "events", default: "", "The file for the events, or none; left empty, it lies beside the path's, as NAME.events.csv.")
        options = FileOptions(
            .table, &read, each: "row", append: "Add to files instead of replacing them.",
            compress: "Compress the files, not in real time; auto: each whose name ends in .zst.")
    }
}
