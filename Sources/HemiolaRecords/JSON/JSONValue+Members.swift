package import HemiolaSystem

// The members of an object by their names, each with the type that it must have. An optional member may be missing or null.

extension JSONValue {
    package func text(_ key: String) throws(Problem) -> String {
        guard let text = self[key]?.string else { throw fault(key, "a text") }
        return text
    }

    package func optionalText(_ key: String) throws(Problem) -> String? {
        has(key) ? try text(key) : nil
    }

    package func number(_ key: String) throws(Problem) -> Double {
        guard let number = self[key]?.double else { throw fault(key, "a number") }
        return number
    }

    package func optionalNumber(_ key: String) throws(Problem) -> Double? {
        has(key) ? try number(key) : nil
    }

    package func integer(_ key: String) throws(Problem) -> Int {
        guard let number = self[key]?.integer else { throw fault(key, "a whole number") }
        return number
    }

    package func optionalInteger(_ key: String) throws(Problem) -> Int? {
        has(key) ? try integer(key) : nil
    }

    package func flag(_ key: String) throws(Problem) -> Bool {
        guard let flag = self[key]?.flag else { throw fault(key, "true or false") }
        return flag
    }

    package func optionalFlag(_ key: String) throws(Problem) -> Bool? {
        has(key) ? try flag(key) : nil
    }

    package func list(_ key: String) throws(Problem) -> [JSONValue] {
        guard let elements = self[key]?.elements else { throw fault(key, "a list") }
        return elements
    }

    package func texts(_ key: String) throws(Problem) -> [String] {
        let elements = try list(key)
        let texts = elements.compactMap(\.string)
        guard texts.count == elements.count else { throw fault(key, "a list of texts") }
        return texts
    }

    package func object(_ key: String) throws(Problem) -> JSONValue {
        guard let value = self[key], value.members != nil else { throw fault(key, "an object") }
        return value
    }

    package func objects(_ key: String) throws(Problem) -> [JSONValue] {
        let elements = try list(key)
        guard elements.allSatisfy({ $0.members != nil }) else { throw fault(key, "a list of objects") }
        return elements
    }

    package func members(_ key: String) throws(Problem) -> [Member] {
        try object(key).members ?? []
    }

    /// Whether a member is given, and not null.
    package func has(_ key: String) -> Bool {
        self[key].map { $0 != .null } ?? false
    }

    private func fault(_ key: String, _ type: String) -> Problem {
        guard members != nil else { return Problem("not a JSON object") }
        return Problem(self[key] == nil ? "missing \"\(key)\"" : "\"\(key)\" is not \(type)")
    }
}
