public import Hemiola

extension SinkPlugin {
    private static let path = Setting("path", default: "-", "The file to write, or - for standard output.")
    private static let appends = Setting("append", default: false, "Add to a file instead of replacing it.")
    private static let flush = Setting(
        "flush", default: FlushPolicy.auto, "Write every line at once, or blocks of 64 KiB; auto: lines when live, else blocks.")

    /// One JSON object per line, on standard output or in a file.
    public static let jsonLines = SinkPlugin(
        "json-lines", "One JSON object per line, on standard output or in a file.",
        settings: [path.declared, appends.declared, flush.declared], primary: path.key,
        needs: { settings in Needs(standardOutput: OutputTarget(settings[path]).isStandardOutput) },
        make: { settings throws(ConfigurationError) in
            guard !settings[path].isEmpty else {
                throw ConfigurationError("an empty path names no file; write - for standard output", at: path.key)
            }
            return LineWriter(OutputTarget(settings[path]), appends: settings[appends], flush: settings[flush])
        })
}

/// When lines leave the process.
enum FlushPolicy: String, SettingChoice {
    case auto, line, block
}
