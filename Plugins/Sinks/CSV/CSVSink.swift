public import Hemiola
internal import HemiolaOutput

extension SinkPlugin {
    private static let path = Setting("path", default: "-", "The file to write, or - for standard output.")
    private static let events = Setting(
        "events", default: "", "The file for the events, or none; left empty, it lies beside the path's, as NAME.events.csv.")
    private static let appends = Setting("append", default: false, "Add to files instead of replacing them.")
    private static let flush = Setting(
        "flush", default: FlushPolicy.auto, "Write every row at once, or blocks of 64 KiB; auto: rows when live, else blocks.")
    private static let compress = Setting(
        "compress", default: CompressionChoice.auto, "Compress the files, or not; auto: each whose name ends in .zst.")
    private static let level = Setting(
        "level", default: Compression.standardLevel, in: Compression.levels, "How hard zstd tries: 1 is fastest, 19 smallest.")

    /// A table with a row per batch, and one with a row per event.
    public static let csv = SinkPlugin(
        "csv", "A table with a row per batch, and one with a row per event.",
        settings: [path.declared, events.declared, appends.declared, flush.declared, compress.declared, level.declared],
        primary: path.key,
        needs: { settings in
            Needs(standardOutput: [path, events].contains { OutputTarget(settings[$0]).isStandardOutput })
        },
        make: { settings throws(ConfigurationError) in
            guard !settings[path].isEmpty else {
                throw ConfigurationError("an empty path names no file; write - for standard output", at: path.key)
            }
            let places = TablePlaces(rows: settings[path], events: settings[events])
            guard !places.meet else {
                throw ConfigurationError("two tables cannot share one file; name another, or none", at: events.key)
            }
            let choice = settings[compress]
            let names = [settings[path]] + (places.explicitEvents.map { [$0.path] } ?? [])
            guard !settings[appends] || names.allSatisfy({ choice.compression(of: $0, level: 1) == nil }) else {
                throw ConfigurationError(
                    "nothing can be added to a compressed file, since a run that breaks off would hide what follows; "
                        + "write to a new file", at: appends.key)
            }
            return CSVWriter(
                places, appends: settings[appends], flush: settings[flush], compression: choice, level: settings[level])
        })
}

/// When rows leave the process.
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
