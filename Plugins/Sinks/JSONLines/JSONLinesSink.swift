public import Hemiola
internal import HemiolaOutput

extension SinkPlugin {
    private static let path = Setting("path", default: "-", "The file to write, or - for standard output.")
    private static let appends = Setting("append", default: false, "Add to a file instead of replacing it.")
    private static let flush = Setting(
        "flush", default: FlushPolicy.auto, "Write every line at once, or blocks of 64 KiB; auto: lines when live, else blocks.")
    private static let compress = Setting(
        "compress", default: CompressionChoice.auto, "Compress the file, or not; auto: when the path ends in .zst.")
    private static let level = Setting(
        "level", default: Compression.standardLevel, in: Compression.levels, "How hard zstd tries: 1 is fastest, 19 smallest.")

    /// One JSON object per line, on standard output or in a file.
    public static let jsonLines = SinkPlugin(
        "json-lines", "One JSON object per line, on standard output or in a file.",
        settings: [path.declared, appends.declared, flush.declared, compress.declared, level.declared], primary: path.key,
        needs: { settings in Needs(standardOutput: OutputTarget(settings[path]).isStandardOutput) },
        make: { settings throws(ConfigurationError) in
            guard !settings[path].isEmpty else {
                throw ConfigurationError("an empty path names no file; write - for standard output", at: path.key)
            }
            let compression = settings[compress].compression(of: settings[path], level: settings[level])
            guard !settings[appends] || compression == nil else {
                throw ConfigurationError(
                    "nothing can be added to a compressed file, since a run that breaks off would hide what follows; "
                        + "write to a new file and join them: cat NEW.zst >> OLD.zst", at: appends.key)
            }
            return LineWriter(
                OutputTarget(settings[path]), appends: settings[appends], flush: settings[flush], compression: compression)
        })
}

/// When lines leave the process.
enum FlushPolicy: String, SettingChoice {
    case auto, line, block
}

/// Whether they are compressed there.
enum CompressionChoice: String, SettingChoice {
    case auto, none, zstd

    func compression(of path: String, level: Int) -> Compression? {
        self == .zstd || self == .auto && Compression.isAsked(by: path) ? Compression(level: level) : nil
    }
}
