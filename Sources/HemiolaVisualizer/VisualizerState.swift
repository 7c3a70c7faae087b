package import HemiolaRecords

/// The state of the visualizer, and what `status` reports besides, as far as it is known; nil: unknown.
package struct VisualizerState: Sendable, Hashable {
    /// Seconds of stream time after which the tempo of the last beat is no longer reported.
    private static let tempoSeconds = 5.0

    /// The name of the current preset.
    package private(set) var preset: String?
    /// 0.1…1.0.
    package private(set) var speed: Double?
    /// Whether presets change automatically, as the last automatic change or toggle says.
    private var isCycling: Bool?
    /// The names of the user's favourites.
    private var favourites: [String] = []
    /// The origins of the connected pages.
    private var pages: Set<String> = []
    /// Stream time of the next scheduled preset change, in seconds.
    private var nextPresetTime: Double?
    /// The last beat: beats per minute, and its stream time in seconds.
    private var tempo: Double?
    private var beatTime = 0.0
    /// The last state of the capture device.
    package private(set) var device: DeviceEvent?

    /// A state of which nothing is known.
    package init() {}

    /// Begins a stream.
    package mutating func begin(_ stream: StreamHeader) {
        (nextPresetTime, tempo) = (nil, nil)
        // Without pages the preset cycler starts anew for every file.
        if !stream.isLive, pages.isEmpty { isCycling = nil }
    }

    package mutating func apply(_ event: Event) {
        if let change = PresetChange(event) {
            preset = change.name
            nextPresetTime = change.nextIn.map { event.time + $0 }
            if change.reason.isAutomatic { isCycling = true }
        } else if let change = SpeedChange(event) {
            speed = change.speed
        } else if let beat = Beat(event) {
            (tempo, beatTime) = (beat.beatsPerMinute, event.time)
        } else if let event = DeviceEvent(event) {
            device = event
        } else if let stamped = event.control {
            switch stamped.control.type {
            case .toggleCycle: (isCycling, nextPresetTime) = (stamped.isOn, nil)
            case .lockPreset: nextPresetTime = nil
            case .setFavourites: favourites = stamped.control["names"].items?.compactMap(\.string) ?? []
            case .ready, .presetNames: pages.insert(stamped.origin)
            case .pageClosed: pages.remove(stamped.origin)
            default: break
            }
        }
    }

    // MARK: - Messages

    /// The commands that a page gets when it becomes ready.
    ///
    /// - Parameter ready: Its control.
    package func commands(for ready: Control) -> [PageCommand] {
        var commands: [PageCommand] = []
        if ready["presets"].items?.isEmpty != false { commands.append(.getPresetNames) }
        if let speed { commands.append(.setSpeed(speed)) }
        if let preset { commands.append(.loadPreset(preset, blend: 0)) }
        return commands
    }

    /// The members `preset`, `speed`, `cycling`, `next_in_s` and `favourites` at a stream time. Unknown values are null.
    package func members(at time: Double) -> [JSONValue.Member] {
        [
            .init("preset", preset.map { .text($0) } ?? .null),
            .init("speed", .number(speed ?? .nan, in: .ratio)),
            .init("cycling", isCycling.map { .boolean($0) } ?? .null),
            .init("next_in_s", .number(nextPresetTime.map { max(0, $0 - time) } ?? .nan, in: .seconds)),
            .init("favourites", .list(favourites.map { .text($0) })),
        ]
    }

    /// The message `status`.
    ///
    /// - Parameters:
    ///   - time: Stream time in seconds.
    ///   - source: The name of the stream's source; nil before the first stream.
    ///   - pages: Number of pages that have sent `ready`.
    package func status(at time: Double, source: String?, pages: Int) -> JSONValue {
        let isTempoKnown = abs(beatTime - time) <= Self.tempoSeconds
        let device = device.map { device in
            JSONValue.object([
                .init("name", .text(device.name)), .init("description", .text(device.summary)),
                .init("state", .text(device.state.rawValue)),
            ])
        }
        return .object(
            [.init("type", .text("status"))] + members(at: time) + [
                .init("bpm", .number(isTempoKnown ? tempo ?? .nan : .nan, in: .beatsPerMinute)),
                .init("source", source.map { .text($0) } ?? .null), .init("device", device ?? .null), .init("pages", .integer(pages)),
            ])
    }
}
