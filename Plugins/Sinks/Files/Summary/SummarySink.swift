public import Hemiola
internal import HemiolaFiles

extension SinkPlugin {
    /// Writes one record per stream: tags, tempo, loudness, and the statistics of each feature.
    public static let summary = SinkPlugin(
        PluginDescription(
            "summary", "One record per song: tags, duration, tempo, loudness, and the statistics of each feature.", primary: "path"),
        settings: SummarySettings.self,
        needs: { settings in
            Needs(
                standardOutput: OutputTarget(settings.path).isStandardOutput, events: [.beat, .gap], summaries: true,
                outputs: [Output(settings.path, replacesFile: !settings.appends)])
        },
        make: { settings throws(Problem) in
            let format = settings.format.resolved(at: settings.path)
            // A terminal and a pipe get each record when its file is finished.
            let flush: FlushPolicy = OutputTarget(settings.path).isSpecial ? .line : .auto
            let options = FileOptions(
                format == .csv ? .table : .lines, appends: settings.appends, flush: flush, compression: settings.compression,
                level: settings.level)
            let template = try options.template(settings.path, at: "path", isNumbered: false)
            return DocumentFile(template, options) { files, context in
                SummaryDocument(files[0], format, hasAlbums: !template.isPerInput, context)
            }
        })
}

struct SummarySettings: PluginSettings {
    var path: String
    var appends: Bool
    var format: SummaryFormat
    var compression: Compression
    var level: Int

    init(_ read: inout SettingReader) {
        path = read.text("path", default: "-", "Output file, or - for standard output. Placeholders: {stem}, {name}, {dir}, {time}.")
        appends = read.boolean("append", default: false, "Add rows to the file instead of replacing it.")
        format = read.choice(
            "format", default: SummaryFormat.auto,
            "Output format; text: aligned columns for people; auto: csv if the path ends in .csv or .csv.zst, else json.")
        compression = read.compression("Compress the file with zstd, not in real time; auto: if the path ends in .zst.")
        level = read.compressionLevel()
    }
}

/// The format of the output.
enum SummaryFormat: String, CaseIterable {
    /// By the extension of the path.
    case auto
    /// One JSON object per line.
    case json
    /// A table with a header row.
    case csv
    /// Aligned columns.
    case text

    /// The format of a file.
    func resolved(at path: String) -> SummaryFormat {
        guard self == .auto else { return self }
        let ending = PathTemplate.ending(of: path).lowercased()
        return ending == ".csv" || ending == ".csv.zst" ? .csv : .json
    }
}
