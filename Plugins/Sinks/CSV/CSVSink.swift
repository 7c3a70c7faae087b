public import Hemiola
internal import HemiolaOutput
internal import HemiolaRecords

extension SinkPlugin {
    private static let path = Setting("path", default: "-", "The file to write, or - for standard output.")
    private static let events = Setting(
        "events", default: "", "The file for the events, or none; left empty, it lies beside the path's, as NAME.events.csv.")
    private static let appends = Setting("append", default: false, "Add to files instead of replacing them.")
    private static let flush = FlushPolicy.setting(each: "row")
    private static let compress = CompressionChoice.setting("Compress the files, or not; auto: each whose name ends in .zst.")
    private static let level = CompressionChoice.level

    /// A table with a row per batch, and one with a row per event.
    public static let csv = SinkPlugin(
        "csv", "A table with a row per batch, and one with a row per event.",
        settings: [path.declared, events.declared, appends.declared, flush.declared, compress.declared, level.declared],
        primary: path.key,
        needs: { settings in
            Needs(standardOutput: [path, events].contains { OutputTarget(settings[$0]).isStandardOutput })
        },
        make: { settings throws(ConfigurationError) in
            guard !settings[path].isEmpty else { throw ConfigurationError([.emptyPath(at: path.key)]) }
            let places = TablePlaces(rows: settings[path], events: settings[events])
            guard !places.meet else {
                throw ConfigurationError("two tables cannot share one file; name another, or none", at: events.key)
            }
            let choice = settings[compress]
            let names = [settings[path]] + (places.explicitEvents.map { [$0.path] } ?? [])
            guard !settings[appends] || names.allSatisfy({ choice.compression(of: $0) == nil }) else {
                throw ConfigurationError([.cannotAddToCompressed(at: appends.key, "write to a new file")])
            }
            return CSVWriter(
                places, appends: settings[appends], flush: settings[flush], compression: choice, level: settings[level])
        })
}
