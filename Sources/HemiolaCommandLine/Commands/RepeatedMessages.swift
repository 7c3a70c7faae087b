/// Selects the messages that are printed, and counts the others: of messages that differ in numbers only, the first is printed, and every
/// ten minutes how many followed. Needs the same memory however many come.
struct RepeatedMessages {
    /// Seconds between two counts of the same kind.
    static let interval = 600.0
    /// Kinds that are counted separately.
    static let capacity = 64
    /// Characters of a message that are compared.
    private static let longestText = 500

    private struct Kind {
        var last: String
        var count = 0
    }

    private var kinds: [String: Kind] = [:]
    /// The kind of the last message of each source that reports its state.
    private var states: [String: String] = [:]
    /// Messages of further kinds.
    private var others = 0
    private var nextCounts: Double

    /// - Parameter start: Seconds on a monotonic clock.
    init(start: Double) {
        nextCounts = start + Self.interval
    }

    /// Adds a message.
    ///
    /// - Parameter source: The source whose state the message reports: it is printed where its kind is another than that of the last report,
    ///   also if there was one of this kind before. nil: the message reports no state.
    /// - Returns: Whether it is to be printed, and the lines with counts to print before.
    mutating func add(_ text: String, at time: Double, stateOf source: String? = nil) -> (isNew: Bool, counts: [String]) {
        let text = String(text.prefix(Self.longestText))
        var counts: [String] = []
        if time >= nextCounts {
            nextCounts = time + Self.interval
            // What has not come again is new when it comes the next time.
            kinds = kinds.filter { $0.value.count > 0 }
            counts = takeCounts()
        }
        let name = Self.kind(of: text)
        var isAnotherState = false
        if let source { isAnotherState = states.updateValue(name, forKey: source) != name }
        if kinds[name] != nil {
            if isAnotherState { return (true, counts) }
            kinds[name]?.last = text
            kinds[name]?.count += 1
            return (false, counts)
        }
        guard kinds.count < Self.capacity else {
            others += 1
            return (false, counts)
        }
        kinds[name] = Kind(last: text)
        return (true, counts)
    }

    /// A line per kind of which messages were counted: the last of them, and their number.
    mutating func takeCounts() -> [String] {
        var lines: [String] = []
        for (name, kind) in kinds.sorted(by: { $0.key < $1.key }) where kind.count > 0 {
            lines.append("\(kind.last) (\(kind.count) more time\(kind.count == 1 ? "" : "s"))")
            kinds[name]?.count = 0
        }
        if others > 0 { lines.append("\(others) other message\(others == 1 ? " was" : "s were") left out") }
        others = 0
        return lines
    }

    /// The words of a message, without numbers. An address is a word.
    private static func kind(of text: String) -> String {
        text.split(separator: " ").filter { Double($0.filter { !"(),;:".contains($0) }) == nil }.joined(separator: " ")
    }
}
