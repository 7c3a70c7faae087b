extension String {
    /// The name among `names` that is most like this text, if one is like it at all.
    ///
    /// A typing error, else a synonym or a name with this word: `musical-key` for `key`. Else the edit distance with transpositions
    /// (F. J. Damerau, 1964), at most a third of the length and one more, or a common start.
    package func nearest(in names: some Collection<String>) -> String? {
        let typed = Array(lowercased())
        var best: (name: String, distance: Int)?
        for name in names {
            let other = Array(name.lowercased())
            let limit = 1 + Swift.max(typed.count, other.count) / 3
            // The difference in length is a lower bound of the distance.
            guard abs(typed.count - other.count) <= limit else { continue }
            let distance = Self.distance(typed, other)
            if distance <= limit, distance < best?.distance ?? .max { best = (name, distance) }
        }
        if best?.distance ?? .max > 1, let name = Self.name(with: lowercased(), in: names) { return name }
        return best?.name ?? names.first { typed.count >= 2 && $0.lowercased().hasPrefix(lowercased()) }
    }

    /// What other programs and people call it.
    private static let synonyms = [
        "tempo": ["bpm", "beat"], "bpm": ["beat"], "lufs": ["loudness"], "rms": ["levels"], "volume": ["levels"], "fft": ["spectrum"],
        "mfcc": ["spectrum"], "f0": ["pitch"],
    ]

    private static func name(with word: String, in names: some Collection<String>) -> String? {
        for word in [word] + (synonyms[word] ?? []) where word.count > 1 {
            let name = names.first { $0 == word } ?? names.first { $0.split { !$0.isLetter && !$0.isNumber }.contains(word[...]) }
            if let name { return name }
        }
        return nil
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
