internal import HemiolaFieldMaps
internal import HemiolaSignal

/// The channels of a universe that follow a field map: `to: 12` is a channel.
///
/// A value with every batch or change stays until the next; one with a record lasts for ``hold``.
struct MappedChannels {
    /// Seconds for which a value of a record lasts.
    static let hold = 0.1

    private var routes: FieldRoutes
    /// The place of the first channel of each entry.
    private let places: [Int]
    private let lead: Double
    private var channels: [UInt8]
    /// Channels that go back to 0, and when.
    private var ends: [(time: Double, place: Int)] = []
    /// Records to come, with their times less the lead.
    private var events: [(time: Double, event: Event)] = []

    init(_ map: FieldMap, _ header: StreamHeader, lead: Double) throws(FieldMapError) {
        self.lead = lead
        routes = try FieldRoutes(map, for: header) { Self.place($0) == nil ? "\"\($0)\" is no channel; use 1...512" : nil }
        places = map.entries.map { Self.place($0.destination) ?? 0 }
        channels = [UInt8](repeating: 0, count: Universe.channelCount)
    }

    /// The place of a channel in a frame; nil: there is no such channel.
    private static func place(_ text: String) -> Int? {
        guard let channel = Int(text), (1...Universe.channelCount).contains(channel) else { return nil }
        return channel - 1
    }

    mutating func note(_ event: Event) {
        if routes.recordTypes.contains(event.type.name), events.count < 1000 { events.append((event.time - lead, event)) }
    }

    /// Computes a frame.
    mutating func render(_ batch: borrowing Batch, end: Double, into frame: inout [UInt8]) {
        let places = places
        var (channels, ends) = (channels, ends)
        for entry in ends where entry.time <= end { channels[entry.place] = 0 }
        ends.removeAll { $0.time <= end }
        routes.forEachValue(of: batch) { entry, values in Self.set(values, at: places[entry], in: &channels) }
        for (time, event) in events where time <= end {
            routes.forEachValue(of: event) { entry, values in
                let last = min(places[entry] + values.count, channels.count)
                Self.set(values, at: places[entry], in: &channels)
                for place in places[entry]..<last { ends.append((end + Self.hold, place)) }
            }
        }
        events.removeAll { $0.time <= end }
        frame = channels
        (self.channels, self.ends) = (channels, ends)
    }

    private static func set(_ values: [ParameterValue], at place: Int, in channels: inout [UInt8]) {
        for (index, value) in values.enumerated() where place + index < channels.count {
            let number = value.number ?? (value.flag == true ? 255 : 0)
            channels[place + index] = UInt8(clamping: number.rounded())
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
