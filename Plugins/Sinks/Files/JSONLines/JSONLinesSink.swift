public import Hemiola
internal import HemiolaFiles

extension SinkPlugin {
    /// Writes one JSON object per line to standard output or a file.
    public static let jsonLines = SinkPlugin(
        PluginDescription("json-lines", "One JSON object per line, on standard output or in a file.", primary: "path"),
        settings: JSONLinesSettings.self,
        needs: { settings in
            Needs(
                standardOutput: OutputTarget(settings.path).isStandardOutput,
                outputs: [Output(settings.path, replacesFile: settings.options.replacesFile)])
        },
        make: { settings throws(Problem) in
            DocumentFile.records(at: try settings.options.template(settings.path, at: "path"), settings.options)
        })
}

struct JSONLinesSettings: PluginSettings {
    var path: String
    var options: FileOptions

    init(_ read: inout SettingReader) {
        path = read.text("path", default: "-", "Output file, or - for standard output. Placeholders: {stem}, {name}, {dir}, {time}, {n}.")
        options = FileOptions(
            .lines, &read, each: "line", append: "Append to the file instead of replacing it.",
            compress: "Compress the file with zstd, not in real time; auto: if the path ends in .zst.")
    }
}
