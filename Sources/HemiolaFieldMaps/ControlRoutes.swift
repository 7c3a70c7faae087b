internal import Hemiola
public import HemiolaRecords
public import HemiolaSystem

/// Which messages of a device or of another program are which controls: a map of the direction `input`, with its names resolved.
///
///     - {from: /fader/1, to: setSpeed, scale: [0, 1, 0.1, 1]}
///     - {when: /button, to: tap, where: {value: 1}}
///     - {value: -10, when: note.44, to: nudge}
///
/// `from` names a message whose first value is that of the control, `when` a message that submits a control with a fixed value or its
/// defaults. `to` is the name of a control, whose first field has the value, or `CONTROL.FIELD`.
public struct ControlRoutes: Sendable {
    fileprivate enum Input: Sendable {
        case value
        case constant(ParameterValue)
        case defaults
    }

    fileprivate struct Route: Sendable {
        var input: Input
        var control: ControlType
        /// nil: the control has no fields.
        var field: Field?
        var scale: FieldMap.Entry.Scale?
        var type: FieldMap.Entry.ValueType?
        var conditions: [FieldMap.Entry.Condition]
    }

    private var routes: [String: [Route]] = [:]

    /// Resolves the names of a map.
    ///
    /// - Parameters:
    ///   - map: A map of the direction `input`.
    ///   - controls: The declared controls.
    ///   - skipsUnknown: Whether entries of controls that are not declared have no effect; false: they are errors.
    ///   - check: Returns what is wrong with the name of a message; nil: nothing.
    /// - Throws: All entries with an unknown name, as problems with the setting `map`.
    public init(
        _ map: FieldMap, controls: [ControlType], skipsUnknown: Bool = false, checkingMessages check: (String) -> String? = { _ in nil }
    ) throws(Problem) {
        var problems: [Problem] = []
        for entry in map.entries {
            var key = "when"
            var message = ""
            var input = Input.defaults
            switch (entry.source, entry.trigger) {
            case (.field(let name), _): (key, message, input) = ("from", name, .value)
            case (.constant(let value), .record(let name)): (message, input) = (name, .constant(value))
            case (_, .record(let name)): message = name
            default: break
            }
            if let problem = check(message) { problems.append(Problem("\(entry.prefix(in: map))\(key): \(problem)")) }
            let names = entry.destination.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard let control = controls.first(where: { $0.name == names[0] }) else {
                if skipsUnknown { continue }
                problems.append(Problem("\(entry.prefix(in: map))to: \(Self.unknown(names[0], controls.map(\.name), "control"))"))
                continue
            }
            var field = control.fields.first
            if names.count == 2 {
                field = control.fields.first { $0.name == names[1] }
                if field == nil {
                    let fields = control.fields.map(\.name)
                    problems.append(Problem("\(entry.prefix(in: map))to: \(Self.unknown(names[1], fields, "field of \(control.name)"))"))
                    continue
                }
            }
            routes[message, default: []].append(
                Route(input: input, control: control, field: field, scale: entry.scale, type: entry.type, conditions: entry.conditions))
        }
        if !problems.isEmpty { throw Problem(problems.map { Problem($0.message, at: "map") }) }
    }

    private static func unknown(_ name: String, _ names: [String], _ what: String) -> String {
        "there is no \(what) \"\(name.onOneLine)\"; \(name.suggestion(among: names, "there are"))"
    }

    /// The controls of messages that arrived together, in their order; a refusal for a value that a control cannot have.
    ///
    /// Of the values of a fader, the last counts.
    public func controls(for messages: [ReceivedMessage]) -> [(message: String, result: Result<Control, Problem>)] {
        var last: [String: Int] = [:]
        for (index, message) in messages.enumerated() where replacesValue(message) { last[message.name] = index }
        return messages.enumerated().flatMap { index, message in
            (last[message.name] ?? index) == index ? controls(of: message).map { (message.name, $0) } : []
        }
    }

    /// Whether the value of a message replaces the one before, as that of a fader does.
    private func replacesValue(_ message: ReceivedMessage) -> Bool {
        if message.isRelative { return false }
        return routes[message.name]?.allSatisfy { route in
            if case .value = route.input, case .number? = route.field?.kind { route.conditions.isEmpty } else { false }
        } ?? false
    }

    /// The controls of a message, in the order of the map.
    private func controls(of message: ReceivedMessage) -> [Result<Control, Problem>] {
        (routes[message.name] ?? []).compactMap { route in
            let isMet = route.conditions.allSatisfy { condition in
                let value = condition.field == "value" ? message.values.first : message.fields[condition.field]
                return (value ?? .none).isSame(as: condition.value)
            }
            guard isMet else { return nil }
            var value: ParameterValue?
            switch route.input {
            case .value: value = message.values.first ?? ParameterValue.none
            case .constant(let constant): value = constant
            case .defaults: break
            }
            if case .value = route.input {} else if !message.isStart { return nil }
            return Self.control(route, value, message.values)
        }
    }

    private static func control(_ route: Route, _ value: ParameterValue?, _ all: [ParameterValue]) -> Result<Control, Problem> {
        Result { () throws(Problem) in
            try Control(route.control) { field in
                guard field == route.field, let value else { return nil }
                return route.converted(value, all, for: field)
            }
        }
    }
}

extension ControlRoutes.Route {
    /// The value in the type of a field; nil: it has none.
    fileprivate func converted(_ value: ParameterValue, _ all: [ParameterValue], for field: Field) -> ParameterValue? {
        guard scale != nil || type == .int, let number = value.numeric else { return field.converted(value, all) }
        let scaled = scale.map { $0(number) } ?? number
        return field.converted(.number(type == .int ? scaled.rounded() : scaled), all)
    }
}

extension Field {
    /// A received value in the type of this field of a control; nil: it has none.
    ///
    /// Truth is a number from 0.5 on, and a number is 1 for what is true.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - all: All values of the message, for a field that is a list.
    public func converted(_ value: ParameterValue, _ all: [ParameterValue]) -> ParameterValue? {
        switch kind {
        case .number: return value.numeric.map { .number($0) }
        case .integer: return value.numeric.map { .integer(Int(max(-1e15, min(1e15, $0.rounded())))) }
        case .boolean: return value.numeric.map { .boolean($0 >= 0.5) }
        case .text, .choice, .command:
            if case .text = value { return value }
            return value.integer.map { .text(String($0)) } ?? value.number.map { .text(String($0)) }
        case .list(of: .text):
            return .list(all.filter { if case .text = $0 { true } else { false } })
        case .list: return .list(all.compactMap { $0.numeric.map { .number($0) } })
        default: return nil
        }
    }
}

extension ParameterValue {
    /// A finite number, or 1 and 0 for truth.
    fileprivate var numeric: Double? {
        guard let number = number ?? flag.map({ $0 ? 1 : 0 }), number.isFinite else { return nil }
        return number
    }
}
