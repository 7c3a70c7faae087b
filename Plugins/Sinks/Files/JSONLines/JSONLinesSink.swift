public import Hemiola
internal import HemiolaFiles
internal import HemiolaSystem

extension SinkPlugin {
    private static let path = Setting(
        "path", default: "-", "Output file, or - for standard output. Placeholders: {stem}, {name}, {dir}, {time}, {n}.")
    private static let appends = Setting("append", default: false, "Append to the file instead of replacing it.")
    private static let flush = FlushPolicy.setting(each: "line")
    private static let compress = CompressionChoice.setting("Compress the file with zstd; auto: if the path ends in .zst.")
    private static let level = CompressionChoice.level

    /// Writes one JSON object per line to standard output or a file.
    public static let jsonLines = SinkPlugin(
        "json-lines", "One JSON object per line, on standard output or in a file.",
        settings: [
            path.declared, appends.declared, flush.declared, compress.declared, level.declared, FileRotation.secondsSetting.declared,
            FileRotation.megabytesSetting.declared,
        ],
        primary: "path",
        needs: { settings in
            let replacesFile = !settings[appends] && !FileRotation(settings).isOn
            return Needs(
                standardOutput: OutputTarget(settings[path]).isStandardOutput,
                outputs: [Output(settings[path], replacesFile: replacesFile)])
        },
        make: { settings throws(Problem) in
            let rotation = FileRotation(settings)
            let template = try rotation.template(
                PathTemplate(settings[path], at: path.key, isNumbered: true), appends: settings[appends])
            let plan = OutputPlan(
                appends: settings[appends], flush: settings[flush], compression: settings[compress], level: settings[level],
                rotation: rotation, offersAppend: true)
            guard !plan.appends || plan.compression.compression(of: template.text) == nil else {
                throw Problem([
                    .cannotAddToCompressed(at: appends.key, "write to a new file and join them: cat NEW.zst >> OLD.zst")
                ])
            }
            return RecordFile(template, plan)
        })
}
