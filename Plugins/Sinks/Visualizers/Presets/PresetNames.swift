internal import HemiolaSystem

/// An immutable list of unique preset names with an index for lookups. Built outside the analysis thread and shared from then on.
final class PresetNames: Sendable {
    /// In the order of the list.
    let names: [String]
    /// The same names without case and accents, see `String.folded`.
    let folded: [String]
    private let indices: [String: Int]

    /// Maximum length of a name, in Unicode scalars, for which the most similar name is searched.
    private static let maximumSearchLength = 64
    /// Characters after which a message truncates a name.
    private static let maximumQuoteLength = 80

    /// - Parameter older: A list whose folded names are reused, because folding a name that is not ASCII is slow.
    init(_ names: [String], reusing older: PresetNames? = nil) {
        self.names = names
        folded = names.map { name in older?.index(of: name).flatMap { older?.folded[$0] } ?? name.folded }
        indices = Dictionary(names.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    }

    var isEmpty: Bool { names.isEmpty }

    /// The index of a name in the list; nil: not in the list. O(1).
    func index(of name: String) -> Int? { indices[name] }

    /// The names that a name typed by a user stands for: the same one, else those that differ in case and accents, else those that
    /// contain it.
    ///
    /// - Complexity: O(1) for the same one, else O(bytes of all names).
    func matches(_ name: String) -> [String] {
        if index(of: name) != nil { return [name] }
        let wanted = name.folded
        var found = names.indices.filter { folded[$0] == wanted }
        if found.isEmpty, !wanted.isEmpty { found = names.indices.filter { folded[$0].utf8.contains(wanted.utf8) } }
        return found.map { names[$0] }
    }

    /// The error message for an unknown name, with the most similar name.
    ///
    /// - Complexity: O(length of all names × 64).
    func notFoundMessage(_ name: String) -> String {
        // A distance takes the time of both lengths.
        let isSearched = !name.isEmpty && name.unicodeScalars.count <= Self.maximumSearchLength
        let nearest = isSearched ? name.folded.nearest(in: folded).flatMap { folded.firstIndex(of: $0) } : nil
        let hint = nearest.map { "; did you mean \"\(names[$0])\"?" }
        let shown = name.count > Self.maximumQuoteLength ? "\(name.prefix(Self.maximumQuoteLength))…" : name
        return "there is no preset \"\(shown)\"" + (hint ?? "")
    }

    /// Quoted names for a message: the first `limit`, then the number of the others.
    static func quoted(_ names: [String], limit: Int = 8) -> String {
        let shown = names.prefix(limit).map { "\"\($0)\"" }.joined(separator: ", ")
        return names.count > limit ? "\(shown) and \(names.count - limit) more" : shown
    }
}

extension String {
    /// The text without case, accents and other marks, for comparisons.
    ///
    /// The base letter is taken from the scalar's Unicode name, because a stroke, for one, is not a combining mark: `LATIN SMALL
    /// LETTER O WITH STROKE` becomes `o`.
    var folded: String {
        var text = ""
        for scalar in unicodeScalars.flatMap({ $0.properties.lowercaseMapping.unicodeScalars }) {
            if scalar.isASCII {
                text.unicodeScalars.append(scalar)
            } else if let name = scalar.properties.name, scalar.properties.isAlphabetic {
                text += Self.letter(name)
            } else if scalar.properties.generalCategory != .nonspacingMark {
                text.unicodeScalars.append(scalar)
            }
        }
        return text
    }

    /// The base letter in a scalar's Unicode name: a Latin letter itself, else the name up to `WITH`.
    private static func letter(_ name: String) -> String {
        let words = name.split(separator: " ")
        let bare = words.prefix { $0 != "WITH" }
        if bare.count == 4, bare[0] == "LATIN", bare[3].count <= 2 { return bare[3].lowercased() }
        return "<\(bare.joined(separator: " "))>"
    }
}
