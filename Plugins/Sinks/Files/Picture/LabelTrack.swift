internal import HemiolaTonal

/// The labels of a row along the time axis.
struct LabelTrack: Equatable {
    /// The most labels that are kept: a chord per second for 18 hours.
    static let limit = 1 << 16

    struct Label: Equatable {
        /// In seconds since the left end.
        var start: Double
        /// nil: the start of the next label.
        var end: Double?
        var text: String
    }

    private(set) var labels: [Label] = []

    mutating func append(_ label: Label) {
        if labels.count < Self.limit, label.start.isFinite, label.end?.isFinite != false { labels.append(label) }
    }

    /// The labels in their order, each with an end, within a duration in seconds.
    func trimmed(to duration: Double) -> LabelTrack {
        let sorted = labels.sorted { $0.start < $1.start }
        var result = LabelTrack()
        for (index, label) in sorted.enumerated() {
            let next = index + 1 < sorted.count ? sorted[index + 1].start : duration
            let (start, end) = (max(0, label.start), min(duration, label.end ?? next))
            if start < end { result.labels.append(Label(start: start, end: end, text: label.text)) }
        }
        return result
    }

    /// The text that is shown for the longest time in all; nil: there is no label.
    var longest: String? {
        var durations: [String: Double] = [:]
        for label in labels { durations[label.text, default: 0] += (label.end ?? label.start) - label.start }
        // The text decides between equal durations, so that the result does not depend on the order of a dictionary.
        return durations.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key
    }
}

/// The texts of keys and chords in a picture.
enum ChordText {
    /// The names of the pitch classes from C on, as in a key.
    static func pitchClasses(in signature: KeySignature) -> [String] {
        (0..<12).map { signs(signature.name(of: $0)) }
    }

    /// The signature of the key that is shown for the longest time; without one, that in which the chords are diatonic.
    static func signature(keys: LabelTrack?, chords: LabelTrack?) -> KeySignature {
        if let key = keys?.longest.flatMap(KeySignature.init(named:)) { return key }
        var (sum, weight) = (0.0, 0.0)
        for label in chords?.labels ?? [] {
            let root = label.text.prefix { $0 != ":" && $0 != "/" }
            guard let place = KeySignature.place(of: root) else { continue }
            let duration = (label.end ?? label.start) - label.start
            sum += duration * Double(place)
            weight += duration
        }
        // The roots of C major, from F to B, are two places above C on the line of fifths on average.
        return KeySignature(sharps: weight > 0 ? min(6, max(-6, Int((sum / weight).rounded()) - 2)) : 0)
    }

    /// The pitch class of a name that begins with a note, 0 = C; nil: it does not.
    static func pitchClass(of name: String) -> Int? {
        let steps: [Character: Int] = ["C": 0, "D": 2, "E": 4, "F": 5, "G": 7, "A": 9, "B": 11]
        guard let first = name.first, var place = steps[first] else { return nil }
        for character in name.dropFirst() {
            switch character {
            case "#", "♯": place += 1
            case "b", "♭": place -= 1
            case ":", "/", " ": return (place % 12 + 12) % 12
            default: return nil
            }
        }
        return (place % 12 + 12) % 12
    }

    /// `A:min7` → `Am7`, `C#:maj` → `C♯`; `N` and `X`, which are no chords: empty.
    static func chord(_ label: String) -> String {
        guard pitchClass(of: label) != nil else { return ["N", "X"].contains(label) ? "" : label }
        let parts = label.split(separator: ":", maxSplits: 1)
        let qualities = ["maj": "", "min": "m", "min7": "m7", "minmaj7": "m(maj7)", "hdim7": "ø7"]
        let quality = parts.count > 1 ? String(parts[1]) : ""
        return signs(parts[0]) + (qualities[quality] ?? quality)
    }

    /// `Db major` → `D♭ major`.
    static func key(_ label: String) -> String {
        guard pitchClass(of: label) != nil, let space = label.firstIndex(of: " ") else { return label }
        return signs(label[..<space]) + label[space...]
    }

    /// `Db major` → `D♭`, `A minor` → `Am`.
    static func shortKey(_ label: String) -> String {
        guard pitchClass(of: label) != nil, let space = label.firstIndex(of: " ") else { return label }
        return signs(label[..<space]) + (isMinor(label) ? "m" : "")
    }

    /// Whether a key or a chord is minor.
    static func isMinor(_ label: String) -> Bool {
        label.hasSuffix(" minor") || label.contains(":min") || label.contains(":hdim") || label.contains(":dim")
    }

    private static func signs(_ note: some StringProtocol) -> String {
        String(note.map { $0 == "#" ? "♯" : $0 == "b" ? "♭" : $0 })
    }
}
