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
                outputs: [Output(settings.path, replacesFile: !settings.appends && !settings.rotation.isOn)])
        },
        make: { settings throws(Problem) in
            let template = try settings.rotation.template(
                PathTemplate(settings.path, at: "path", isNumbered: true), appends: settings.appends)
            let options = FileOptions(
                appends: settings.appends, flush: settings.flush, compression: settings.compression, level: settings.level,
                rotation: settings.rotation)
            guard !settings.appends || options.compression.compression(of: template.text) == nil else {
                throw Problem([
                    .cannotAddToCompressed(at: "append", "write to a new file and join them: cat NEW.zst >> OLD.zst")
                ])
            }
            return DocumentFile.records(at: template, options)
        })
}

struct JSONLinesSettings: PluginSettings {
    var path: String
    var appends: Bool
    var flush: FlushPolicy
    var compression: CompressionChoice
    var level: Int
    var rotation: FileRotation

    init(_ read: inout SettingReader) {
        path = read.text("path", default: "-", "Output file, or - for standard output. Placeholders: {stem}, {name}, {dir}, {time}, {n}.")
        appends = read.boolean("append", default: false, "Append to the file instead of replacing it.")
        flush = read.flushPolicy(each: "line")
        compression = read.compressionChoice("Compress the file with zstd, not in real time; auto: if the path ends in .zst.")
        level = read.compressionLevel()
        rotation = FileRotation(&read)
    }
}
