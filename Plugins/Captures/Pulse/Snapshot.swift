internal import Hemiola
internal import HemiolaSignal

/// What a sound server has at a moment, as far as it matters here. Plain values: what is made of them needs no server.
struct Snapshot: Sendable, Hashable {
    /// For people: `PulseAudio 16.1`.
    var server = ""
    var defaultSink: String?
    var defaultSource: String?
    var sinks: [Sink] = []
    var sources: [Source] = []
    var streams: [PlayingStream] = []

    /// An output.
    struct Sink: Sendable, Hashable {
        var index: UInt32
        var name: String
        /// For people.
        var summary = ""
        /// The name of the source that has what it plays.
        var monitor: String?
    }

    /// An input, or an output's monitor.
    struct Source: Sendable, Hashable {
        var index: UInt32
        var name: String
        var summary: String
        var format: StreamFormat
        /// libpulse's channel positions.
        var channelMap: [Int32]
        /// The name of the sink whose sound it is.
        var monitorOf: String?
        /// Opening its microphone would change the sound that is heard in it.
        var isHeadset = false
        var state = DeviceList.Device.State.idle
    }

    /// What one application plays.
    struct PlayingStream: Sendable, Hashable {
        var index: UInt32
        var sink: UInt32
        /// The application's, its program's and the medium's, as far as the server knows them: `app:NAME` takes each.
        var names: [String]
        /// What is played, for people: the medium's name.
        var summary = ""
        /// Paused by its application.
        var isCorked = false
    }

    func source(named name: String) -> Source? { sources.first { $0.name == name } }

    /// The source that has what a sink plays.
    func monitor(of sink: Sink) -> Source? {
        guard let monitor = sink.monitor, let source = source(named: monitor) else { return nil }
        // Whatever a server calls a monitor: what belongs to no output is a microphone.
        return source.monitorOf == sink.name ? source : nil
    }
}

extension DeviceList {
    /// Everything that can be named: sources, then applications. Marked are what `auto` captures, and the default input.
    init(_ snapshot: Snapshot) {
        let automatic: String? =
            if case .source(let target) = DeviceWish.auto.choice(in: snapshot) { target.name } else { nil }
        let devices = snapshot.sources.map { source in
            let isDefaultInput = source.monitorOf == nil && source.name == snapshot.defaultSource
            return Device(
                name: source.name, summary: source.summary, format: source.format, monitorOf: source.monitorOf,
                isDefault: source.name == automatic || isDefaultInput, state: source.state)
        }
        self.init(server: snapshot.server, devices: devices + Self.applications(in: snapshot))
    }

    /// One entry per application, in the order in which they began to play: of several streams the one that `app:NAME` captures.
    private static func applications(in snapshot: Snapshot) -> [Device] {
        var devices: [Device] = []
        for stream in snapshot.streams.sorted(by: { $0.index < $1.index }) {
            guard let name = stream.names.first(where: { !$0.isEmpty }) else { continue }
            let wish = DeviceWish.application(name)
            guard !devices.contains(where: { $0.name.lowercased() == wish.description.lowercased() }) else { continue }
            var device = Device(
                name: wish.description, summary: stream.summary, format: StreamFormat(sampleRate: 44_100, channelCount: 2),
                isApplication: true, state: .idle)
            if case .source(let target) = wish.choice(in: snapshot) {
                device.state = .running
                device.summary = snapshot.streams.first { $0.index == target.stream }?.summary ?? stream.summary
                device.format.sampleRate = target.format.sampleRate
            }
            devices.append(device)
        }
        return devices
    }
}
