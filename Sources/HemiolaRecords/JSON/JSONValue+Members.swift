public import HemiolaSystem

// The members of an object by their names, each with the type that it must have, so that a fault names the member. An optional member may
// be missing or null.

extension JSONValue {
    /// The text of a member.
    ///
    /// - Throws: That it is missing, or not a text.
    public func text(_ key: String) throws(Problem) -> String {
        guard let text = self[key]?.string else { throw fault(key, "a text") }
        return text
    }

    /// The text of a member; nil: it is missing or null.
    ///
    /// - Throws: That it is not a text.
    public func optionalText(_ key: String) throws(Problem) -> String? {
        has(key) ? try text(key) : nil
    }

    /// The number of a member, whole or not.
    ///
    /// - Throws: That it is missing, or not a number.
    public func number(_ key: String) throws(Problem) -> Double {
        guard let number = self[key]?.double else { throw fault(key, "a number") }
        return number
    }

    /// The number of a member; nil: it is missing or null.
    ///
    /// - Throws: That it is not a number.
    public func optionalNumber(_ key: String) throws(Problem) -> Double? {
        has(key) ? try number(key) : nil
    }

    /// The whole number of a member, also one that is written with a point or an exponent: 3.0.
    ///
    /// - Throws: That it is missing, or not a whole number.
    public func integer(_ key: String) throws(Problem) -> Int {
        guard let number = self[key]?.integer else { throw fault(key, "a whole number") }
        return number
    }

    /// The whole number of a member; nil: it is missing or null.
    ///
    /// - Throws: That it is not a whole number.
    public func optionalInteger(_ key: String) throws(Problem) -> Int? {
        has(key) ? try integer(key) : nil
    }

    /// The flag of a member.
    ///
    /// - Throws: That it is missing, or not true or false.
    public func flag(_ key: String) throws(Problem) -> Bool {
        guard let flag = self[key]?.flag else { throw fault(key, "true or false") }
        return flag
    }

    /// The flag of a member; nil: it is missing or null.
    ///
    /// - Throws: That it is not true or false.
    public func optionalFlag(_ key: String) throws(Problem) -> Bool? {
        has(key) ? try flag(key) : nil
    }

    /// The elements of a member.
    ///
    /// - Throws: That it is missing, or not a list.
    public func list(_ key: String) throws(Problem) -> [JSONValue] {
        guard let elements = self[key]?.elements else { throw fault(key, "a list") }
        return elements
    }

    /// The texts of a member.
    ///
    /// - Throws: That it is missing, or not a list of texts.
    public func texts(_ key: String) throws(Problem) -> [String] {
        let elements = try list(key)
        let texts = elements.compactMap(\.string)
        guard texts.count == elements.count else { throw fault(key, "a list of texts") }
        return texts
    }

    /// The object of a member.
    ///
    /// - Throws: That it is missing, or not an object.
    public func object(_ key: String) throws(Problem) -> JSONValue {
        guard let value = self[key], value.members != nil else { throw fault(key, "an object") }
        return value
    }

    /// The objects of a member.
    ///
    /// - Throws: That it is missing, or not a list of objects.
    public func objects(_ key: String) throws(Problem) -> [JSONValue] {
        let elements = try list(key)
        guard elements.allSatisfy({ $0.members != nil }) else { throw fault(key, "a list of objects") }
        return elements
    }

    /// The members of an object that is a member.
    func members(_ key: String) throws(Problem) -> [Member] {
        try object(key).members ?? []
    }

    /// Whether a member is given, and not null.
    public func has(_ key: String) -> Bool {
        self[key].map { $0 != .null } ?? false
    }

    private func fault(_ key: String, _ type: String) -> Problem {
        guard members != nil else { return Problem("not a JSON object") }
        return Problem(self[key] == nil ? "missing \"\(key)\"" : "\"\(key)\" is not \(type)")
    }
}
