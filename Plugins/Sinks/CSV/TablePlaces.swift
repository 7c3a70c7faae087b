internal import HemiolaOutput

/// Where the two tables go.
struct TablePlaces: Sendable {
    private let path: OutputTarget
    private let eventsSetting: String

    /// - Parameter events: As the user set it: a path, `none`, or nothing.
    init(rows: String, events: String) {
        path = OutputTarget(rows)
        eventsSetting = events
    }

    /// The file that the user named for the events.
    var explicitEvents: OutputTarget? {
        eventsSetting.isEmpty || eventsSetting == "none" ? nil : OutputTarget(eventsSetting)
    }

    /// Whether both would be written to one place.
    var meet: Bool {
        guard let events = explicitEvents else { return false }
        return events == path || events.descriptor != nil && events.descriptor == path.descriptor
    }

    /// The table of batches; nil when none are selected.
    func rows(_ wanted: TablesWanted) -> OutputTarget? {
        wanted.rows ? path : nil
    }

    /// The table of events. Without batches it is the only one, and takes their place.
    func events(_ wanted: TablesWanted) -> OutputTarget? {
        guard wanted.events, eventsSetting != "none" else { return nil }
        if let explicitEvents { return explicitEvents }
        guard wanted.rows else { return path }
        return path.isSpecial ? nil : OutputTarget(Self.besides(path.path))
    }

    /// `song.csv` → `song.events.csv`, `song.csv.zst` → `song.events.csv.zst`, `song` → `song.events.csv`.
    static func besides(_ path: String) -> String {
        for ending in [".csv.zst", ".csv"] where path.hasSuffix(ending) {
            return path.dropLast(ending.count) + ".events" + ending
        }
        return path.hasSuffix(".zst") ? path.dropLast(4) + ".events.csv.zst" : path + ".events.csv"
    }
}

/// Which tables a selection has something for.
struct TablesWanted: Sendable {
    var rows: Bool
    var events: Bool
}
