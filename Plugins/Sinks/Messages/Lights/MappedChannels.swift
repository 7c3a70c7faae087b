internal import HemiolaFieldMaps
internal import HemiolaRecords
internal import HemiolaSignal
internal import HemiolaSystem

/// The channels of a universe that follow a field map: `to: 12` is a channel.
///
/// A value with every batch or change stays until the next; one with a record lasts for ``hold``.
struct MappedChannels {
    /// Seconds for which a value of a record lasts.
    static let hold = 0.1

    private var routes: FieldRoutes
    /// The place of the first channel of each entry.
    private let places: [Int]
    /// The values of batches.
    private var channels: [UInt8]
    /// The values of records that occurred, and when they end.
    private var holds: [(end: Double, place: Int, value: UInt8)] = []
    /// Records to come, with their times.
    private var events: [(time: Double, event: Event)] = []

    init(_ map: FieldMap, _ header: StreamHeader) throws(Problem) {
        routes = try FieldRoutes(map, for: header) { Self.place($0) == nil ? "\"\($0)\" is no channel; use 1...512" : nil }
        places = map.entries.map { Self.place($0.destination) ?? 0 }
        channels = [UInt8](repeating: 0, count: Universe.channelCount)
    }

    /// The place of a channel in a frame; nil: there is no such channel.
    private static func place(_ text: String) -> Int? {
        guard let channel = Int(text), (1...Universe.channelCount).contains(channel) else { return nil }
        return channel - 1
    }

    mutating func add(_ batch: borrowing Batch) {
        let places = places
        var channels = channels
        routes.forEachValue(of: batch) { entry, values in
            Self.forEachByte(of: values, at: places[entry]) { channels[$0] = $1 }
        }
        self.channels = channels
    }

    /// Adds an event that occurs at a time.
    mutating func add(_ event: Event, at time: Double) {
        if routes.recordTypes.contains(event.type.name), events.count < 1000 { events.append((time, event)) }
    }

    /// The time of the next record that is shown; infinite: none is known.
    var nextEvent: Double { events.map(\.time).min() ?? .infinity }

    /// Computes a frame. All times are in seconds of one clock.
    mutating func render(at now: Double, into frame: inout [UInt8]) {
        let places = places
        var holds = holds.filter { $0.end > now }
        for (time, event) in events where time <= now {
            routes.forEachValue(of: event) { entry, values in
                Self.forEachByte(of: values, at: places[entry]) { holds.append((now + Self.hold, $0, $1)) }
            }
        }
        events.removeAll { $0.time <= now }
        frame = channels
        for hold in holds { frame[hold.place] = hold.value }
        self.holds = holds
    }

    private static func forEachByte(of values: [ParameterValue], at place: Int, _ receive: (_ place: Int, _ byte: UInt8) -> Void) {
        for (index, value) in values.enumerated() where place + index < Universe.channelCount {
            let number = value.number ?? (value.flag == true ? 255 : 0)
            receive(place + index, UInt8(clamping: number.rounded()))
        }
    }
}

/// DMX512: a universe has 512 channels.
enum Universe {
    static let channelCount = 512
    /// Whole RGB lights in a universe.
    static let pixelCount = channelCount / 3

    /// The number of universes for so many RGB lights, of which the first begins at a channel, 1…512.
    static func count(pixels: Int, start: Int) -> Int {
        let first = (channelCount - start + 1) / 3
        return pixels <= first ? 1 : 1 + (pixels - first + pixelCount - 1) / pixelCount
    }

    /// Places RGB lights in universes, none across two.
    static func frame(ofPixels pixels: [UInt8], start: Int, universeCount: Int) -> [UInt8] {
        var frame = [UInt8](repeating: 0, count: universeCount * channelCount)
        var place = start - 1
        for pixel in 0..<pixels.count / 3 {
            if place % channelCount > channelCount - 3 { place = (place / channelCount + 1) * channelCount }
            for index in 0..<3 { frame[place + index] = pixels[3 * pixel + index] }
            place += 3
        }
        return frame
    }
}
