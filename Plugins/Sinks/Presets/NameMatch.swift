internal import Hemiola

/// What a name that somebody typed can mean.
enum NameMatch: Sendable, Equatable {
    case one(String)
    case several([String])
    case none

    /// Looks a name up: as it stands, then whatever its case and accents, then as a part of others.
    init(_ name: String, in names: [String]) {
        if names.contains(name) {
            self = .one(name)
            return
        }
        let wanted = name.folded
        let folded = names.map(\.folded)
        var found = names.indices.filter { folded[$0] == wanted }
        if found.isEmpty, !wanted.isEmpty { found = names.indices.filter { folded[$0].contains(wanted) } }
        switch found.count {
        case 0: self = .none
        case 1: self = .one(names[found[0]])
        default: self = .several(found.map { names[$0] })
        }
    }

    /// Why a name is none that can be shown.
    static func fault(_ name: String, in names: [String]) -> String {
        let hint = name.folded.nearest(in: names.map(\.folded)).flatMap { near in names.first { $0.folded == near } }
        return "there is no preset \"\(name)\"" + (hint.map { "; did you mean \"\($0)\"?" } ?? "")
    }

    /// Names for a message: the first few, and how many more.
    static func listed(_ names: [String], limit: Int = 8) -> String {
        let shown = names.prefix(limit).map { "\"\($0)\"" }.joined(separator: ", ")
        return names.count > limit ? "\(shown) and \(names.count - limit) more" : shown
    }
}

extension String {
    /// Without case, accents and other marks: equal for names that a person would call the same.
    ///
    /// By the scalars' Unicode names, which tell the letter below the mark: `LATIN SMALL LETTER O WITH STROKE` is an o too.
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

    /// The letter that a scalar's name speaks of: itself where it is a Latin one, else the name without its marks.
    private static func letter(_ name: String) -> String {
        let words = name.split(separator: " ")
        let bare = words.prefix { $0 != "WITH" }
        if bare.count == 4, bare[0] == "LATIN", bare[3].count <= 2 { return bare[3].lowercased() }
        return "<\(bare.joined(separator: " "))>"
    }
}
