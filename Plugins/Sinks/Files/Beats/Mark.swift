internal import Hemiola

/// A beat, a bar or a section, from one time to another.
struct Mark {
    /// From the longest to the shortest.
    enum Kind: String, CaseIterable {
        case section = "Section"
        case bar = "Bar"
        case beat = "Beat"
    }

    var kind: Kind
    /// In seconds.
    var start: Double
    var end: Double
    /// The label of a section, the number of a bar, from 1, or the position of a beat in its bar; empty: it is not known.
    var label: String
}

extension BeatTrack {
    /// The beats, bars and sections. Each ends where the next of its kind begins; the last beat lasts as long as its tempo says, the last
    /// bar ends with it, and the last section with the track. A bar begins with a downbeat.
    ///
    /// - Parameter duration: Length of the stream in seconds.
    func marks(until duration: Double) -> [Mark] {
        let end = beats.last.map { min($0.time + 60 / $0.beat.beatsPerMinute, max($0.time, duration)) } ?? duration
        let downbeats = beats.filter { $0.beat.position == 1 }.map(\.time)
        return Self.marks(.section, sections.map(\.time), until: duration) { sections[$0].label ?? String($0 + 1) }
            + Self.marks(.bar, downbeats, until: end) { String($0 + 1) }
            + Self.marks(.beat, beats.map(\.time), until: end) { beats[$0].beat.position.map { String($0) } ?? "" }
    }

    private static func marks(_ kind: Mark.Kind, _ starts: [Double], until end: Double, label: (Int) -> String) -> [Mark] {
        zip(starts, starts.dropFirst() + [end]).enumerated().map { index, times in
            Mark(kind: kind, start: times.0, end: times.1, label: label(index))
        }
    }
}
