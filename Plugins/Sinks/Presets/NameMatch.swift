internal import Hemiola

/// What a name that somebody typed can mean.
enum NameMatch: Sendable, Equatable {
    case one(String)
    case several([String])
    case none

    /// Letters of a name for which the nearest is searched; a longer one is hardly a slip of the keyboard.
    private static let longestSearched = 64
    /// Letters of a name that an answer repeats.
    private static let longestShown = 80

    init(_ name: String, in names: [String]) {
        self.init(name, in: PresetNames(names))
    }

    /// Looks a name up: as it stands, then whatever its case and accents, then as a part of others.
    ///
    /// - Complexity: O(1) for a name as it stands, else O(bytes of all names).
    init(_ name: String, in list: PresetNames) {
        if list.place(of: name) != nil {
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

    static func fault(_ name: String, in names: [String]) -> String {
        fault(name, in: PresetNames(names))
    }

    /// Why a name is none that can be shown.
    ///
    /// - Complexity: O(letters of all names × 64).
    static func fault(_ name: String, in list: PresetNames) -> String {
        let hint = nearest(to: name.folded, in: list).map { "; did you mean \"\(list.names[$0])\"?" }
        let shown = name.count > longestShown ? "\(name.prefix(longestShown))…" : name
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
        // In place: a copy of each of ten thousand names would cost more than the search.
        return text.utf8.withContiguousStorageIfAvailable(search) ?? Array(text.utf8).withUnsafeBufferPointer(search)
    }

    /// The first of the names that differ least from one, in letters left out, added, changed or swapped; nil when none is near.
    private static func nearest(to name: String, in list: PresetNames) -> Int? {
        let typed = Array(name.unicodeScalars)
        guard !typed.isEmpty, typed.count <= longestSearched else { return nil }
        var best: (index: Int, distance: Int)?
        for (index, other) in list.folded.enumerated() {
            let length = other.unicodeScalars.count
            let limit = min(1 + max(typed.count, length) / 3, (best?.distance ?? .max) - 1)
            // Every letter more or less is a difference.
            guard limit >= 0, abs(length - typed.count) <= limit else { continue }
            if let distance = distance(typed, Array(other.unicodeScalars), limit: limit) { best = (index, distance) }
        }
        return best?.index
    }

    /// How many letters have to be left out, added, changed or swapped; nil when more than the limit.
    private static func distance(_ one: [Unicode.Scalar], _ other: [Unicode.Scalar], limit: Int) -> Int? {
        var older: [Int] = []
        var old = Array(0...other.count)
        var row = old
        for i in one.indices {
            row[0] = i + 1
            for j in other.indices {
                var cost = min(row[j] + 1, old[j + 1] + 1, old[j] + (one[i] == other[j] ? 0 : 1))
                if i > 0, j > 0, one[i] == other[j - 1], one[i - 1] == other[j] { cost = min(cost, older[j - 1] + 1) }
                row[j + 1] = cost
            }
            // Two rows, because a swap reaches back over one.
            if min(row.min()!, old.min()!) > limit { return nil }
            (older, old) = (old, row)
        }
        return old[other.count] <= limit ? old[other.count] : nil
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
