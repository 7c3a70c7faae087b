public import HemiolaRecords
public import HemiolaSystem

extension DeclaredSetting {
    /// Brings a raw value (text from a command line, anything from a file) to this setting's type and range.
    ///
    /// - Returns: The value, or what is wrong with it in words that follow `key: `.
    public func check(_ raw: ParameterValue) -> Result<ParameterValue, Problem> {
        check(raw, as: kind)
    }

    private func check(_ raw: ParameterValue, as kind: Kind) -> Result<ParameterValue, Problem> {
        switch (kind, raw) {
        case (.boolean, .boolean), (.text, .text):
            return .success(raw)
        case (.command, .list(let items)):
            return checkAll(items, as: .text)
        case (.command, _):
            return check(raw, as: .text)
        case (.boolean, .text(let text)):
            switch text.lowercased() {
            case "true", "yes", "on", "1": return .success(.boolean(true))
            case "false", "no", "off", "0": return .success(.boolean(false))
            default: return .failure(wrong(text, kind))
            }
        case (.integer, .integer(let number)):
            return inRange(Double(number)).map { .integer(number) }
        case (.integer, .number(let number)) where number.rounded() == number && abs(number) < 1e15:
            return inRange(number).map { .integer(Int(number)) }
        case (.integer, .text(let text)):
            guard let number = Int(text) else { return .failure(wrong(text, kind)) }
            return inRange(Double(number)).map { .integer(number) }
        case (.number, .number(let number)) where number.isFinite:
            return inRange(number).map { .number(number) }
        case (.number, .integer(let number)):
            return inRange(Double(number)).map { .number(Double(number)) }
        case (.number, .text(let text)):
            guard let number = Double(text), number.isFinite else { return .failure(wrong(text, kind)) }
            return inRange(number).map { .number(number) }
        case (.text, .integer(let number)):
            return .success(.text(String(number)))
        case (.text, .number(let number)):
            return .success(.text(String(number)))
        case (.text, .boolean(let flag)):
            return .success(.text(String(flag)))
        case (.choice(let names), .text(let text)):
            guard names.contains(text) else {
                let hint = text.nearest(in: names).map { "; did you mean \($0)?" } ?? ""
                return .failure(Problem("\"\(text)\" is not one of \(names.joined(separator: ", "))\(hint)"))
            }
            return .success(raw)
        case (.list(let kind), .list(let items)):
            return checkAll(items, as: kind)
        case (.list(let kind), .text(let text)):
            let parts = text.split(separator: "+", omittingEmptySubsequences: true)
            return checkAll(parts.map { .text(String($0)) }, as: kind)
        case (.list(let kind), _):
            return checkAll([raw], as: kind)
        default:
            return .failure(wrong(raw.text, kind))
        }
    }

    private func checkAll(_ items: [ParameterValue], as kind: Kind) -> Result<ParameterValue, Problem> {
        var values: [ParameterValue] = []
        for item in items {
            switch check(item, as: kind) {
            case .success(let value): values.append(value)
            case .failure(let fault): return .failure(fault)
            }
        }
        return .success(.list(values))
    }

    private func inRange(_ number: Double) -> Result<Void, Problem> {
        guard let range, !range.contains(number) else { return .success(()) }
        return .failure(Problem("\(number.short) is outside \(rangeText!)"))
    }

    private func wrong(_ text: String, _ kind: Kind) -> Problem {
        Problem("\"\(text)\" is not \(kind.name)\(rangeText.map { " within \($0)" } ?? "")")
    }

    /// The range with its unit, as the manual prints it: `1...3600 s`.
    public var rangeText: String? {
        guard let range else { return nil }
        let unit = self.unit.rawValue.isEmpty ? "" : " \(self.unit.rawValue)"
        return "\(range.lowerBound.short)...\(range.upperBound.short)\(unit)"
    }
}

extension ParameterValue {
    /// As a person would type it.
    public var text: String {
        switch self {
        case .none: ""
        case .boolean(let flag): String(flag)
        case .integer(let number): String(number)
        case .number(let number): number.short
        case .text(let text): text
        case .list(let items): items.map(\.text).joined(separator: "+")
        }
    }
}

extension Double {
    /// Without a decimal point where there is nothing behind it.
    fileprivate var short: String {
        rounded() == self && abs(self) < 1e15 ? String(Int(self)) : String(self)
    }
}

extension String {
    /// The name among `names` that is most like this text, if one is like it at all.
    ///
    /// Edit distance with transpositions (F. J. Damerau, 1964), at most a third of the length and one more, or a common start.
    public func nearest(in names: some Collection<String>) -> String? {
        let typed = Array(lowercased())
        var best: (name: String, distance: Int)?
        for name in names {
            let distance = Self.distance(typed, Array(name.lowercased()))
            if distance < best?.distance ?? .max { best = (name, distance) }
        }
        if let best, best.distance <= 1 + Swift.max(typed.count, best.name.count) / 3 { return best.name }
        return names.first { typed.count >= 2 && $0.lowercased().hasPrefix(lowercased()) }
    }

    private static func distance(_ one: [Character], _ other: [Character]) -> Int {
        var older: [Int] = []
        var old = Array(0...other.count)
        for i in 0..<one.count {
            var row = [i + 1]
            for j in 0..<other.count {
                var cost = Swift.min(row[j] + 1, old[j + 1] + 1, old[j] + (one[i] == other[j] ? 0 : 1))
                if i > 0, j > 0, one[i] == other[j - 1], one[i - 1] == other[j] {
                    cost = Swift.min(cost, older[j - 1] + 1)
                }
                row.append(cost)
            }
            (older, old) = (old, row)
        }
        return old[other.count]
    }
}
