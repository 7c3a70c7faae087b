/// What can be shown: the user's list and the page's, without what was refused, and what of it comes by itself.
struct Repertoire: Sendable {
    /// The user's own list; nil: whatever the page has.
    private let own: [String]?
    private let favourites: Set<String>
    private let skipped: Set<String>
    /// What the page has; nil: it has not said.
    private var pageNames: [String]?
    /// What the page would not show.
    private var refused: Set<String> = []
    /// All that can be shown, the skipped ones too.
    private(set) var known = PresetNames([])
    /// What comes by itself.
    private(set) var chosen = PresetNames([])

    /// - Parameters:
    ///   - own: nil: whatever the page has.
    ///   - favourites: Only these come by themselves, as far as they are there; empty: all.
    ///   - skipped: These do not.
    init(own: [String]?, favourites: [String] = [], skipped: [String] = []) {
        self.own = own
        self.favourites = Set(favourites.map(\.folded))
        self.skipped = Set(skipped.map(\.folded))
        update()
    }

    /// The page says what it has.
    ///
    /// - Parameter isNewPage: What another page refused is tried again.
    /// - Returns: Whether there is anything to show, or nothing was said.
    mutating func adopt(_ names: [String], isNewPage: Bool) -> Bool {
        pageNames = PresetList.unique(names)
        if isNewPage { refused = [] }
        update()
        return !known.isEmpty || names.isEmpty || own?.isEmpty != false
    }

    /// The page would not show one. Names that are in no list are not kept: there is no end to them.
    mutating func refuse(_ name: String) {
        guard known.place(of: name) != nil else { return }
        refused.insert(name)
        update()
    }

    /// What a name means, or why it means nothing. Where nobody knows what there is, any name will do.
    func find(_ name: String) -> (name: String?, fault: String) {
        if known.isEmpty { return (name, "") }
        switch NameMatch(name, in: known) {
        case .one(let found): return (found, "")
        case .several(let found): return (nil, "\"\(name)\" could be \(NameMatch.listed(found))")
        case .none: return (nil, NameMatch.fault(name, in: known))
        }
    }

    private mutating func update() {
        var names = own ?? pageNames ?? []
        if own != nil, let pageNames, !pageNames.isEmpty {
            let there = Set(pageNames)
            names.removeAll { !there.contains($0) }
        }
        names.removeAll { refused.contains($0) }
        known = PresetNames(names, reusing: known)
        var places = Array(known.names.indices)
        if !skipped.isEmpty { places.removeAll { skipped.contains(known.folded[$0]) } }
        if !favourites.isEmpty {
            let preferred = places.filter { favourites.contains(known.folded[$0]) }
            if !preferred.isEmpty { places = preferred }
        }
        chosen = places.count == names.count ? known : PresetNames(places.map { known.names[$0] }, reusing: known)
    }
}
