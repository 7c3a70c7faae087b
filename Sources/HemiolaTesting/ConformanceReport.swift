internal import Hemiola

/// Collects the rules of its role that a plugin violates, one sentence each: at most 40, each once, in the order in which they were found.
struct ConformanceReport {
    /// A broken plugin repeats its violations in every format; more sentences do not help to find the cause.
    private static let limit = 40

    private(set) var violations: [String] = []

    mutating func fail(_ sentence: String) {
        if violations.count < Self.limit && !violations.contains(sentence) { violations.append(sentence) }
    }

    mutating func require(_ condition: Bool, _ sentence: @autoclosure () -> String) {
        if !condition { fail(sentence()) }
    }

    /// - Throws: When there is a violation: all of them.
    func throwIfFailed(_ plugin: String) throws(Problem) {
        if violations.isEmpty { return }
        throw Problem([Problem("\(plugin) violates the rules of its role:")] + violations.map { Problem("- \($0)") })
    }
}

// MARK: - Declarations

extension ConformanceReport {
    /// Checks a plugin's declaration and parses the settings of the suite.
    ///
    /// - Returns: nil when the settings are not valid.
    mutating func settings(_ text: String, of about: PluginDescription) -> SettingValues? {
        check(about)
        do {
            let spec = try PluginSpec(parsing: text.isEmpty ? about.id : "\(about.id):\(text)")
            var problems: [Problem] = []
            let values = about.values(from: spec, problems: &problems)
            for problem in problems {
                let setting = problem.place.map { ".\($0)" } ?? ""
                fail("The settings of the conformance suite are not valid: \(about.id)\(setting): \(problem.message).")
            }
            return values
        } catch {
            fail("The settings of the conformance suite cannot be parsed: \(error).")
            return nil
        }
    }

    private mutating func check(_ about: PluginDescription) {
        let isKebabCase = { (text: String) in
            text.first?.isLetter == true && text.allSatisfy { $0.isASCII && ($0.isLowercase || $0.isNumber || $0 == "-") }
        }
        require(isKebabCase(about.id), "The id \"\(about.id)\" is not in kebab-case (example: json-lines).")
        require(about.summary.hasSuffix("."), "The summary \"\(about.summary)\" is not a sentence.")
        require(about.version >= 1, "The version \(about.version) is below 1.")
        if let primary = about.primary {
            require(about.keys.contains(primary), "The primary setting \"\(primary)\" is not declared.")
        }
        for setting in about.settings {
            require(setting.name.isSnakeCase, "The setting \"\(setting.name)\" is not in snake_case (example: min_hz).")
            require(setting.name != "as", "The setting \"as\" is reserved: it names an instance.")
            require(setting.summary.hasSuffix("."), "The summary of the setting \(setting.name) is not a sentence.")
            require(
                about.keys.count { $0 == setting.name } == 1, "The setting \(setting.name) is declared more than once.")
            do {
                if let value = setting.defaultValue { _ = try setting.parse(value) }
            } catch {
                fail("The default of the setting \(setting.name) is not valid: \(error.message).")
            }
        }
        for conflict in RecordSchema.conflicts(in: RecordCatalog(about)) { fail("The declarations conflict: \(conflict).") }
        for type in about.records {
            require(type.name.isSnakeCase, "The record type \"\(type.name)\" is not in snake_case.")
            check(type.fields, of: "record type \(type.name)", type.summary)
        }
        for type in about.controls + about.fallbackControls {
            require(type.name.isCamelCase, "The control \"\(type.name)\" is not in camelCase (example: setSpeed).")
            check(type.fields, of: "control \(type.name)", type.summary)
        }
    }

    /// Checks that the id of an analyzer, which is a key of the batch record, is no other key of the records.
    mutating func checkName(ofAnalyzer about: PluginDescription) {
        let catalog = RecordCatalog(about)
        let others = RecordSchema.conflicts(in: catalog)
        for conflict in RecordSchema.conflicts(in: catalog, analyzers: [about.id]) where !others.contains(conflict) {
            fail("The id conflicts with the records: \(conflict).")
        }
    }

    private mutating func check(_ fields: [Field], of type: String, _ summary: String) {
        require(summary.hasSuffix("."), "The summary of the \(type) is not a sentence.")
        for field in fields {
            require(field.summary.hasSuffix("."), "The summary of the field \(field.name) of the \(type) is not a sentence.")
            if let value = field.defaultValue {
                require(field.accepts(value), "The default of the field \(field.name) of the \(type) is not of the field's type.")
            }
        }
    }

    /// Checks the values of an event's stored fields against their declared types and ranges.
    ///
    /// - Parameter context: The condition of the run, or the component: ends the sentence.
    mutating func check(_ event: Event, _ context: String) {
        let type = event.type.name
        require(event.time.isFinite, "The time of a record \(type) is not finite \(context).")
        for field in event.type.fields where field.source == .stored && event.control == nil {
            let value = event[field.name]
            require(field.accepts(value), "The field \(field.name) of a record \(type) is not of its declared type \(context).")
            guard let number = value.number else { continue }
            require(number.isFinite, "The field \(field.name) of a record \(type) is not finite \(context).")
            require(
                number >= field.minimum ?? number && number <= field.maximum ?? number,
                "The field \(field.name) of a record \(type) is outside its declared range \(context).")
        }
    }
}

extension RecordCatalog {
    /// The types of one plugin, with those of the plugin API.
    fileprivate init(_ about: PluginDescription) {
        self.init(records: about.records, controls: about.controls + about.fallbackControls)
    }
}

extension String {
    /// Lower-case ASCII letters, digits and `_`, a letter first.
    var isSnakeCase: Bool {
        first?.isLetter == true && allSatisfy { $0.isASCII && ($0.isLowercase || $0.isNumber || $0 == "_") }
    }

    /// ASCII letters and digits, a lower-case letter first.
    var isCamelCase: Bool {
        first?.isLowercase == true && allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
    }
}

// MARK: - Sample controls

extension Control {
    /// Controls of a type, with values within the declared ranges of its fields.
    static func samples(of type: ControlType) -> [Control] {
        let values = type.fields.map(\.samples)
        return (0..<max(2, values.map(\.count).max() ?? 0)).map { index in
            var control = Control(type)
            for (field, samples) in zip(type.fields, values) { control[field.name] = samples[index % samples.count] }
            return control
        }
    }
}

extension ConformanceReport {
    /// Checks that a handler has code for every control that its plugin declares, and refuses any other.
    ///
    /// - Parameter role: The kind of the handler, as the subject of a sentence: `The analyzer`.
    mutating func checkControls(_ types: [ControlType], of handler: any ControlHandler, _ role: String) {
        for type in types {
            let control = Control.samples(of: type)[0]
            let reply = handler.handle(StampedControl(control, at: 0, from: "test"))
            require(reply != .unknown(control), "\(role) has no code for the control \(type.name), which its plugin declares.")
        }
        let undeclared = Control(ControlType("conformanceProbe", "Has no handler."))
        if case .refused = handler.handle(StampedControl(undeclared, at: 0, from: "test")) { return }
        fail("\(role) does not refuse a control that its plugin does not declare.")
    }
}

extension Field {
    /// Values of its type: the ends of its range, and null where it may be null.
    fileprivate var samples: [ParameterValue] {
        let (low, high) = (minimum ?? -1, maximum ?? max(120, (minimum ?? 0) + 120))
        let samples: [ParameterValue] =
            switch kind {
            case .integer: [.integer(Int(low)), .integer(Int(high))]
            case .number: [.number((low + high) / 2), .number(low), .number(high)]
            case .boolean: [.boolean(true), .boolean(false)]
            case .text, .command: [.text("a"), .text("ü \"\\\n"), .text("")]
            case .choice(let choices): choices.map { .text($0) }
            case .list(of: .text): [.texts(["x", "y"]), .texts([])]
            case .list: [.numbers([0.5, -1]), .numbers([])]
            default: []
            }
        return samples + (isNullable ? [.none] : [])
    }
}
