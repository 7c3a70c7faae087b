/// The order of a list.
struct PresetOrder: Sendable {
    /// In which order presets follow each other.
    enum Kind: String, Sendable, CaseIterable {
        /// Each once, in an order that is drawn anew every time round.
        case shuffle
        /// As listed, over and over.
        case sequential
        /// Any but the one that is shown.
        case random
    }

    /// Presets that one can go back to.
    private static let historyLength = 256

    private let kind: Kind
    private var generator: ShowGenerator
    /// What can be chosen.
    private var list = PresetNames([])
    /// What is still to come of this round; names that are not in the list any more are passed over.
    private var bag: [String] = []
    /// What was shown, up to what is shown and, after going back, beyond.
    private var history: [String] = []
    private var place = -1

    init(_ kind: Kind, seed: UInt64) {
        self.kind = kind
        generator = ShowGenerator(seed: seed)
    }

    /// What can be chosen.
    var names: [String] { list.names }

    /// What is shown; nil at first.
    var current: String? { history.indices.contains(place) ? history[place] : nil }

    mutating func replace(_ names: [String]) {
        replace(PresetNames(names))
    }

    /// Replaces the list. The preset that is shown stays. Constant cost, whatever the list's length.
    mutating func replace(_ list: PresetNames) {
        guard list !== self.list else { return }
        self.list = list
        let shown = current
        let kept = history.indices.filter { list.place(of: history[$0]) != nil || $0 == place }
        place = kept.firstIndex(of: place) ?? -1
        history = kept.map { history[$0] }
        assert(current == shown)
    }

    /// On to the next: forward again after going back, else a new one.
    ///
    /// - Returns: nil when there is no other.
    mutating func next() -> String? {
        if place + 1 < history.count {
            place += 1
            return current
        }
        let choice: String?
        switch kind {
        case .shuffle: choice = drawFromBag()
        case .sequential: choice = following()
        case .random: choice = other()
        }
        guard let choice else { return nil }
        show(choice)
        return choice
    }

    /// On to any other.
    mutating func random() -> String? {
        guard let choice = other() else { return nil }
        show(choice)
        return choice
    }

    /// Back to the one before.
    mutating func previous() -> String? {
        guard place > 0 else { return nil }
        place -= 1
        return current
    }

    /// That one is shown, whoever chose it.
    mutating func show(_ name: String) {
        if name == current { return }
        history.removeSubrange((place + 1)...)
        history.append(name)
        if history.count > Self.historyLength { history.removeFirst() }
        place = history.count - 1
    }

    /// One that cannot be shown is no longer gone back to. The list has to be replaced by one without it.
    mutating func forget(_ name: String) {
        let before = history[..<max(0, place)].count { $0 == name }
        let isShown = current == name
        history.removeAll { $0 == name }
        place -= before + (isShown ? 1 : 0)
    }

    private mutating func drawFromBag() -> String? {
        while let last = bag.last, last == current || list.place(of: last) == nil { bag.removeLast() }
        if bag.isEmpty {
            bag = names
            generator.shuffle(&bag)
            // The last of one round is not the first of the next.
            if bag.count > 1, bag.last == current { bag.swapAt(bag.count - 1, generator.index(below: bag.count - 1)) }
        }
        guard let choice = bag.popLast(), choice != current else { return nil }
        return choice
    }

    private func following() -> String? {
        guard !names.isEmpty else { return nil }
        let index = current.flatMap { list.place(of: $0) }.map { ($0 + 1) % names.count } ?? 0
        return names[index] == current ? nil : names[index]
    }

    private mutating func other() -> String? {
        let shown = current.flatMap { list.place(of: $0) }
        let count = names.count - (shown == nil ? 0 : 1)
        guard count > 0 else { return nil }
        let index = generator.index(below: count)
        return names[index >= shown ?? .max ? index + 1 : index]
    }
}
