internal import CVamp
internal import Glibc
internal import Synchronization

/// Texts for C. They stay in memory until the process ends, each once, because hosts keep pointers to them.
enum Text {
    // The addresses of the texts and lists.
    private static let texts = Mutex<[String: UInt]>([:])
    private static let lists = Mutex<[[String]: UInt]>([:])

    /// A text.
    static func stored(_ text: String) -> UnsafePointer<CChar>? {
        let address = texts.withLock { texts in
            if let address = texts[text] { return address }
            let address = UInt(bitPattern: strdup(text))
            texts[text] = address
            return address
        }
        return UnsafePointer(bitPattern: address)
    }

    /// The texts of a list, and NULL after the last one.
    static func list(_ items: [String]) -> UnsafePointer<UnsafePointer<CChar>?>? {
        let address = lists.withLock { lists in
            if let address = lists[items] { return address }
            let list = UnsafeMutablePointer<UnsafePointer<CChar>?>.allocate(capacity: items.count + 1)
            for (index, item) in items.enumerated() { (list + index).initialize(to: stored(item)) }
            (list + items.count).initialize(to: nil)
            let address = UInt(bitPattern: list)
            lists[items] = address
            return address
        }
        return UnsafePointer(bitPattern: address)
    }

    /// A name of a feature or plugin as a title: `centroid_hz` as `Centroid`, `candidate_bpm` as `Candidate BPM`.
    static func title(_ name: String) -> String {
        var words = name.split { $0 == "_" || $0 == "-" }.map(String.init)
        if words.count > 1, ["db", "hz", "cents", "s"].contains(words[words.count - 1]) { words.removeLast() }
        let terms = ["bpm": "BPM", "mfcc": "MFCC", "min": "minimum", "max": "maximum"]
        words = words.map { terms[$0] ?? $0 }
        let text = words.joined(separator: " ")
        return text.prefix(1).uppercased() + text.dropFirst()
    }
}
