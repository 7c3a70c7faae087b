internal import Hemiola

/// The device setting: which source to capture. Resolves to a source of a server snapshot.
enum DeviceQuery: Sendable, Hashable, CustomStringConvertible {
    /// The monitor of the default output.
    case auto
    /// The default input.
    case autoInput
    /// A source, or the monitor of a sink, by name or description.
    case named(String)
    /// The playback stream of one application.
    case application(String)

    /// A source to open.
    struct Target: Sendable, Hashable {
        var index: UInt32
        var name: String
        var summary: String
        var format: StreamFormat
        /// libpulse's channel positions.
        var channelMap: [Int32]
        /// Index of the one playback stream to capture from the monitor; nil: all of the source.
        var stream: UInt32?
        /// Whether the source is the monitor of an output.
        var isMonitor: Bool
    }

    /// The result of a query.
    enum Resolution: Sendable, Hashable {
        case source(Target)
        /// No source matches now: the reason, and what to do.
        case unavailable(String)
    }

    init(parsing text: String) throws(Problem) {
        switch text {
        case "auto": self = .auto
        case "auto-input": self = .autoInput
        case "": throw Problem("the name is empty; auto is the monitor of the default output", at: "device")
        case "app:": throw Problem("the name of the application is missing after app:", at: "device")
        default: self = text.hasPrefix("app:") ? .application(String(text.dropFirst(4))) : .named(text)
        }
    }

    var description: String {
        switch self {
        case .auto: "auto"
        case .autoInput: "auto-input"
        case .named(let name): name
        case .application(let name): "app:\(name)"
        }
    }

    var isApplication: Bool {
        if case .application = self { true } else { false }
    }

    /// The source that matches now. Never falls back to another one.
    func resolve(in snapshot: ServerSnapshot) -> Resolution {
        switch self {
        case .auto: monitor(in: snapshot)
        case .autoInput: input(in: snapshot)
        case .named(let name): device(name, in: snapshot)
        case .application(let name): application(name, in: snapshot)
        }
    }

    // MARK: - Resolution

    private func monitor(in snapshot: ServerSnapshot) -> Resolution {
        guard let name = snapshot.defaultSink, let sink = snapshot.sinks.first(where: { $0.name == name }) else {
            return .unavailable("the sound server has no default output; hemiola devices lists the devices")
        }
        guard let source = snapshot.monitor(of: sink) else {
            return .unavailable("the default output \(name) has no monitor; hemiola devices lists the devices")
        }
        return .source(Target(source))
    }

    private func input(in snapshot: ServerSnapshot) -> Resolution {
        guard let name = snapshot.defaultSource, let source = snapshot.source(named: name) else {
            return .unavailable("the sound server has no default input; hemiola devices lists the devices")
        }
        if let output = source.monitorOf {
            // A server without inputs reports a monitor as its default input.
            return .unavailable(
                "there is no default input: \(name), the default of the server, is the monitor of the output \(output); hemiola devices lists the inputs"
            )
        }
        if source.isHeadset {
            return .unavailable(
                "the default input \(name) is that of a headset, and opening it may change the sound of the headset; to capture it, give its name"
            )
        }
        return .source(Target(source))
    }

    /// Matches sources and outputs by exact name, then by name ignoring case, then by description ignoring case.
    private func device(_ name: String, in snapshot: ServerSnapshot) -> Resolution {
        if let source = snapshot.source(named: name) { return .source(Target(source)) }
        let wanted = name.lowercased()
        let rules: [(String, String) -> Bool] = [
            { own, _ in own == name }, { own, _ in own.lowercased() == wanted }, { _, summary in summary.lowercased() == wanted },
        ]
        for matches in rules {
            let sources = snapshot.sources.filter { matches($0.name, $0.summary) }
            let sinks = snapshot.sinks.filter { matches($0.name, $0.summary) }
            guard sources.count + sinks.count <= 1 else {
                let names = sources.map(\.name) + sinks.map { $0.monitor ?? $0.name }
                return .unavailable("\(name) is ambiguous: \(names.joined(separator: ", ")); give one of these names")
            }
            if let source = sources.first { return .source(Target(source)) }
            guard let sink = sinks.first else { continue }
            guard let source = snapshot.monitor(of: sink) else {
                return .unavailable("the output \(sink.name) has no monitor; hemiola devices lists the devices")
            }
            return .source(Target(source))
        }
        let names = snapshot.sources.map(\.name) + snapshot.sinks.map(\.name)
        let hint = name.nearest(in: names).map { "; did you mean \($0)?" } ?? ";"
        return .unavailable("no such device: \(name)\(hint) hemiola devices lists the devices")
    }

    private func application(_ name: String, in snapshot: ServerSnapshot) -> Resolution {
        let wanted = name.lowercased()
        let playing = snapshot.streams.filter { stream in
            !stream.isCorked && stream.names.contains { $0.lowercased() == wanted }
        }
        // The newest stream: while a player cross-fades, that is the next title.
        guard let stream = playing.max(by: { $0.index < $1.index }) else { return .unavailable("\(name) is not playing") }
        guard let sink = snapshot.sinks.first(where: { $0.index == stream.sink }), let source = snapshot.monitor(of: sink) else {
            return .unavailable("\(name) plays on an output without a monitor")
        }
        var target = Target(source)
        target.stream = stream.index
        return .source(target)
    }
}

extension DeviceQuery.Target {
    init(_ source: ServerSnapshot.Source) {
        index = source.index
        name = source.name
        summary = source.summary
        format = source.format
        channelMap = source.channelMap
        isMonitor = source.monitorOf != nil
    }
}
