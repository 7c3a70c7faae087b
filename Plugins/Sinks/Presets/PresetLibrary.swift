/// An immutable list of unique preset names with an index for lookups. Built outside the analysis thread and shared from then on.
final class PresetNames: Sendable {
    /// In the order of the list.
    let names: [String]
    /// The same names without case and accents, see `String.folded`.
    let folded: [String]
    private let indices: [String: Int]

    /// - Parameter older: A list whose folded names are reused, because folding a name that is not ASCII is slow.
    init(_ names: [String], reusing older: PresetNames? = nil) {
        self.names = names
        folded = names.map { name in older?.index(of: name).flatMap { older?.folded[$0] } ?? name.folded }
        indices = Dictionary(names.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    }

    var isEmpty: Bool { names.isEmpty }

    /// The index of a name in the list; nil: not in the list. O(1).
    func index(of name: String) -> Int? { indices[name] }
}

/// The presets that can be loaded: the user's list and the page's list, without the presets that the page refused; and the subset
/// for automatic changes.
struct PresetLibrary: Sendable {
    /// The user's list; nil: the page's list is used.
    private let userNames: [String]?
    private let favourites: Set<String>
    private let skipped: Set<String>
    /// The presets that the page has; nil: not reported yet.
    private var pageNames: [String]?
    /// The presets that the page could not load.
    private var refused: Set<String> = []
    /// All presets that can be loaded, including the skipped ones.
    private(set) var known = PresetNames([])
    /// The presets for automatic changes.
    private(set) var chosen = PresetNames([])

    /// - Parameters:
    ///   - userNames: The user's list; nil: the page's list is used.
    ///   - favourites: Automatic changes use these presets only, as far as they are in the list; empty: all.
    ///   - skipped: Automatic changes never use these presets.
    init(userNames: [String]?, favourites: [String] = [], skipped: [String] = []) {
        self.userNames = userNames
        self.favourites = Set(favourites.map(\.folded))
        self.skipped = Set(skipped.map(\.folded))
        update()
    }

    /// Sets the page's list.
    ///
    /// - Parameter isNewPage: Whether the page has just connected. The presets that an earlier page refused are then available again.
    /// - Returns: false when the page reported presets and none of them is in the user's list.
    mutating func setPageNames(_ names: [String], isNewPage: Bool) -> Bool {
        pageNames = PresetList.unique(names)
        if isNewPage { refused = [] }
        update()
        return !known.isEmpty || names.isEmpty || userNames?.isEmpty != false
    }

    /// Removes a preset that the page could not load. Names that are in no list are not stored, so that memory stays bounded.
    mutating func refuse(_ name: String) {
        guard known.index(of: name) != nil else { return }
        refused.insert(name)
        update()
    }

    /// Looks up a preset by its name or a unique part of it. While no list is known every name is accepted.
    ///
    /// - Returns: The preset's name, or nil and the error message.
    func find(_ name: String) -> (name: String?, error: String) {
        if known.isEmpty { return (name, "") }
        switch NameMatch(name, in: known) {
        case .one(let found): return (found, "")
        case .several(let found): return (nil, "\"\(name)\" could be \(NameMatch.quoted(found))")
        case .none: return (nil, NameMatch.notFoundMessage(name, in: known))
        }
    }

    private mutating func update() {
        var names = userNames ?? pageNames ?? []
        if userNames != nil, let pageNames, !pageNames.isEmpty {
            let available = Set(pageNames)
            names.removeAll { !available.contains($0) }
        }
        names.removeAll { refused.contains($0) }
        known = PresetNames(names, reusing: known)
        var indices = Array(known.names.indices)
        if !skipped.isEmpty { indices.removeAll { skipped.contains(known.folded[$0]) } }
        if !favourites.isEmpty {
            let preferred = indices.filter { favourites.contains(known.folded[$0]) }
            if !preferred.isEmpty { indices = preferred }
        }
        chosen = indices.count == names.count ? known : PresetNames(indices.map { known.names[$0] }, reusing: known)
    }
}
