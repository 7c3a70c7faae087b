internal import Hemiola
internal import HemiolaFiles

/// Where the two tables go.
struct TablePlaces: Sendable {
    /// As the user set it.
    enum Events: Sendable {
        /// Beside the table of batches: `song.csv` → `song.events.csv`.
        case beside
        case none
        case at(PathTemplate)
    }

    private let path: PathTemplate
    private let eventsPlace: Events

    init(rows: PathTemplate, events: Events) {
        path = rows
        eventsPlace = events
    }

    /// Why these places cannot be; nil when they can.
    var problem: String? {
        guard case .at(let events) = eventsPlace else { return nil }
        let (one, other) = (path.target, events.target)
        if events.text == path.text || other.descriptor != nil && other.descriptor == one.descriptor {
            return "two tables cannot share one file; name another, or none"
        }
        if events.isPerInput != path.isPerInput, other.descriptor == nil || path.isPerInput {
            return "either both tables are those of one input or neither is; write {stem} into both paths"
        }
        return nil
    }

    /// The paths of the tables for which the selection has something: that of the batches first.
    func paths(_ context: SinkContext, _ expand: (PathTemplate) -> String) -> [String] {
        let hasRows = context.records.selection.contains("batch")
        let rows = hasRows ? [expand(path)] : []
        guard context.records.catalog.events.contains(where: { context.records.selection.contains($0.name) }) else { return rows }
        switch eventsPlace {
        case .none: return rows
        case .at(let events): return rows + [expand(events)]
        case .beside:
            let path = expand(path)
            // Without batches it is the only table, and takes their place.
            guard hasRows else { return [path] }
            return OutputTarget(path).isSpecial ? rows : rows + [Self.besides(path)]
        }
    }

    /// `song.csv` → `song.events.csv`, `song.csv.zst` → `song.events.csv.zst`, `song` → `song.events.csv`.
    static func besides(_ path: String) -> String {
        for ending in [".csv.zst", ".csv"] where path.hasSuffix(ending) {
            return path.dropLast(ending.count) + ".events" + ending
        }
        return path.hasSuffix(".zst") ? path.dropLast(4) + ".events.csv.zst" : path + ".events.csv"
    }
}
