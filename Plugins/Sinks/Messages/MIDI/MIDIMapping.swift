internal import HemiolaFieldMaps
internal import HemiolaMIDI
internal import HemiolaRecords
internal import HemiolaSystem

/// The messages of a field map: its destinations are `controller.N` and `note.N`. Several values go to N, N + 1 and so on.
///
/// Values are limited to 0…127. Of a batch, only those are sent that differ from the last ones, because a MIDI cable carries about a thousand
/// messages a second.
struct MIDIMapping {
    private enum Destination {
        case controller(Int)
        case note(Int)
    }

    private static let numbers = 0...127

    private let channel: Int
    /// Length of the notes of records, in seconds.
    private let noteLength: Double
    private var routes: FieldRoutes
    private let destinations: [Destination]
    /// The last value of each controller, and the velocity of each note that sounds; -1: none.
    private var controllers = [Int](repeating: -1, count: numbers.count)
    private var notes = [Int](repeating: -1, count: numbers.count)

    /// - Throws: The map names something that the stream does not have, or a wrong destination.
    init(_ map: FieldMap, for stream: StreamHeader, channel: Int, noteLength: Double) throws(Problem) {
        self.channel = channel
        self.noteLength = noteLength
        routes = try FieldRoutes(map, for: stream) { name in
            Self.destination(name) == nil
                ? "\"\(name.onOneLine)\" is no MIDI message; write controller.N or note.N, with N from 0 to 127" : nil
        }
        destinations = map.entries.compactMap { Self.destination($0.destination) }
    }

    private static func destination(_ name: String) -> Destination? {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let number = Int(parts[1]), String(number) == parts[1], numbers.contains(number) else { return nil }
        return switch parts[0] {
        case "controller": .controller(number)
        case "note": .note(number)
        default: nil
        }
    }

    /// Adds the messages of a batch: controllers whose value has changed, and notes whose value has become 0 or more than 0.
    mutating func add(_ batch: borrowing Batch, at time: Double, to queue: inout MessageQueue) {
        var (controllers, notes) = (controllers, notes)
        routes.forEachValue(of: batch) { entry, values in
            for (index, value) in values.enumerated() {
                guard let value = Self.value(value) else { continue }
                switch destinations[entry] {
                case .controller(let first):
                    let number = first + index
                    guard Self.numbers.contains(number), controllers[number] != value else { continue }
                    controllers[number] = value
                    queue.add(.controller(number, channel: channel, value: value), at: time)
                case .note(let first):
                    let number = first + index
                    guard Self.numbers.contains(number) else { continue }
                    if value > 0, notes[number] < 0 {
                        notes[number] = value
                        queue.add(.noteOn(number, channel: channel, velocity: value), at: time)
                    } else if value == 0, notes[number] >= 0 {
                        notes[number] = -1
                        queue.add(.noteOff(number, channel: channel), at: time)
                    }
                }
            }
        }
        (self.controllers, self.notes) = (controllers, notes)
    }

    /// Adds the messages of a record: the values of controllers, and notes of the length `note_ms`.
    mutating func add(_ event: Event, at time: Double, to queue: inout MessageQueue) {
        routes.forEachValue(of: event) { entry, values in
            for (index, value) in values.enumerated() {
                guard let value = Self.value(value) else { continue }
                switch destinations[entry] {
                case .controller(let first) where Self.numbers.contains(first + index):
                    queue.add(.controller(first + index, channel: channel, value: value), at: time)
                case .note(let first) where Self.numbers.contains(first + index) && value > 0:
                    queue.addNote(first + index, channel: channel, velocity: value, at: time, duration: noteLength)
                default: break
                }
            }
        }
    }

    /// Ends the notes that sound.
    mutating func end(at time: Double, in queue: inout MessageQueue) {
        for number in Self.numbers where notes[number] >= 0 { queue.add(.noteOff(number, channel: channel), at: time) }
        forget()
    }

    /// All values are sent anew with the next batch, for a receiver that has missed some.
    mutating func forget() {
        controllers = controllers.map { _ in -1 }
        notes = notes.map { _ in -1 }
    }

    private static func value(_ value: ParameterValue) -> Int? {
        let number: Double? = if case .boolean(let isOn) = value { isOn ? 127 : 0 } else { value.number }
        guard let number, number.isFinite else { return nil }
        return Int(min(max(number.rounded(), Double(numbers.lowerBound)), Double(numbers.upperBound)))
    }
}
