internal import Hemiola

/// The sinks, sources and playback streams of a sound server at one time, as values.
struct ServerSnapshot: Sendable, Hashable {
    /// Name and version for display, as `PulseAudio 16.1`.
    var server = ""
    /// The version of PipeWire, as 0, 3, 65; nil: another server.
    var pipeWireVersion: [Int]?
    /// The default sample rate of the server.
    var sampleRate = 44_100
    var defaultSink: String?
    var defaultSource: String?
    var sinks: [Sink] = []
    var sources: [Source] = []
    var streams: [PlayingStream] = []

    /// An output.
    struct Sink: Sendable, Hashable {
        var index: UInt32
        var name: String
        /// Description for display.
        var summary = ""
        /// Name of the source that captures this sink.
        var monitor: String?
        /// Whether something plays.
        var isRunning = false
        var level = Level()
    }

    /// An input, or an output's monitor.
    struct Source: Sendable, Hashable {
        var index: UInt32
        var name: String
        var summary: String
        var format: StreamFormat
        /// libpulse's channel positions.
        var channelMap: [Int32]
        /// Name of the sink whose monitor this is; nil for an input.
        var monitorOf: String?
        /// Whether this is the microphone of a Bluetooth headset. Opening it may switch the headset to a profile of lower quality.
        var isHeadset = false
        var state = DeviceList.Device.State.idle
        var level = Level()
    }

    /// How loud a device is set.
    struct Level: Sendable, Hashable {
        var isMuted = false
        /// The volume of the loudest channel as sound settings show it: 1 is 100 %.
        var volume = 1.0
    }

    /// A playback stream of an application.
    struct PlayingStream: Sendable, Hashable {
        var index: UInt32
        var sink: UInt32
        /// Names of the application, its binary and its media, where known; `app:NAME` matches any of them.
        var names: [String]
        /// Name of the media for display.
        var summary = ""
        /// Whether the application has paused it.
        var isCorked = false
    }

    /// The version in the name of a server, such as `PulseAudio (on PipeWire 0.3.65)`.
    static func pipeWireVersion(in name: String) -> [Int]? {
        guard let words = name.firstRange(of: "PipeWire ") else { return nil }
        let number = name[words.upperBound...].prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        return number.split(separator: ".").compactMap { Int($0) }
    }

    func source(named name: String) -> Source? { sources.first { $0.name == name } }

    /// The level of a source: that of a monitor is also that of its output.
    func level(of source: Source) -> Level {
        guard let sink = sinks.first(where: { $0.name == source.monitorOf }) else { return source.level }
        return Level(
            isMuted: source.level.isMuted || sink.level.isMuted, volume: min(source.level.volume, sink.level.volume))
    }

    /// The monitor of a sink.
    func monitor(of sink: Sink) -> Source? {
        guard let monitor = sink.monitor, let source = source(named: monitor) else { return nil }
        // A source that does not belong to this output may be a microphone, even if the server reports it as the monitor.
        return source.monitorOf == sink.name ? source : nil
    }
}

extension DeviceList {
    /// All devices that the device setting accepts: sources, then applications. `isDefault` marks the source of `auto` and the default input.
    init(_ snapshot: ServerSnapshot) {
        let automatic: String? =
            if case .source(let target) = DeviceQuery.auto.resolve(in: snapshot) { target.name } else { nil }
        let devices = snapshot.sources.map { source in
            var device = Device(source, in: snapshot)
            device.isDefault = source.name == automatic || source.monitorOf == nil && source.name == snapshot.defaultSource
            return device
        }
        self.init(server: snapshot.server, devices: devices + Self.applications(in: snapshot))
    }

    /// One entry per application, in the order of their first streams; it describes the stream that `app:NAME` captures.
    private static func applications(in snapshot: ServerSnapshot) -> [Device] {
        var devices: [Device] = []
        for stream in snapshot.streams.sorted(by: { $0.index < $1.index }) {
            guard let name = stream.names.first(where: { !$0.isEmpty }) else { continue }
            let query = DeviceQuery.application(name)
            guard !devices.contains(where: { $0.name.lowercased() == query.description.lowercased() }) else { continue }
            var device = Device(
                name: query.description, summary: stream.summary, format: StreamFormat(sampleRate: snapshot.sampleRate, channelCount: 2),
                isApplication: true, state: .idle)
            if case .source(let target) = query.resolve(in: snapshot) {
                device.state = .running
                device.summary = snapshot.streams.first { $0.index == target.stream }?.summary ?? stream.summary
                device.format.sampleRate = target.format.sampleRate
            }
            devices.append(device)
        }
        return devices
    }
}

extension DeviceList.Device {
    init(_ source: ServerSnapshot.Source, in snapshot: ServerSnapshot) {
        let level = snapshot.level(of: source)
        self.init(
            name: source.name, summary: source.summary, format: source.format, monitorOf: source.monitorOf, state: source.state,
            isMuted: level.isMuted, volume: level.volume)
    }
}

extension ChannelMap {
    /// The map of libpulse's channel positions (`pa_channel_position_t`); nil where one is no loudspeaker (`aux0` …) or occurs twice.
    init?(pulse positions: [Int32]) {
        let known = positions.compactMap { Self.pulsePositions[$0] }
        guard known.count == positions.count else { return nil }
        self.init(known)
    }

    /// PA_CHANNEL_POSITION_…
    private static let pulsePositions: [Int32: ChannelPosition] = [
        1: .frontLeft, 2: .frontRight, 3: .frontCenter, 4: .backCenter, 5: .backLeft, 6: .backRight, 7: .lowFrequency,
        8: .frontLeftOfCenter, 9: .frontRightOfCenter, 10: .sideLeft, 11: .sideRight, 44: .topCenter, 45: .topFrontLeft,
        46: .topFrontRight, 47: .topFrontCenter, 48: .topBackLeft, 49: .topBackRight, 50: .topBackCenter,
    ]
}
