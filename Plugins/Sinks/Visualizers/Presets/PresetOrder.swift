internal import HemiolaSignal

/// Chooses the next preset from a list, and keeps the history of the presets that were shown.
struct PresetOrder: Sendable {
    /// The order in which presets follow each other.
    enum Kind: String, Sendable, CaseIterable {
        /// Each preset once per round, in an order that is random for every round.
        case shuffle
        /// The order of the list, repeated.
        case sequential
        /// Any preset except the current one, at random.
        case random
    }

    /// Maximum number of presets in the history.
    private static let historyLength = 256

    let kind: Kind
    private var generator: SplitMix64
    /// The presets to choose from.
    private var list = PresetNames([])
    /// The rest of this shuffled round, last first. It may contain names that were removed from the list; they are skipped.
    private var remaining: [String] = []
    /// The presets that were shown, oldest first; after `previous()` some of them follow the current one.
    private var history: [String] = []
    /// Index of the current preset in the history; -1: none.
    private var position = -1

    init(_ kind: Kind, seed: UInt64) {
        self.kind = kind
        generator = SplitMix64(seed: seed)
    }

    /// The preset that is shown; nil before the first.
    var current: String? { history.indices.contains(position) ? history[position] : nil }

    /// Replaces the list. The current preset stays. The cost does not depend on the length of the list.
    mutating func replace(_ list: PresetNames) {
        guard list !== self.list else { return }
        self.list = list
        let shown = current
        let kept = history.indices.filter { list.index(of: history[$0]) != nil || $0 == position }
        position = kept.firstIndex(of: position) ?? -1
        history = kept.map { history[$0] }
        assert(current == shown)
    }

    /// Moves to the next preset: forward in the history after `previous()`, else to a newly chosen preset.
    ///
    /// - Returns: nil when the list has no other preset.
    mutating func next() -> String? {
        if position + 1 < history.count {
            position += 1
            return current
        }
        let choice: String?
        switch kind {
        case .shuffle: choice = nextShuffled()
        case .sequential: choice = nextListed()
        case .random: choice = randomOther()
        }
        guard let choice else { return nil }
        select(choice)
        return choice
    }

    /// Moves to a random preset other than the current one; nil when the list has no other.
    mutating func random() -> String? {
        guard let choice = randomOther() else { return nil }
        select(choice)
        return choice
    }

    /// Moves back in the history; nil at its start.
    mutating func previous() -> String? {
        guard position > 0 else { return nil }
        position -= 1
        return current
    }

    /// Makes a preset the current one and appends it to the history.
    mutating func select(_ name: String) {
        if name == current { return }
        history.removeSubrange((position + 1)...)
        history.append(name)
        if history.count > Self.historyLength { history.removeFirst() }
        position = history.count - 1
    }

    /// Removes a preset that cannot be loaded from the history. The caller also replaces the list by one without it.
    mutating func remove(_ name: String) {
        let before = history[..<max(0, position)].count { $0 == name }
        let isCurrent = current == name
        history.removeAll { $0 == name }
        position -= before + (isCurrent ? 1 : 0)
    }

    private mutating func nextShuffled() -> String? {
        while let last = remaining.last, last == current || list.index(of: last) == nil { remaining.removeLast() }
        if remaining.isEmpty {
            remaining = list.names
            generator.shuffle(&remaining)
            // No preset twice in a row: the last preset of a round is not the first of the next.
            if remaining.count > 1, remaining.last == current {
                remaining.swapAt(remaining.count - 1, generator.index(below: remaining.count - 1))
            }
        }
        guard let choice = remaining.popLast(), choice != current else { return nil }
        return choice
    }

    private func nextListed() -> String? {
        guard !list.names.isEmpty else { return nil }
        let index = current.flatMap { list.index(of: $0) }.map { ($0 + 1) % list.names.count } ?? 0
        return list.names[index] == current ? nil : list.names[index]
    }

    private mutating func randomOther() -> String? {
        let currentIndex = current.flatMap { list.index(of: $0) }
        let count = list.names.count - (currentIndex == nil ? 0 : 1)
        guard count > 0 else { return nil }
        let index = generator.index(below: count)
        return list.names[index >= currentIndex ?? .max ? index + 1 : index]
    }
}
