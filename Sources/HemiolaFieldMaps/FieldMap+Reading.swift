internal import Hemiola
internal import HemiolaRecords
public import HemiolaSystem

// Limits: the text has at most `maxByteCount` bytes, so that the time and the memory for a map are bounded too.

extension FieldMap {
    /// The largest map file, in bytes.
    public static let maxByteCount = 256 << 10
    /// The most entries of a map.
    public static let maxEntryCount = 1024
    /// The longest destination, in bytes.
    static let maxDestinationLength = 255
    /// The largest `every`.
    static let maxInterval = 1_000_000

    /// Reads the map that the setting `map` of a plugin names: a file, or a built-in map.
    ///
    /// - Parameters:
    ///   - place: A path, which contains a `/` or a `.`, or the name of a built-in map.
    ///   - direction: Whether it is a map of an output or of controls.
    /// - Throws: All problems of the file, or why it cannot be read, as problems with this setting.
    public static func load(_ place: String, _ direction: Direction = .output) throws(Problem) -> FieldMap {
        do {
            guard isPath(place) else { return try builtIn(place, direction) }
            let text = try String(decoding: bytes(ofFile: place), as: UTF8.self)
            return try FieldMap(text, title: PathText.shown(place).onOneLine, direction)
        } catch {
            throw Problem(error.all.map { Problem($0.message, at: "map") })
        }
    }

    /// Whether a setting names a file and not a built-in map.
    public static func isPath(_ place: String) -> Bool {
        place.contains("/") || place.contains(".")
    }

    private static func bytes(ofFile path: String) throws(Problem) -> [UInt8] {
        let title = PathText.shown(path).onOneLine
        let kind: FileKind
        let bytes: [UInt8]
        do {
            kind = try FileSystem.status(of: path).kind
            // Another kind may block or never end.
            bytes = kind == .file ? try FileSystem.bytes(of: path, count: maxByteCount + 1) : []
        } catch {
            throw Problem("\(title): \(error)")
        }
        guard kind == .file else { throw Problem("\(title): not a regular file; name a map in YAML") }
        guard bytes.count <= maxByteCount else {
            throw Problem("\(title): the map has more than \(maxByteCount >> 10) KiB; name a map in YAML")
        }
        guard String(validating: bytes, as: UTF8.self) != nil else { throw Problem("\(title): not UTF-8 text") }
        return bytes
    }

    /// Reads the text of a map.
    ///
    /// - Parameters:
    ///   - text: YAML.
    ///   - title: The file or the name of the map, for messages.
    ///   - direction: Whether it is a map of an output or of controls.
    /// - Throws: All problems of the text. Whether the names exist is known when they are resolved.
    public init(_ text: String, title: String, _ direction: Direction = .output) throws(Problem) {
        guard text.utf8.count <= Self.maxByteCount else {
            throw Problem("\(title): the map has more than \(Self.maxByteCount >> 10) KiB; name a map in YAML")
        }
        let root: YAMLNode?
        do {
            root = try YAMLNode.parse(text)
        } catch {
            throw Problem("\(title)\(error.place.map { ":\($0)" } ?? ""): \(error.message)")
        }
        try self.init(root, title: title, direction)
    }

    /// The direction of the text of a map: in a map of controls, entries begin with messages, such as `/fader/1` and `note.36`.
    ///
    /// - Returns: nil for a text that is not a list in YAML, and so no map.
    package static func direction(of text: String) -> Direction? {
        guard let root = try? YAMLNode.parse(text), case .list(let items) = root.content else { return nil }
        for item in items {
            guard case .map(let entries) = item.content else { continue }
            for entry in entries where entry.key == "from" || entry.key == "when" {
                guard case .value(.text(let text)) = entry.node.content else { continue }
                return text.hasPrefix("/") || MIDISource.isMessage(text) ? .input : .output
            }
        }
        return .output
    }

    /// Reads a parsed document.
    private init(_ root: YAMLNode?, title: String, _ direction: Direction) throws(Problem) {
        self.init(title: title, entries: [])
        guard let root, case .list(let items) = root.content else {
            let place = root.map { ":\($0.place)" } ?? ""
            throw Problem(
                "\(title)\(place): a field map is a list of entries, for example: - {from: beat.phase, to: /hemiola/phase}")
        }
        guard items.count <= Self.maxEntryCount else {
            throw Problem("\(title): the map has more than \(Self.maxEntryCount) entries")
        }
        var problems: [Problem] = []
        for (index, item) in items.enumerated() {
            var reader = EntryReader(direction: direction, title: title, path: "[\(index)]", place: item.place)
            let entry = reader.entry(item)
            problems += reader.problems
            if let entry { entries.append(entry) }
        }
        if !problems.isEmpty { throw Problem(problems) }
    }
}

/// Reads one entry and collects its problems.
private struct EntryReader {
    private static let keys = ["from", "value", "to", "when", "where", "every", "scale", "type"]

    let direction: FieldMap.Direction
    let title: String
    let path: String
    let place: TextPosition
    var problems: [Problem] = []

    init(direction: FieldMap.Direction, title: String, path: String, place: TextPosition) {
        self.direction = direction
        self.title = title
        self.path = path
        self.place = place
    }

    private mutating func report(_ message: String, _ key: String = "", at place: TextPosition? = nil) {
        let place = place ?? self.place
        problems.append(Problem("\(title):\(place): \(path)\(key.isEmpty ? "" : ".\(key)"): \(message)"))
    }

    mutating func entry(_ node: YAMLNode) -> FieldMap.Entry? {
        guard case .map(let items) = node.content else {
            report("\(node.shown) is not an entry; write {from: ANALYZER.FEATURE, to: DESTINATION}")
            return nil
        }
        var nodes: [String: YAMLNode] = [:]
        for item in items {
            guard Self.keys.contains(item.key) else {
                report("unknown key; \(item.key.suggestion(among: Self.keys, "keys"))", item.key.onOneLine, at: item.place)
                continue
            }
            nodes[item.key] = item.node
        }
        let trigger = trigger(nodes["when"])
        var source: FieldMap.Entry.Source?
        if direction == .input, nodes["from"] != nil, let when = nodes["when"] {
            report("from and when exclude each other: the value of a message, or the message alone", "when", at: when.place)
        }
        switch (nodes["from"], nodes["value"]) {
        case (.some, .some(let value)): report("from and value exclude each other", "value", at: value.place)
        case (.some(let node), nil): source = self.source(node, trigger)
        case (nil, .some(let node)):
            if case .value(let value) = node.content {
                source = .constant(value)
            } else {
                report("\(node.shown) is not a value", "value", at: node.place)
            }
        case (nil, nil):
            if case .record? = trigger {
                source = .allFields
            } else if trigger != nil, problems.isEmpty {
                let example = direction == .input ? "from: MESSAGE, or when: MESSAGE" : "from: ANALYZER.FEATURE, or when: RECORD"
                report("the key from is missing; add \(example)")
            }
        }
        if case .constant? = source, let trigger, !trigger.isRecord {
            report(
                direction == .input
                    ? "a value needs when: MESSAGE, the message with which it is submitted"
                    : "a value needs when: RECORD, the record with which it is sent")
        }
        let conditions = conditions(nodes["where"], trigger)
        let interval = interval(nodes["every"])
        let scale = scale(nodes["scale"])
        let type = type(nodes["type"])
        guard let destination = destination(nodes["to"]), let source, let trigger, problems.isEmpty else { return nil }
        return FieldMap.Entry(
            source, to: destination, when: trigger, scale: scale, type: type, where: conditions, every: interval,
            place: "\(title):\(place.line):\(place.column): \(path)")
    }

    // MARK: - Keys

    private mutating func trigger(_ node: YAMLNode?) -> FieldMap.Entry.Trigger? {
        guard let node else { return .batch }
        guard case .value(.text(let text)) = node.content, !text.isEmpty else {
            let expected = direction == .input ? "a message" : "the type of a record, or change"
            report("\(node.shown) is not \(expected)", "when", at: node.place)
            return nil
        }
        if direction == .input { return .record(text) }
        return text == "change" ? .change : .record(text)
    }

    private mutating func source(_ node: YAMLNode, _ trigger: FieldMap.Entry.Trigger?) -> FieldMap.Entry.Source? {
        guard case .value(.text(let text)) = node.content, !text.isEmpty else {
            let expected = direction == .input ? "a message" : "the name of a feature or of a field"
            report("\(node.shown) is not \(expected)", "from", at: node.place)
            return nil
        }
        if direction == .input { return .field(text) }
        guard let dot = text.firstIndex(of: ".") else {
            if trigger?.isRecord ?? true { return .field(text) }
            report("\"\(text.onOneLine)\" is no ANALYZER.FEATURE; a field of a record needs when: RECORD", "from", at: node.place)
            return nil
        }
        var feature = text[text.index(after: dot)...]
        var index: Int?
        if feature.hasSuffix("]"), let bracket = feature.firstIndex(of: "[") {
            guard let number = Int(feature[feature.index(after: bracket)...].dropLast()), number >= 0 else {
                report("\"\(text.onOneLine)\": the number in brackets is that of a value, from 0", "from", at: node.place)
                return nil
            }
            index = number
            feature = feature[..<bracket]
        }
        return .feature(analyzer: String(text[..<dot]), feature: String(feature), index: index)
    }

    private mutating func destination(_ node: YAMLNode?) -> String? {
        guard let node else {
            report("the key to is missing; add the destination")
            return nil
        }
        let text: String
        switch node.content {
        case .value(.text(let value)): text = value
        case .value(.integer(let number)): text = String(number)
        default:
            report("\(node.shown) is not a destination", "to", at: node.place)
            return nil
        }
        guard !text.isEmpty, text.utf8.count <= FieldMap.maxDestinationLength else {
            report("a destination has 1...\(FieldMap.maxDestinationLength) bytes", "to", at: node.place)
            return nil
        }
        return text
    }

    private mutating func scale(_ node: YAMLNode?) -> FieldMap.Entry.Scale? {
        guard let node else { return nil }
        guard case .list(let items) = node.content, items.count == 4 else {
            report("a scale is a list of four numbers: [input low, input high, output low, output high]", "scale", at: node.place)
            return nil
        }
        var numbers: [Double] = []
        for item in items {
            let number: Double? =
                switch item.content {
                case .value(.text(let text)): Double(text)
                case .value(let value): value.number
                default: nil
                }
            guard let number, number.isFinite else {
                report("\(item.shown) is not a number", "scale", at: item.place)
                return nil
            }
            numbers.append(number)
        }
        guard numbers[0] != numbers[1] else {
            report("the two ends of the input are equal", "scale", at: node.place)
            return nil
        }
        return FieldMap.Entry.Scale(from: numbers[0], numbers[1], to: numbers[2], numbers[3])
    }

    private mutating func type(_ node: YAMLNode?) -> FieldMap.Entry.ValueType? {
        guard let node else { return nil }
        if case .value(.text(let text)) = node.content, let type = FieldMap.Entry.ValueType(rawValue: text) { return type }
        let names = FieldMap.Entry.ValueType.allCases.map(\.rawValue).joined(separator: ", ")
        report("\(node.shown) is not a type; use one of \(names)", "type", at: node.place)
        return nil
    }

    private mutating func interval(_ node: YAMLNode?) -> Int {
        guard let node else { return 1 }
        if direction == .input {
            report("a control is submitted each time; every is for what is sent", "every", at: node.place)
        } else if case .value(.integer(let number)) = node.content, (1...FieldMap.maxInterval).contains(number) {
            return number
        } else {
            report("\(node.shown) is not a whole number from 1 to \(FieldMap.maxInterval)", "every", at: node.place)
        }
        return 1
    }

    private mutating func conditions(
        _ node: YAMLNode?, _ trigger: FieldMap.Entry.Trigger?
    ) -> [FieldMap.Entry.Condition] {
        guard let node else { return [] }
        guard case .map(let items) = node.content, !items.isEmpty else {
            report("\(node.shown) is not a map of fields and their values, for example: {position: 1}", "where", at: node.place)
            return []
        }
        if let trigger, !trigger.isRecord, direction == .output {
            report("where needs when: RECORD, whose fields it names", "where", at: node.place)
        }
        return items.compactMap { item in
            guard case .value(let value) = item.node.content else {
                report("\(item.node.shown) is not a value", "where", at: item.place)
                return nil
            }
            return FieldMap.Entry.Condition(item.key, is: value)
        }
    }
}

extension FieldMap.Entry.Trigger {
    /// Whether it is a type of record.
    var isRecord: Bool {
        if case .record = self { true } else { false }
    }
}
