/// The presets that can be loaded: those of the user's list that a page has, or of all pages; and those of each page. A preset that a page
/// has refused is not one that it has.
struct PresetLibrary: Sendable {
    struct Page: Sendable {
        /// The origin of the page's controls.
        let origin: String
        /// The presets that can be loaded in the page.
        fileprivate(set) var known = PresetNames([])
        /// The presets that the page has reported; empty: not known, it may have every preset.
        fileprivate var names: [String] = []
        fileprivate var available: Set<String> = []
        fileprivate var refused: Set<String> = []
        /// Whether the page has disconnected. The presets of the last page remain until another page reports its own.
        fileprivate var isClosed = false

        fileprivate init(_ origin: String) { self.origin = origin }

        /// What the names cost, in bytes: their own, and those of the lists that contain them.
        fileprivate var size: Int { names.reduce(0) { $0 + $1.utf8.count + 64 } }

        fileprivate func has(_ name: String) -> Bool { (names.isEmpty || available.contains(name)) && !refused.contains(name) }
    }

    /// Maximum number of pages whose presets are stored, and of bytes of their names: eight lists of the greatest length with common names. The
    /// oldest are forgotten, and count as pages whose presets are not known.
    private static let pageLimit = 64
    private static let sizeLimit = 8 << 20

    /// The user's list; nil: the pages' lists are used.
    private let userNames: [String]?
    /// In the order in which they connected.
    private var pages: [Page] = []
    /// Grows with every change.
    private(set) var revision = 0
    /// All presets that can be loaded in a page.
    private(set) var known = PresetNames([])

    /// - Parameter userNames: The user's list; nil: the pages' lists are used.
    init(userNames: [String]?) {
        self.userNames = userNames
        update()
    }

    /// The pages that are connected, with their presets.
    var connectedPages: [Page] { pages.filter { !$0.isClosed } }

    /// Forgets all pages.
    mutating func reset() {
        pages = []
        update()
    }

    /// Sets a page's list.
    ///
    /// - Parameter isNewPage: Whether the page has just connected. The presets that it refused before are then available again.
    /// - Returns: false when the page reported presets and none of them is in the user's list.
    mutating func setPageNames(_ names: [String], of page: String, isNewPage: Bool) -> Bool {
        pages.removeAll(where: \.isClosed)
        let index = index(of: page)
        pages[index].names = PresetList.unique(names)
        pages[index].available = Set(names)
        if isNewPage { pages[index].refused = [] }
        forgetOldestPages(before: page)
        update()
        return names.isEmpty || userNames?.isEmpty != false || pages.contains { $0.origin == page && !$0.known.isEmpty }
    }

    private mutating func forgetOldestPages(before page: String) {
        var size = pages.reduce(0) { $0 + $1.size }
        while size > Self.sizeLimit, let oldest = pages.firstIndex(where: { $0.origin != page }) { size -= pages.remove(at: oldest).size }
    }

    /// Removes a preset that a page could not load. Names that are in no list are not stored, so that memory stays bounded.
    mutating func refuse(_ name: String, by page: String) {
        guard known.index(of: name) != nil else { return }
        pages[index(of: page)].refused.insert(name)
        update()
    }

    /// Removes a page that has disconnected.
    mutating func close(_ page: String) {
        guard let index = pages.firstIndex(where: { $0.origin == page }) else { return }
        if pages.count == 1 { pages[index].isClosed = true } else { pages.remove(at: index) }
        update()
    }

    /// The index of a page, which is added if it is not known yet.
    private mutating func index(of page: String) -> Int {
        if let index = pages.firstIndex(where: { $0.origin == page }) { return index }
        if pages.count == Self.pageLimit { pages.removeFirst() }
        pages.append(Page(page))
        return pages.count - 1
    }

    /// Looks up a preset by its name or a unique part of it. While no list is known every name is accepted.
    ///
    /// - Returns: The preset's name, or nil and the error message.
    func find(_ name: String) -> (name: String?, error: String?) {
        if known.isEmpty { return (name, nil) }
        let found = known.matches(name)
        switch found.count {
        case 0: return (nil, known.notFoundMessage(name))
        case 1: return (found[0], nil)
        default: return (nil, "\"\(name)\" could be \(PresetNames.quoted(found))")
        }
    }

    private mutating func update() {
        revision += 1
        var names = userNames ?? PresetList.unique(pages.flatMap(\.names))
        if !pages.isEmpty { names.removeAll { name in !pages.contains { $0.has(name) } } }
        known = PresetNames(names, reusing: known)
        for index in pages.indices {
            let names = known.names.filter(pages[index].has)
            // Pages with all presets share one list.
            pages[index].known = names.count == known.names.count ? known : PresetNames(names, reusing: known)
        }
    }
}
