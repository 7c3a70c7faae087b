internal import HemiolaSignal
internal import HemiolaSystem

extension RecordDecoder {
    /// Decodes the record of an event.
    mutating func event(_ name: String, _ record: JSONValue, _ header: StreamHeader) throws(Problem) -> Record {
        let time = try record.time("t", header.format)
        if name == RecordType.control.name {
            let stamped = StampedControl(
                try control(record), at: try record.count("frame"), from: try record.text("from"))
            return .event(Event(at: time, stamped), emitted: nil)
        }
        guard let type = catalog.event(name) else { return try undeclaredEvent(name, record, header, time) }
        var event = Event(at: time, type)
        var emitted: Double?
        for (field, slot) in zip(type.fields, type.slots) {
            guard let value = record[field.name] else { continue }
            if field.source == .emittedTime { emitted = try record.time(field.name, header.format) }
            guard slot >= 0 else { continue }
            guard let decoded = field.value(of: value) else { throw Problem("\"\(field.name)\" has another type") }
            event[slot] = decoded
        }
        event.time = try exactTime(time, type, record, emitted, header.format)
        return .event(event, emitted: emitted)
    }

    /// The time for which `t` and the fields that depend on it have the text of the record.
    ///
    /// `t` and `due_in_s` are rounded to microseconds, `frame` to a whole number: each leaves an interval, and the time lies in all of them.
    private func exactTime(
        _ time: Double, _ type: RecordType, _ record: JSONValue, _ emitted: Double?, _ format: StreamFormat
    ) throws(Problem) -> Double {
        let half = 0.5e-6
        var (low, high) = (time - half, time + half)
        for field in type.fields {
            switch field.source {
            case .frame:
                guard let frame = try record.optionalNumber(field.name) else { continue }
                low = max(low, (frame - 0.5) / Double(format.sampleRate))
                high = min(high, (frame + 0.5) / Double(format.sampleRate))
            case .timeUntilEvent:
                guard let emitted, let due = try record.optionalNumber(field.name) else { continue }
                let end = format.seconds(at: format.frame(at: emitted))
                low = max(low, end + due - half)
                high = min(high, end + due + half)
            default: continue
            }
        }
        // The record of a time with fewer decimals stays exact.
        if low <= time, time <= high, time - low > 1e-9, high - time > 1e-9 { return time }
        return low < high ? (low + high) / 2 : time
    }

    // MARK: - Controls

    private mutating func control(_ record: JSONValue) throws(Problem) -> Control {
        let name = try record.text("control")
        if let type = catalog.control(name) {
            return try Control(type) { field in record[field.name].flatMap { field.value(of: $0) } }
        }
        note(undeclared: name)
        let own = ["type", "file", "file_base64", "t", "frame", "control", "from"]
        let members = (record.members ?? []).filter { !own.contains($0.key) }
        let (fields, values) = try inferredFields(members)
        let type = ControlType(name, "A control of another program.", fields: fields)
        return try Control(type) { field in values[fields.firstIndex { $0.name == field.name } ?? 0] }
    }

    // MARK: - Undeclared types

    private mutating func undeclaredEvent(
        _ name: String, _ record: JSONValue, _ header: StreamHeader, _ time: Double
    ) throws(Problem) -> Record {
        note(undeclared: name)
        let members = (record.members ?? []).filter { !["type", "file", "file_base64", "t"].contains($0.key) }
        try Self.checkCount(of: members)
        let emitted = record["emitted_t"]?.double == nil ? nil : try record.time("emitted_t", header.format)
        var fields: [Field] = []
        var stored: [(place: Int, value: ParameterValue)] = []
        for member in members {
            guard !fields.contains(where: { $0.name == member.key }) else { throw Problem("\"\(member.key)\" occurs twice") }
            switch member.key {
            case "frame" where Self.isFrame(member.value, at: time, header.format): fields.append(.frame)
            case "emitted_t" where emitted != nil: fields.append(.emittedTime)
            case "due_in_s" where emitted != nil && member.value.double != nil: fields.append(.timeUntilEvent)
            default:
                if let frames = Self.frames(of: member, in: members, header.format) {
                    fields.append(.seconds(member.key, ofFramesIn: frames, Self.summary))
                } else {
                    let own = try inferredFields([member])
                    stored.append((fields.count, own.values[0]))
                    fields += own.fields
                }
            }
        }
        // An event stores a few values; texts may be part of its type.
        let hasConstants = stored.count > Event.capacity
        while stored.count > Event.capacity, let index = stored.firstIndex(where: { $0.value.string != nil }) {
            let (place, value) = stored.remove(at: index)
            fields[place] = .constant(fields[place].name, value.string ?? "", Self.summary)
        }
        guard stored.count <= Event.capacity else { throw Problem("the record has more than \(Event.capacity) fields") }
        let type = hasConstants ? RecordType(name, Self.summary, fields: fields) : inferredType(name, fields)
        var event = Event(at: time, type)
        for (slot, stored) in stored.enumerated() { event[slot] = stored.value }
        event.time = try exactTime(time, type, record, emitted, header.format)
        return .event(event, emitted: emitted)
    }

    private static let summary = "A record of another program."

    /// Whether a value is the frame of a time.
    private static func isFrame(_ value: JSONValue, at time: Double, _ format: StreamFormat) -> Bool {
        guard case .integer(let frame) = value else { return false }
        return abs(Double(frame) - time * Double(format.sampleRate)) < 1
    }

    /// The member with the same duration in frames; nil: a member is not the duration of a number of frames.
    private static func frames(of member: JSONValue.Member, in members: [JSONValue.Member], _ format: StreamFormat) -> String? {
        guard member.key.hasSuffix("_s"), case .number(let seconds, _) = member.value else { return nil }
        return members.first { other in
            guard other.key != "frame", case .integer(let frames) = other.value else { return false }
            return abs(format.seconds(at: Int64(frames)) - seconds) <= 0.5e-6
        }?.key
    }

    /// A type with these fields: one instance for all records with the same fields.
    private mutating func inferredType(_ name: String, _ fields: [Field]) -> RecordType {
        let signature = fields.reduce(name) { "\($0)\u{0}\($1.name)\u{0}\($1.kind.name)\u{0}\($1.unit.rawValue)" }
        if let type = inferredTypes[signature] { return type }
        let type = RecordType(name, Self.summary, fields: fields)
        // A file of a stranger may have many.
        if inferredTypes.count < 100 { inferredTypes[signature] = type }
        return type
    }

    /// Maximum number of members of a record whose type is not declared.
    private static let memberLimit = 64

    private static func checkCount(of members: [JSONValue.Member]) throws(Problem) {
        if members.count > memberLimit { throw Problem("the record has more than \(memberLimit) members") }
    }

    /// Declarations that fit the members of a record, and their values.
    private func inferredFields(_ members: [JSONValue.Member]) throws(Problem) -> (fields: [Field], values: [ParameterValue]) {
        try Self.checkCount(of: members)
        let summary = "A field of another program."
        var fields: [Field] = []
        var values: [ParameterValue] = []
        for member in members {
            let name = member.key
            guard !fields.contains(where: { $0.name == name }) else { throw Problem("\"\(name)\" occurs twice") }
            let field: Field
            switch member.value {
            case .null, .text: field = .text(name, nullable: true, summary)
            case .boolean: field = .boolean(name, summary)
            case .integer: field = .integer(name, nullable: true, summary)
            case .number(let number, _): field = .number(name, unit: .writing([number], named: name), nullable: true, summary)
            case .list(let elements) where !elements.isEmpty && elements.allSatisfy { $0.string != nil }: field = .texts(name, summary)
            case .list(let elements): field = .numbers(name, unit: .writing(elements.compactMap(\.double), named: name), summary)
            case .object: throw Problem("\"\(name)\" is an object, which records of events do not have")
            }
            guard let value = field.value(of: member.value) else { throw Problem("\"\(name)\" has elements of several types") }
            fields.append(field)
            values.append(value)
        }
        return (fields, values)
    }
}
