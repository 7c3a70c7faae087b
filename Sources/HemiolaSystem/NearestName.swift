extension String {
    /// The name among `names` that is most like this text, if one is like it at all.
    ///
    /// One with a single typing error, else one with this word: `musical-key` for `key`. Else the edit distance with transpositions (F. J.
    /// Damerau, 1964), at most a third of the length and one more, and less than the shorter length, or a common start.
    ///
    /// For messages about a name that does not exist: `did you mean chroma?`. Letters are compared without case. Takes the product of both
    /// lengths for each name.
    ///
    /// - Parameter names: The names that exist. Of several that are equally like it, the first is returned.
    public func nearest(in names: some Collection<String>) -> String? {
        let typed = Array(lowercased())
        var best: (name: String, distance: Int)?
        for name in names {
            let other = Array(name.lowercased())
            let limit = Swift.min(1 + Swift.max(typed.count, other.count) / 3, Swift.min(typed.count, other.count) - 1)
            // The difference in length is a lower bound of the distance.
            guard abs(typed.count - other.count) <= limit else { continue }
            let distance = Self.distance(typed, other)
            if distance <= limit, distance < best?.distance ?? .max { best = (name, distance) }
        }
        if best?.distance ?? .max > 1, let name = names.first(where: { $0.hasWord(self) }) { return name }
        return best?.name ?? names.first { typed.count >= 2 && $0.lowercased().hasPrefix(lowercased()) }
    }

    /// What to write instead of this text, which is no name that exists: `did you mean chroma?`, else all names: `keys: batch, rate`.
    ///
    /// - Parameters:
    ///   - names: The names that exist.
    ///   - title: What they are, for the list.
    package func suggestion(among names: some Collection<String>, _ title: String) -> String {
        if names.isEmpty { return "it has none" }
        return nearest(in: names).map { "did you mean \($0)?" } ?? "\(title): \(names.joined(separator: ", "))"
    }

    /// Whether a word is in this text, in upper or lower case.
    package func hasWord(_ word: String) -> Bool {
        guard word.count > 1 else { return false }
        let word = word.lowercased()
        return lowercased().split { !$0.isLetter && !$0.isNumber }.contains(word[...])
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
