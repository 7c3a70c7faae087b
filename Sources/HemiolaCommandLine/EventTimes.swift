internal import FoundationEssentials
internal import HemiolaSignal

/// Beats or onsets as a file has them.
struct EventTimes: Equatable {
    enum Kind: String, CaseIterable {
        case beat, onset
    }

    /// In seconds, ascending.
    private(set) var times: [Double] = []
    /// The place of each in the bar, 1 = downbeat; 0 where it is not told.
    private(set) var positions: [Int] = []
    /// When each was told, in seconds of stream time; nil for a file that does not say.
    private(set) var emitted: [Double]?

    /// Times of those at the start of a bar; nil where no positions are told.
    var downbeats: [Double]? {
        positions.contains { $0 > 0 } ? zip(times, positions).filter { $1 == 1 }.map(\.0) : nil
    }

    /// When somebody who waits for the record can act: at the event's time if it was announced, else when it was told.
    var actionable: [Double]? {
        emitted.map { zip(times, $0).map { max($0, $1) } }
    }

    struct Fault: Error {
        var line: Int
        var message: String
    }

    /// Reads records of Hemiola's, or a line per event: seconds, and in a second column the place in the bar. Spaces or tabs separate
    /// columns; a comma or semicolon does not, for it may be a decimal comma. `#` begins a comment.
    init(_ text: String, kind: Kind) throws(Fault) {
        var events: [(time: Double, position: Int, emitted: Double?)] = []
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let content = line.drop { $0 == " " || $0 == "\t" }
            if content.isEmpty || content.first == "#" { continue }
            if content.first == "{" {
                guard let record = try? JSONDecoder().decode(Record.self, from: Data(content.utf8)) else {
                    throw Fault(line: index + 1, message: "this is no record")
                }
                guard record.type == kind.rawValue else { continue }
                guard let time = record.t else { throw Fault(line: index + 1, message: "the record has no \"t\"") }
                events.append((time, record.position ?? 0, record.emittedTime))
            } else {
                let columns = content.split { $0 == "\t" || $0 == " " }
                guard let time = columns.first.flatMap({ Self.number($0) }), time >= 0 else {
                    throw Fault(
                        line: index + 1,
                        message:
                            "\"\(content.prefix(40))\" begins with no time in seconds; write 1.5, and a space or tab before the next column"
                    )
                }
                let position = columns.dropFirst().first.flatMap { Self.number($0) }.map { Int($0.clamped(to: 0...1000)) }
                events.append((time, position ?? 0, nil))
            }
        }
        events = events.enumerated().sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }.map(\.element)
        times = events.map(\.time)
        positions = events.map(\.position)
        if !events.isEmpty, events.allSatisfy({ $0.emitted != nil }) { emitted = events.compactMap(\.emitted) }
    }

    /// A decimal number with a point, with or without an exponent. What Swift reads besides (`0x10`, `inf`, `nan`) is none.
    private static func number(_ text: Substring) -> Double? {
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) || "+-.eE".utf8.contains($0) }) else { return nil }
        return Double(text).flatMap { $0.isFinite ? $0 : nil }
    }

    private struct Record: Decodable {
        var type: String
        var t: Double?
        var position: Int?
        var emittedTime: Double?

        enum CodingKeys: String, CodingKey {
            case type, t, position
            case emittedTime = "emitted_t"
        }
    }
}

extension Double {
    fileprivate func clamped(to range: ClosedRange<Double>) -> Double {
        min(max(self, range.lowerBound), range.upperBound).rounded()
    }
}
