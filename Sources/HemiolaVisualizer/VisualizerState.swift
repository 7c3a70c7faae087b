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
    package private(set) var isCycling: Bool?
    /// The names of the user's favourites.
    package private(set) var favourites: [String] = []
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

    /// Seconds from a stream time to the next scheduled preset change.
    package func nextIn(from time: Double) -> Double? { nextPresetTime.map { max(0, $0 - time) } }

    /// Beats per minute at a stream time.
    package func tempo(at time: Double) -> Double? { abs(beatTime - time) <= Self.tempoSeconds ? tempo : nil }
}
