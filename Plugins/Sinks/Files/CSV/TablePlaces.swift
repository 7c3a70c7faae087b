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

    /// The paths that the user named.
    var templates: [PathTemplate] {
        if case .at(let events) = eventsPlace { [path, events] } else { [path] }
    }

    /// Whether every input has tables of its own.
    var isPerInput: Bool { path.isPerInput }

    /// Whether paths contain the number of the file.
    var isNumbered: Bool { templates.allSatisfy(\.isNumbered) }

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

    /// The paths of the tables for which a selection has something.
    ///
    /// - Parameter expand: What a template stands for.
    func paths(_ wanted: TablesWanted, _ expand: (PathTemplate) -> String) -> (rows: String?, events: String?) {
        let rows = expand(path)
        guard wanted.events else { return (wanted.rows ? rows : nil, nil) }
        switch eventsPlace {
        case .none: return (wanted.rows ? rows : nil, nil)
        case .at(let events): return (wanted.rows ? rows : nil, expand(events))
        case .beside:
            // Without batches it is the only table, and takes their place.
            guard wanted.rows else { return (nil, rows) }
            return (rows, OutputTarget(rows).isSpecial ? nil : Self.besides(rows))
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

/// Which tables a selection has something for.
struct TablesWanted: Sendable {
    var rows: Bool
    var events: Bool
}
