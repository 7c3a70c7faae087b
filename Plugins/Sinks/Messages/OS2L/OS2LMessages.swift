internal import HemiolaRecords
internal import HemiolaSystem

/// The messages of OS2L: JSON objects on a TCP connection, without a separator in the specification. Each ends with a line break, which JSON
/// allows: some receivers read lines, others objects.
enum OS2LMessages {
    /// - Parameters:
    ///   - beat: Its tempo and confidence are `bpm` and `strength`.
    ///   - count: Its place, and whether the places before it were others.
    static func beat(_ beat: Beat, _ count: BeatCount.Place) -> [UInt8] {
        var buffer = JSONBuffer(capacity: 128)
        buffer.append(#"{"evt":"beat","change":"#)
        buffer.append(count.isChange ? "true" : "false")
        buffer.append(#","pos":"#)
        buffer.append(integer: count.number)
        buffer.append(#","bpm":"#)
        buffer.append(fixed: beat.beatsPerMinute, decimals: 2)
        buffer.append(#","strength":"#)
        buffer.append(fixed: beat.confidence, decimals: 2)
        buffer.append("}\n")
        return buffer.bytes
    }

    /// A button is pressed or released.
    static func button(_ name: String, isPressed: Bool) -> [UInt8] {
        var buffer = JSONBuffer(capacity: 128)
        buffer.append(#"{"evt":"btn","name":"#)
        buffer.append(string: name)
        buffer.append(#","state":""#)
        buffer.append(isPressed ? "on" : "off")
        buffer.append("\"}\n")
        return buffer.bytes
    }
}

/// Numbers beats, so that a downbeat has a multiple of four: receivers begin a bar there.
struct BeatCount {
    struct Place: Equatable {
        var number: Int
        /// Whether the number does not follow from that of the beat before.
        var isChange: Bool
    }

    private static let beatsPerBar = 4
    /// Seconds without a beat after which the next one begins anew: slower than 30 beats a minute.
    private static let longestInterval = 2.0

    private var next: Int?
    private var lastTime = 0.0

    /// The place of the next beat.
    ///
    /// - Parameters:
    ///   - position: Its position in the bar, 1 = downbeat; nil: not known.
    ///   - time: Its time in seconds.
    mutating func add(position: Int?, at time: Double) -> Place {
        defer { lastTime = time }
        guard let number = next, time - lastTime <= Self.longestInterval, time > lastTime else {
            let number = next ?? 0
            let start = (number + Self.beatsPerBar - 1) / Self.beatsPerBar * Self.beatsPerBar + max(0, (position ?? 1) - 1)
            next = start + 1
            return Place(number: start, isChange: true)
        }
        guard position == 1, number % Self.beatsPerBar != 0 else {
            next = number + 1
            return Place(number: number, isChange: false)
        }
        let corrected = (number / Self.beatsPerBar + 1) * Self.beatsPerBar
        next = corrected + 1
        return Place(number: corrected, isChange: true)
    }
}
