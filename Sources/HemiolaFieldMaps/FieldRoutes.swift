internal import Hemiola
public import HemiolaRecords
internal import HemiolaSignal
public import HemiolaSystem

/// A field map whose names are resolved for a stream: gives the values of batches and events, converted, with their destinations.
///
/// Used by one thread at a time. A value that does not exist, such as a tempo that is not known yet, is not given.
public struct FieldRoutes: Sendable {
    /// A value is given with the number of its entry in the map.
    public typealias Receiver = (_ entry: Int, _ values: [ParameterValue]) -> Void

    fileprivate enum Input: Sendable {
        case feature(FeatureHandle)
        case slot(Int)
        case slots([Int])
        case constant(ParameterValue)
    }

    fileprivate struct Route: Sendable {
        var entry: Int
        var input: Input
        var scale: FieldMap.Entry.Scale?
        var type: FieldMap.Entry.ValueType?
        var onlyChanges = false
        /// The values sent last, for `onlyChanges`.
        var last: [ParameterValue] = []
        /// For records: the places of fields and what they have to be.
        var conditions: [(slot: Int, value: ParameterValue)] = []
        var interval: Int
        /// How often its value was there since it was sent last; 0: it is sent the next time.
        var count = 0
    }

    private var batchRoutes: [Route] = []
    private var recordRoutes: [String: [Route]] = [:]
    /// The row of the last batch, for the features that are sent with records; empty where there are none.
    private var lastRow: [Float] = []
    private var needsRow = false
    private var scratch: [ParameterValue] = []

    /// Resolves the names of a map.
    ///
    /// - Parameters:
    ///   - map: The map.
    ///   - header: The stream: its analyzers, and the declared records.
    ///   - check: Returns what is wrong with a destination; nil: nothing.
    /// - Throws: All entries with an unknown name or a wrong destination, as problems with the setting `map`.
    public init(
        _ map: FieldMap, for header: StreamHeader, checkingDestinations check: (String) -> String? = { _ in nil }
    ) throws(Problem) {
        var problems: [Problem] = []
        for (index, entry) in map.entries.enumerated() {
            if let problem = check(entry.destination) { problems.append(Problem("\(entry.prefix(in: map))to: \(problem)")) }
            switch Self.resolve(entry, index, header) {
            case .failure(let problem): problems.append(Problem("\(entry.prefix(in: map))\(problem)"))
            case .success(let route):
                if case .record(let type) = entry.trigger {
                    recordRoutes[type, default: []].append(route)
                    if case .feature = route.input { needsRow = true }
                } else {
                    batchRoutes.append(route)
                }
            }
        }
        if !problems.isEmpty { throw Problem(problems.map { Problem($0.message, at: "map") }) }
    }

    /// The types of records that the map sends.
    public var recordTypes: Set<String> { Set(recordRoutes.keys) }

    /// Gives the values that are sent with a batch, in the order of the map.
    public mutating func forEachValue(of batch: borrowing Batch, _ receive: Receiver) {
        guard batch.hasValues else { return }
        let row = batch.row
        var values = scratch
        for index in batchRoutes.indices where batchRoutes[index].read(row, into: &values) {
            if batchRoutes[index].onlyChanges {
                if batchRoutes[index].last == values { continue }
                batchRoutes[index].last = values
            }
            guard batchRoutes[index].isDue() else { continue }
            receive(batchRoutes[index].entry, values)
        }
        scratch = values
        if needsRow { lastRow = row.withUnsafeBufferPointer { Array($0) } }
    }

    /// Gives the values that are sent with an event, in the order of the map. Features are those of the last batch that was passed to
    /// `forEachValue(of:_:)`.
    public mutating func forEachValue(of event: Event, _ receive: Receiver) {
        guard var routes = recordRoutes[event.type.name] else { return }
        var values: [ParameterValue] = []
        for index in routes.indices {
            let route = routes[index]
            guard route.conditions.allSatisfy({ event[$0.slot].isSame(as: $0.value) }) else { continue }
            var isThere = false
            if case .feature = route.input {
                if !lastRow.isEmpty { isThere = route.read(lastRow.span, into: &values) }
            } else {
                isThere = route.read(event, into: &values)
            }
            if isThere, routes[index].isDue() { receive(route.entry, values) }
        }
        recordRoutes[event.type.name] = routes
    }
}

// MARK: - Resolving

extension FieldRoutes {
    private static func resolve(_ entry: FieldMap.Entry, _ index: Int, _ header: StreamHeader) -> Result<Route, Problem> {
        var record: RecordType?
        if case .record(let name) = entry.trigger {
            guard let type = header.catalog.event(name) else {
                let names = header.catalog.events.map(\.name) + ["change"]
                return .failure(Problem("when: there is no record \"\(name.onOneLine)\"; \(name.suggestion(among: names, "records"))"))
            }
            record = type
        }
        var route = Route(entry: index, input: .constant(.none), scale: entry.scale, type: entry.type, interval: entry.interval)
        route.onlyChanges = entry.trigger == .change
        switch entry.source {
        case .constant(let value): route.input = .constant(value)
        case .allFields:
            guard let record else { return .failure(Problem("from: is missing")) }
            route.input = .slots(record.fields.compactMap { record.slot(of: $0.name) })
        case .field(let name):
            guard let record else { return .failure(Problem("from: a field of a record needs when: RECORD")) }
            guard let slot = record.slot(of: name) else { return .failure(unknownField(name, of: record, "from")) }
            route.input = .slot(slot)
            let isText = record.fields.contains { $0.name == name && $0.isText }
            if isText, entry.scale != nil || entry.type != nil && entry.type != .text {
                return .failure(Problem("from: \(record.name).\(name) is text, which has no scale and no other type"))
            }
        case .feature(let analyzer, let feature, let number):
            switch handle(analyzer, feature, number, header) {
            case .failure(let problem): return .failure(problem)
            case .success(let handle): route.input = .feature(handle)
            }
            if entry.type == .text { return .failure(Problem("type: a feature is a number; use float or int")) }
        }
        for condition in entry.conditions {
            guard let record, let slot = record.slot(of: condition.field) else {
                if let record { return .failure(unknownField(condition.field, of: record, "where")) }
                return .failure(Problem("where: needs when: RECORD"))
            }
            if let field = record.fields.first(where: { $0.name == condition.field }), !canHave(condition.value, field) {
                return .failure(Problem("where: \(record.name).\(field.name) is never \(condition.value.text)\(hint(field))"))
            }
            route.conditions.append((slot, condition.value))
        }
        return .success(route)
    }

    /// Whether a field can have a value: a misspelt one would never be sent.
    private static func canHave(_ value: ParameterValue, _ field: Field) -> Bool {
        switch field.kind {
        case .choice(let texts): value.string.map(texts.contains) ?? (value == .none)
        case .integer, .number: value.number != nil || value == .none
        default: true
        }
    }

    private static func hint(_ field: Field) -> String {
        if case .choice(let texts) = field.kind { "; it is one of \(texts.joined(separator: ", "))" } else { "; it is a number" }
    }

    private static func handle(
        _ analyzer: String, _ feature: String, _ number: Int?, _ header: StreamHeader
    ) -> Result<FeatureHandle, Problem> {
        let analyzer = analyzer.recordName
        guard let section = header.layout.sections.first(where: { $0.analyzer == analyzer }) else {
            let names = header.layout.sections.map(\.analyzer)
            let hint = analyzer.nearest(in: names).map { "did you mean \($0)?" } ?? "add it: --analyzer +\(analyzer.onOneLine)"
            return .failure(Problem("from: this pipeline has no analyzer \"\(analyzer.onOneLine)\"; \(hint)"))
        }
        guard let column = section.features.first(where: { $0.feature.numberKey == feature }) else {
            let names = section.features.map { "\(analyzer).\($0.feature.numberKey)" }
            return .failure(
                Problem(
                    "from: \(analyzer) has no feature \"\(feature.onOneLine)\"; "
                        + "\(analyzer).\(feature)".suggestion(among: names, "features"))
            )
        }
        guard let number else { return .success(column.handle) }
        guard number < column.handle.count else {
            return .failure(Problem("from: \(analyzer).\(feature) has \(column.handle.count) values, of which the first is [0]"))
        }
        return .success(FeatureHandle(offset: column.handle.offset + number, count: 1))
    }

    private static func unknownField(_ name: String, of record: RecordType, _ key: String) -> Problem {
        let names = record.fields.filter { $0.source == .stored }.map(\.name)
        return Problem("\(key): the record \(record.name) has no field \"\(name.onOneLine)\"; \(name.suggestion(among: names, "fields"))")
    }
}

extension FieldMap.Entry {
    func prefix(in map: FieldMap) -> String {
        place.isEmpty ? "\(map.title): " : "\(place)."
    }
}

extension Field {
    fileprivate var isText: Bool {
        switch kind {
        case .text, .choice, .list(of: .text), .command: true
        default: false
        }
    }
}

extension ParameterValue {
    /// Whether a field has a value of a map: 1 and 1.0 are the same.
    func isSame(as other: ParameterValue) -> Bool {
        if let number, let other = other.number { return number == other }
        return self == other
    }
}

// MARK: - Values

extension FieldRoutes.Route {
    /// Counts a value.
    ///
    /// - Returns: Whether it is sent.
    fileprivate mutating func isDue() -> Bool {
        let isDue = count == 0
        count = count + 1 == interval ? 0 : count + 1
        return isDue
    }

    /// Reads the values of a row.
    ///
    /// - Returns: Whether all of them exist.
    fileprivate func read(_ row: Span<Float>, into values: inout [ParameterValue]) -> Bool {
        values.removeAll(keepingCapacity: true)
        guard case .feature(let handle) = input else { return appendConstant(to: &values) }
        for index in handle.offset..<handle.offset + handle.count {
            guard let value = converted(.number(Double(row[index]))) else { return false }
            values.append(value)
        }
        return true
    }

    fileprivate func read(_ event: Event, into values: inout [ParameterValue]) -> Bool {
        values.removeAll(keepingCapacity: true)
        switch input {
        case .slot(let slot):
            if let items = event[slot].items {
                for item in items {
                    guard let value = converted(item) else { return false }
                    values.append(value)
                }
                return true
            }
            guard let value = converted(event[slot]) else { return false }
            values.append(value)
            return true
        case .slots(let slots):
            for slot in slots { values.append(contentsOf: event[slot].items ?? [event[slot]]) }
            return true
        case .constant, .feature: return appendConstant(to: &values)
        }
    }

    private func appendConstant(to values: inout [ParameterValue]) -> Bool {
        guard case .constant(let value) = input, let value = converted(value) else { return false }
        values.append(value)
        return true
    }

    /// The value in the type of the entry; nil: there is none.
    private func converted(_ value: ParameterValue) -> ParameterValue? {
        let number: Double?
        switch value {
        case .none: return nil
        case .text, .list: return value
        case .boolean(let flag):
            if scale == nil, type == nil || type == .bool { return value }
            number = flag ? 1 : 0
        case .integer, .number: number = value.number
        }
        guard var number, number.isFinite else { return nil }
        if let scale { number = scale(number) }
        switch type {
        case .float: return .number(number)
        case .int: return .integer(Int(max(-1e15, min(1e15, number.rounded()))))
        case .bool: return .boolean(number >= 0.5)
        case .text: return .text(value.integer.map(String.init) ?? String(number))
        case nil:
            if scale == nil { return value }
            return .number(number)
        }
    }
}
