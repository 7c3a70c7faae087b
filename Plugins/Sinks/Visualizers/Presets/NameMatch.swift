internal import Hemiola
internal import HemiolaSystem

/// The result of looking up a preset name as typed by a user.
enum NameMatch: Sendable, Equatable {
    case one(String)
    case several([String])
    case none

    /// Maximum length of a name, in Unicode scalars, for which the most similar name is searched.
    private static let maximumSearchLength = 64
    /// Characters after which a message truncates a name.
    private static let maximumQuoteLength = 80

    init(_ name: String, in names: [String]) {
        self.init(name, in: PresetNames(names))
    }

    /// Looks up a name: first exactly, then without case and accents, then as a part of other names.
    ///
    /// - Complexity: O(1) for an exact match, else O(bytes of all names).
    init(_ name: String, in list: PresetNames) {
        if list.index(of: name) != nil {
            self = .one(name)
            return
        }
        let (names, wanted) = (list.names, name.folded)
        var found = names.indices.filter { list.folded[$0] == wanted }
        if found.isEmpty, !wanted.isEmpty {
            let part = Array(wanted.utf8)
            found = names.indices.filter { Self.contains(part, in: list.folded[$0]) }
        }
        switch found.count {
        case 0: self = .none
        case 1: self = .one(names[found[0]])
        default: self = .several(found.map { names[$0] })
        }
    }

    static func notFoundMessage(_ name: String, in names: [String]) -> String {
        notFoundMessage(name, in: PresetNames(names))
    }

    /// The error message for an unknown name, with the most similar name.
    ///
    /// - Complexity: O(length of all names × 64).
    static func notFoundMessage(_ name: String, in list: PresetNames) -> String {
        // A distance takes the time of both lengths.
        let isSearched = !name.isEmpty && name.unicodeScalars.count <= maximumSearchLength
        let nearest = isSearched ? name.folded.nearest(in: list.folded).flatMap { list.folded.firstIndex(of: $0) } : nil
        let hint = nearest.map { "; did you mean \"\(list.names[$0])\"?" }
        let shown = name.count > maximumQuoteLength ? "\(name.prefix(maximumQuoteLength))…" : name
        return "there is no preset \"\(shown)\"" + (hint ?? "")
    }

    private static func contains(_ part: [UInt8], in text: String) -> Bool {
        guard let first = part.first, part.count <= text.utf8.count else { return false }
        let search = { (bytes: UnsafeBufferPointer<UInt8>) -> Bool in
            for start in 0...bytes.count - part.count where bytes[start] == first {
                if part.indices.allSatisfy({ bytes[start + $0] == part[$0] }) { return true }
            }
            return false
        }
        // Without a copy of the bytes: ten thousand copies would cost more than the search.
        return text.utf8.withContiguousStorageIfAvailable(search) ?? Array(text.utf8).withUnsafeBufferPointer(search)
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
