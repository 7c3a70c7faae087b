public import HemiolaSystem

/// Which values of a ``SummaryRecord`` are written, and the columns of a table of them.
///
/// They follow from the analyzers of the pipeline and their settings, before there is an input: in a table, a list has as many values as
/// its feature has in a stereo stream at 48 kHz.
public struct SummarySelection: Sendable {
    /// A column of a table.
    public struct Column: Sendable {
        /// The path of its value in the record: `tags.artist`, `features.spectrum.bands_db.mean[0]`.
        public var name: String
        /// The declaration of the value, or of the list that has it.
        public var field: Field
    }

    private static let (summaries, features) = ("summaries.", "features.")
    /// The sections of a record that an item need not name, in the order in which they are searched.
    private static let sections = ["", summaries, features]
    private static let file = "file"
    private static let error = "error"

    private var analyzers: [StreamHeader.Analyzer]
    private let values: [StreamSummary.Section]
    /// The selected paths in the order of the items; nil: all.
    private var paths: [String]?
    /// The columns of a table: the file, the values in the order of the items, and the error.
    public private(set) var columns: [Column] = []

    /// Everything that a pipeline's summaries have.
    ///
    /// - Parameters:
    ///   - analyzers: The analyzers with their outputs. One that declares none, because it is another program that was not started, may
    ///     have any feature until `complete(with:)`.
    ///   - values: What they have for a whole stream. Only the names and kinds are read.
    public init(_ analyzers: [StreamHeader.Analyzer], _ values: [StreamSummary.Section]) {
        self.analyzers = analyzers
        self.values = values
        arrange()
    }

    /// Whether all values are selected.
    public var isAll: Bool { paths == nil }

    /// Whether the columns are known.
    public var isComplete: Bool { !analyzers.contains(where: isOpen) }

    private func isOpen(_ analyzer: StreamHeader.Analyzer) -> Bool {
        analyzer.outputs == AnalyzerOutputs() && !values.contains { $0.analyzer == analyzer.name }
    }

    /// Adds the outputs of analyzers that were not started before.
    public mutating func complete(with prepared: [StreamHeader.Analyzer]) {
        guard !isComplete else { return }
        analyzers = analyzers.map { analyzer in isOpen(analyzer) ? prepared.first { $0.name == analyzer.name } ?? analyzer : analyzer }
        arrange()
    }

    // MARK: - Items

    /// Selects values.
    ///
    /// - Parameters:
    ///   - items: Paths of values in the record, such as `duration_s` and `summaries.loudness.range_lu`, or beginnings of such paths.
    ///     `summaries.` and `features.` may be left out, and everything but the last part if one value outside `features` ends in it:
    ///     `title`. Of several, that of `rhythm` is meant: `bpm`.
    ///   - installed: Analyzers that the program has, for messages.
    /// - Throws: A problem for each item that is no value.
    public mutating func select(_ items: [String], installed: [String] = []) throws(Problem) {
        var found: [String] = []
        var problems: [Problem] = []
        for item in items {
            do { found.append(try path(of: item, installed: installed)) } catch { problems.append(error) }
        }
        if !problems.isEmpty { throw Problem(problems) }
        paths = found
        arrange()
    }

    /// The path of an item in the record, whether it is selected or not.
    ///
    /// - Parameters:
    ///   - item: As for ``select(_:installed:)``.
    ///   - installed: Analyzers that the program has, for the message.
    /// - Throws: That the item is no value, or the name of several values.
    public func path(of item: String, installed: [String] = []) throws(Problem) -> String {
        var nodes: [String] = [Self.file]
        var leaves: [String] = []
        var described: String?
        Self.forEachNode(of: allFields) { path, field in
            nodes.append(path)
            if field.kind.fields == nil, !path.hasPrefix(Self.features) {
                leaves.append(path)
                if described == nil, field.summary.hasWord(item) { described = path.lastPart }
            }
        }
        // An analyzer may be written as its plugin, whose name has hyphens.
        let key = item.recordName
        for section in Self.sections {
            if let node = nodes.first(where: { $0.recordName == section + key }) { return node }
        }
        let inFeatures = item.hasPrefix(Self.features) ? item : Self.features + item
        let analyzer = inFeatures.dropFirst(Self.features.count).prefix { $0 != "." }
        if analyzers.contains(where: { isOpen($0) && $0.name == analyzer }) { return inFeatures }
        let ends = leaves.filter { $0.lastPart.recordName == key }
        if let leaf = ends.count == 1 ? ends[0] : ends.first(where: { $0.hasPrefix("rhythm.") }) { return leaf }
        if !ends.isEmpty {
            let names = ends.map(\.withoutSection).joined(separator: ", ")
            throw Problem("\"\(item)\" is the name of several values of a summary; write one of: \(names)", at: Place(.select))
        }
        let isRunning = analyzers.contains { $0.name == analyzer.recordName }
        let hint =
            if !isRunning, let missing = installed.first(where: { $0.recordName == analyzer.recordName }) {
                "add the analyzer: --analyzer +\(missing)"
            } else if let name = described ?? item.nearest(in: leaves.map(\.lastPart) + nodes.map(\.withoutSection) + installed) {
                "did you mean \(name)?"
            } else {
                "\"hemiola schema --columns --summary\" lists all"
            }
        throw Problem("\"\(item)\" is not a value of a summary; \(hint)", at: Place(.select))
    }

    /// Whether a value, or a part of it, is selected.
    ///
    /// - Parameter path: Its path in the record: `features.levels.rms_db`.
    public func contains(_ path: String) -> Bool {
        guard let paths else { return true }
        return isWhole(path) || paths.contains { $0.hasPrefix(path + ".") }
    }

    /// Whether a value is selected by name that needs all songs of a folder.
    public var hasAlbumGain: Bool { !isAll && ["replaygain.album_gain_db", "replaygain.album_peak"].contains(where: contains) }

    /// Whether everything at a path is selected. The error always is.
    private func isWhole(_ path: String) -> Bool {
        guard let paths else { return true }
        return path == Self.error || paths.contains { path == $0 || path.hasPrefix($0 + ".") }
    }

    // MARK: - Fields

    private var allFields: [Field] { declaration(otherFormats: []).fields }

    private func declaration(otherFormats: [StreamHeader.Analyzer]) -> RecordSchema.Record {
        RecordSchema.summary(analyzers, values, otherFormats: otherFormats)
    }

    /// The declaration of the record with the selected fields.
    func record(otherFormats: [StreamHeader.Analyzer] = []) -> RecordSchema.Record {
        var record = declaration(otherFormats: otherFormats)
        record.fields = selected(record.fields)
        return record
    }

    private func selected(_ fields: [Field], below prefix: String = "") -> [Field] {
        fields.compactMap { field in
            let path = prefix + field.name
            if isWhole(path) { return field }
            guard let inner = field.kind.fields, contains(path) else { return nil }
            var field = field
            field.kind = .object(selected(inner, below: path + "."))
            return field
        }
    }

    private static func forEachNode(of fields: [Field], below prefix: String = "", _ body: (_ path: String, Field) -> Void) {
        for field in fields {
            body(prefix + field.name, field)
            forEachNode(of: field.kind.fields ?? [], below: prefix + field.name + ".", body)
        }
    }

    private mutating func arrange() {
        var all: [Column] = []
        Self.forEachNode(of: allFields) { path, field in
            if field.kind.fields != nil { return }
            // A list of no fixed count has no columns: there is none.
            let names = field.count.map { count in (0..<count).map { "\(path)[\($0)]" } } ?? [path]
            all += names.map { Column(name: $0, field: field) }
        }
        let file = [Column(name: Self.file, field: RecordSchema.path.fields[0])]
        guard let paths else {
            columns = file + all
            return
        }
        var taken: Set<String> = [Self.error]
        var chosen: [Column] = []
        for path in paths {
            let beginnings = [path + ".", path + "["]
            chosen += all.filter { column in
                (column.name == path || beginnings.contains(where: column.name.hasPrefix)) && taken.insert(column.name).inserted
            }
        }
        columns = file + chosen + all.filter { $0.name == Self.error }
    }

    // MARK: - Records

    /// The selected members of a record's object, after `type`, in the order of the record.
    public func members(of record: SummaryRecord) -> [JSONValue.Member] {
        let members = record.members
        let first = members.prefix { $0.key.hasPrefix(Self.file) }
        return first + selected(Array(members.dropFirst(first.count)))
    }

    /// The members of the object of an input of which nothing was analysed: the same keys, and null values.
    ///
    /// - Parameter failure: The input, and why it failed.
    public func members(of failure: InputEnd) -> [JSONValue.Member] {
        RecordSchema.path.members(of: (failure.file, failure.fileBytes))
            + record().fields.map { field in
                switch field.name {
                case "schema": .init(field.name, .integer(StreamHeader.schema))
                case "hemiola": .init(field.name, .text(HemiolaVersion.current))
                case "reason": .init(field.name, .text(StreamSummary.Reason.error.rawValue))
                case Self.error: .init(field.name, failure.error.map { .text($0) } ?? .null)
                default: .init(field.name, field.null)
                }
            }
    }

    private func selected(_ members: [JSONValue.Member], below prefix: String = "") -> [JSONValue.Member] {
        if isAll { return members }
        return members.compactMap { member in
            let path = prefix + member.key
            if isWhole(path) { return member }
            guard let inner = member.value.members, contains(path) else { return nil }
            return .init(member.key, .object(selected(inner, below: path + ".")))
        }
    }

    /// A row of a table: the values of ``columns`` in their order, null where a record does not have one.
    ///
    /// - Parameter members: Those of a record or of an input that failed: `members(of:)`.
    /// - Complexity: O(values).
    public func row(of members: [JSONValue.Member]) -> [JSONValue] {
        var values: [String: JSONValue] = [:]
        func add(_ value: JSONValue, at path: String) {
            switch value {
            case .object(let members): for member in members { add(member.value, at: "\(path).\(member.key)") }
            case .list(let elements): for (index, element) in elements.enumerated() { add(element, at: "\(path)[\(index)]") }
            default: values[path] = value
            }
        }
        for member in members { add(member.value, at: member.key) }
        return columns.map { values[$0.name] ?? .null }
    }
}

extension Field.Kind {
    /// The fields of an object; nil for any other kind.
    fileprivate var fields: [Field]? {
        if case .object(let fields) = self { fields } else { nil }
    }
}

extension Field {
    /// Null, or an object or a list of nulls.
    fileprivate var null: JSONValue {
        if let fields = kind.fields { return .object(fields.map { .init($0.name, $0.null) }) }
        return count.map { .list(Array(repeating: .null, count: $0)) } ?? .null
    }
}

extension StringProtocol {
    /// The part after the last dot.
    fileprivate var lastPart: String { lastIndex(of: ".").map { String(self[index(after: $0)...]) } ?? String(self) }

    fileprivate var withoutSection: String {
        let name = String(self)
        return ["summaries.", "features."].first(where: name.hasPrefix).map { String(name.dropFirst($0.count)) } ?? name
    }
}
