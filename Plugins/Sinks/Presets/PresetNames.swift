/// Names of presets, each once, with what it takes to look one up. Made off the analysis thread and shared from then on.
final class PresetNames: Sendable {
    /// In the order of the list.
    let names: [String]
    /// The same without case and accents (`String.folded`).
    let folded: [String]
    private let places: [String: Int]

    /// - Parameter older: Where names that it has too need not be folded again, which is slow where they are not ASCII.
    init(_ names: [String], reusing older: PresetNames? = nil) {
        self.names = names
        folded = names.map { name in older?.place(of: name).flatMap { older?.folded[$0] } ?? name.folded }
        places = Dictionary(names.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    }

    var isEmpty: Bool { names.isEmpty }

    /// Where a name stands in the list; nil: it is not there. Constant cost.
    func place(of name: String) -> Int? { places[name] }
}
