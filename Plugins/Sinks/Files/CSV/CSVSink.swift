public import Hemiola
internal import HemiolaFiles
internal import HemiolaSystem

extension SinkPlugin {
    private static let path = Setting(
        "path", default: "-", "The file to write, or - for standard output; {stem}, {name}, {dir}, {time} and {n} are placeholders.")
    private static let events = Setting(
        "events", default: "", "The file for the events, or none; left empty, it lies beside the path's, as NAME.events.csv.")
    private static let appends = Setting("append", default: false, "Add to files instead of replacing them.")
    private static let flush = FlushPolicy.setting(each: "row")
    private static let compress = CompressionChoice.setting("Compress the files, or not; auto: each whose name ends in .zst.")
    private static let level = CompressionChoice.level

    /// A table with a row per batch, and one with a row per event.
    public static let csv = SinkPlugin(
        "csv", "A table with a row per batch, and one with a row per event.",
        settings: [
            path.declared, events.declared, appends.declared, flush.declared, compress.declared, level.declared,
            FileRotation.secondsSetting.declared, FileRotation.megabytesSetting.declared,
        ],
        primary: "path",
        needs: { settings in
            let besides = OutputTarget(settings[path]).descriptor == nil ? [TablePlaces.besides(settings[path])] : []
            let paths = [settings[path]] + (settings[events].isEmpty ? besides : settings[events] == "none" ? [] : [settings[events]])
            // A selection may leave out any table but the first of two that lie beside each other.
            let replacesFirst = !settings[appends] && !FileRotation(settings).isOn && settings[events].isEmpty
            return Needs(
                standardOutput: paths.contains { OutputTarget($0).isStandardOutput },
                outputs: paths.enumerated().map { Output($1, replacesFile: $0 == 0 && replacesFirst) })
        },
        make: { settings throws(Problem) in
            let rotation = FileRotation(settings)
            let plan = OutputPlan(
                appends: settings[appends], flush: settings[flush], compression: settings[compress], level: settings[level],
                rotation: rotation, offersAppend: true, quotesLines: true)
            func template(_ setting: Setting<String>) throws(Problem) -> PathTemplate {
                try rotation.template(
                    PathTemplate(settings[setting], at: setting.key, isNumbered: true), appends: plan.appends)
            }
            let rows = try template(path)
            let places =
                switch settings[events] {
                case "": TablePlaces(rows: rows, events: .beside)
                case "none": TablePlaces(rows: rows, events: .none)
                default: TablePlaces(rows: rows, events: .at(try template(events)))
                }
            if let problem = places.problem { throw Problem(problem, at: events.key) }
            guard !plan.appends || places.templates.allSatisfy({ plan.compression.compression(of: $0.text) == nil }) else {
                throw Problem([.cannotAddToCompressed(at: appends.key, "write to a new file")])
            }
            return CSVWriter(places, plan)
        })
}
