internal import HemiolaRecords
internal import HemiolaSystem

/// The beats or onsets of a file.
struct EventTimes: Equatable {
    enum Kind: String, CaseIterable {
        case beat, onset
    }

    /// In seconds, ascending.
    let times: [Double]
    /// The position of each in the bar, 1 = downbeat; 0 = unknown.
    let positions: [Int]
    /// When each event was emitted, in seconds of stream time; nil when the file has no such times.
    let emitted: [Double]?

    /// The times of the downbeats; nil when no position is known.
    var downbeats: [Double]? {
        positions.contains { $0 > 0 } ? zip(times, positions).filter { $1 == 1 }.map(\.0) : nil
    }

    /// When a live client can react: at the event's time if the record was emitted before it, else when the record was emitted.
    var actionable: [Double]? {
        emitted.map { zip(times, $0).map { max($0, $1) } }
    }

    /// Reads Hemiola's records, or one line per event: the time in seconds and, in a second column, the position in the bar. Columns
    /// are separated by spaces or tabs, not by commas or semicolons, because of decimal commas. `#` starts a comment.
    struct Reader {
        /// The most events of a file: ten a second for two days.
        private static let limit = 1 << 21

        var kind: Kind
        /// The name of the file in messages.
        var title: String
        private var events: [(time: Double, position: Int, emitted: Double?)] = []

        init(kind: Kind, title: String) {
            self.kind = kind
            self.title = title
        }

        /// Adds the event of a line.
        mutating func add(_ line: [UInt8], _ number: Int) throws(Failure) {
            guard let text = String(validating: line, as: UTF8.self) else { throw Failure("\(title): not UTF-8 text") }
            // Programs for old Macs end a line with CR.
            for part in text.split(whereSeparator: \.isNewline) {
                let content = part.drop { $0 == " " || $0 == "\t" }
                if content.isEmpty || content.first == "#" { continue }
                guard content.first == "{" else {
                    try add(content, number)
                    continue
                }
                try Array(content.utf8).readRecord(kind.rawValue, at: "\(title):\(number)") { record throws(Problem) in
                    let position = try record.optionalInteger("position") ?? 0
                    events.append((try record.number("t"), position, try record.optionalNumber("emitted_t")))
                }
            }
            guard events.count <= Self.limit else {
                throw Failure("\(title):\(number): more than \(Self.limit) events; score a part of them")
            }
        }

        private mutating func add(_ content: Substring, _ number: Int) throws(Failure) {
            let columns = content.split { $0 == "\t" || $0 == " " }
            guard let time = columns.first.flatMap({ EventTimes.number($0) }), time >= 0 else {
                throw Failure(
                    "\(title):\(number): \"\(content.prefix(40))\" does not begin with a time in seconds; write 1.5, and a space or "
                        + "tab before the next column")
            }
            let position = columns.dropFirst().first.flatMap { EventTimes.number($0) } ?? 0
            events.append((time, Int(min(max(position, 0), 1000).rounded()), nil))
        }

        /// The events of all lines.
        var times: EventTimes {
            let sorted = events.enumerated().sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }.map(\.element)
            let emitted = sorted.compactMap(\.emitted)
            let isEmitted = !emitted.isEmpty && emitted.count == sorted.count
            return EventTimes(times: sorted.map(\.time), positions: sorted.map(\.position), emitted: isEmitted ? emitted : nil)
        }
    }

    /// A decimal number with a point, with or without an exponent. Rejects other formats that Swift reads (`0x10`, `inf`, `nan`).
    fileprivate static func number(_ text: Substring) -> Double? {
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) || "+-.eE".utf8.contains($0) }) else { return nil }
        return Double(text).flatMap { $0.isFinite ? $0 : nil }
    }
}
