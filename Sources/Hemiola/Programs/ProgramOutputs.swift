internal import HemiolaRecords
internal import HemiolaSignal
internal import HemiolaSystem

/// The outputs that a program declares in the first line of its output.
struct ProgramOutputs: Equatable {
    /// The columns, with their places in the row.
    private(set) var features: [(name: String, handle: FeatureHandle)] = []
    /// The record types and event outputs that the program may emit.
    private(set) var events: [String: RecordType] = [:]
    /// For the engine.
    private(set) var declared = AnalyzerOutputs()
    /// Whether the program reads hops as an analyzer gets them, and knows the time of the stream.
    private(set) var readsHops = false

    /// Limits, so that a program cannot make Hemiola use any amount of memory.
    static let maximumFeatures = 1024
    static let maximumWidth = 1 << 17
    static let maximumEvents = 1024
    /// Characters of a name, of a unit and of a description.
    static let longestName = 200
    static let longestUnit = 64
    static let longestDescription = 1000

    static func == (one: Self, other: Self) -> Bool { one.declared == other.declared && one.readsHops == other.readsHops }

    /// Reads a declaration: `{"outputs":[{"name":"rms_db","unit":"dBFS"}],"events":[{"name":"clap"}]}`.
    ///
    /// - Throws: What is wrong, in words that follow the program's name.
    init(_ line: [UInt8]) throws(Problem) {
        let value = try JSONValue(line: line)
        if let error = value["error"]?.string { throw .complete(error.onOneLine) }
        guard case .object(let members) = value else { throw Self.fault("is no JSON object") }
        for member in members where !["outputs", "events", "hops", "latency_frames", "causal"].contains(member.key) {
            throw Self.fault("has the unknown key \"\(member.key.prefix(Self.longestName))\"")
        }
        if let hops = value["hops"] {
            guard let flag = hops.flag else { throw Self.fault("has \"hops\" that are not true or false") }
            readsHops = flag
        }
        let outputs = try Self.list(value, "outputs", limit: Self.maximumFeatures)
        for output in outputs { try add(feature: output) }
        for event in try Self.list(value, "events", limit: Self.maximumEvents) { try add(event: event) }
        guard !outputs.isEmpty || !events.isEmpty else { throw Self.fault("declares neither \"outputs\" nor \"events\"") }
        if let latency = value["latency_frames"] {
            guard let frames = latency.integer, (0...1 << 24).contains(frames) else {
                throw Self.fault("has a \"latency_frames\" that is no whole number from 0 to \(1 << 24)")
            }
            declared.latencyFrames = Int64(frames)
        }
        if let causal = value["causal"] {
            guard let flag = causal.flag else { throw Self.fault("has a \"causal\" that is not true or false") }
            declared.isCausal = flag
        }
    }

    private mutating func add(feature value: JSONValue) throws(Problem) {
        let name = try Self.name(value, "outputs", keys: Self.featureKeys)
        guard name != "event", !features.contains(where: { $0.name == name }) else {
            throw Self.fault("declares the output \"\(name)\" " + (name == "event" ? ", which is the key of events" : "twice"))
        }
        var count: Int?
        if let given = value["count"] {
            guard let number = given.integer, (1...Self.maximumWidth).contains(number) else {
                throw Self.fault("declares the output \"\(name)\" with a \"count\" that is no whole number from 1 to \(Self.maximumWidth)")
            }
            count = number
        }
        let minimum = try Self.number(value, "minimum", of: name)
        let maximum = try Self.number(value, "maximum", of: name)
        if let minimum, let maximum, minimum > maximum { throw Self.fault("declares the output \"\(name)\" with minimum > maximum") }
        let aggregations: [String: Feature.Aggregation] = ["latest": .latest, "sum": .sum, "maximum": .maximum, "mean": .mean]
        let aggregationName = try Self.text(value, "aggregation", limit: Self.longestName, of: name) ?? "latest"
        guard let aggregation = aggregations[aggregationName] else {
            throw Self.fault(
                "declares the output \"\(name)\" with the aggregation \"\(aggregationName)\"; there are latest, sum, maximum, mean")
        }
        let unit = try Self.unit(value, of: name)
        let summary = try Self.text(value, "description", limit: Self.longestDescription, of: name) ?? "Computed by the program."
        var feature =
            count.map { Feature(name, unit, count: $0, aggregation: aggregation, summary) }
            ?? Feature(name, unit, aggregation: aggregation, summary)
        (feature.minimum, feature.maximum) = (minimum, maximum)
        guard declared.width + feature.count <= Self.maximumWidth else {
            throw Self.fault("declares more than \(Self.maximumWidth) values per block")
        }
        features.append((name, declared.add(feature)))
    }

    private mutating func add(event value: JSONValue) throws(Problem) {
        let name = try Self.name(value, "events", keys: ["name", "unit", "digits", "description"])
        guard events[name] == nil else { throw Self.fault("declares the event \"\(name)\" twice") }
        // Types of the plugin API; all others are records of type `event`.
        let type = [RecordType.onset, .beat].first { $0.name == name }
        events[name] = type ?? .analyzerEvent
        declared.add(
            EventOutput(
                name, try Self.unit(value, of: name),
                try Self.text(value, "description", limit: Self.longestDescription, of: name) ?? "Emitted by the program."))
    }

    // MARK: - Values of a declaration

    private static let featureKeys = ["name", "unit", "digits", "count", "minimum", "maximum", "aggregation", "description"]

    private static func fault(_ text: String) -> Problem { Problem("its first line \(text)") }

    private static func list(_ value: JSONValue, _ key: String, limit: Int) throws(Problem) -> [JSONValue] {
        guard let member = value[key] else { return [] }
        guard let list = member.elements else { throw fault("has \"\(key)\", which is no list") }
        guard list.count <= limit else { throw fault("has more than \(limit) \"\(key)\"") }
        return list
    }

    /// A name in snake case, as it is a key of records.
    private static func name(_ value: JSONValue, _ list: String, keys: [String]) throws(Problem) -> String {
        guard let members = value.members, let name = value["name"]?.string else {
            throw fault("has an item in \"\(list)\" without a \"name\"")
        }
        let isValid =
            name.utf8.count <= longestName && name.first?.isASCIILowercase == true
            && name.allSatisfy { $0.isASCIILowercase || $0.isASCII && $0.isNumber || $0 == "_" }
        guard isValid else {
            let shown = String(name.prefix(longestName)).onOneLine
            throw fault("has the name \"\(shown)\"; names are lower-case letters, digits and _, at most \(longestName)")
        }
        for member in members where !keys.contains(member.key) {
            let key = String(member.key.prefix(longestName)).onOneLine
            throw fault("declares \"\(name)\" with the unknown key \"\(key)\"; keys: \(keys.joined(separator: ", "))")
        }
        return name
    }

    private static func text(_ value: JSONValue, _ key: String, limit: Int, of name: String) throws(Problem) -> String? {
        guard let member = value[key] else { return nil }
        guard let text = member.string, text.count <= limit else {
            throw fault("declares \"\(name)\" with a \"\(key)\" that is no text of at most \(limit) characters")
        }
        return text.onOneLine
    }

    private static func unit(_ value: JSONValue, of name: String) throws(Problem) -> Unit {
        let unit = Unit(rawValue: try text(value, "unit", limit: longestUnit, of: name) ?? "")
        guard let digits = try text(value, "digits", limit: longestName, of: name) else { return unit }
        guard digits == "all" else { throw fault("declares \"\(name)\" with \"digits\" that are not \"all\"") }
        return unit.withAllDigits
    }

    private static func number(_ value: JSONValue, _ key: String, of name: String) throws(Problem) -> Double? {
        guard let member = value[key], member != .null else { return nil }
        guard let number = member.double else { throw fault("declares \"\(name)\" with a \"\(key)\" that is no number") }
        return number
    }
}

extension JSONValue {
    /// The value of a line that the program printed.
    init(line: [UInt8]) throws(Problem) {
        do {
            try self.init(line)
        } catch {
            let start = String(decoding: line.prefix(60), as: UTF8.self).onOneLine
            throw Problem("has printed a line that is not JSON (\(error.message)): \(start)\(line.count > 60 ? "…" : "")")
        }
    }
}

extension Character {
    fileprivate var isASCIILowercase: Bool { isASCII && ("a"..."z").contains(self) }
}
