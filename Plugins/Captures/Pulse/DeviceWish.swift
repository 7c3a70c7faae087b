internal import Hemiola
internal import HemiolaSignal

/// What the user wants to hear, and which source that is.
enum DeviceWish: Sendable, Hashable, CustomStringConvertible {
    /// What the default output plays.
    case auto
    /// The default input.
    case autoInput
    /// A source, or what a sink plays.
    case named(String)
    /// What one application plays.
    case application(String)

    /// A source to be opened.
    struct Target: Sendable, Hashable {
        var index: UInt32
        var name: String
        var summary: String
        var format: StreamFormat
        /// libpulse's channel positions.
        var channelMap: [Int32]
        /// Of all that the source has, only what this application's stream adds.
        var stream: UInt32?
        /// Whether it is what an output plays.
        var isMonitor: Bool
    }

    enum Choice: Sendable, Hashable {
        case source(Target)
        /// It is not there now; why, and the way out.
        case absent(String)
    }

    init(parsing text: String) throws(ConfigurationError) {
        switch text {
        case "auto": self = .auto
        case "auto-input": self = .autoInput
        case "": throw ConfigurationError("there is no name; auto is what the default output plays", at: "device")
        case "app:": throw ConfigurationError("there is no application's name after app:", at: "device")
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

    /// The one source that this is now; never another in its place.
    func choice(in snapshot: Snapshot) -> Choice {
        switch self {
        case .auto: monitor(in: snapshot)
        case .autoInput: input(in: snapshot)
        case .named(let name): device(name, in: snapshot)
        case .application(let name): application(name, in: snapshot)
        }
    }

    // MARK: - Choices

    private func monitor(in snapshot: Snapshot) -> Choice {
        guard let name = snapshot.defaultSink, let sink = snapshot.sinks.first(where: { $0.name == name }) else {
            return .absent("the sound server has no default output; hemiola devices lists what can be named")
        }
        guard let source = snapshot.monitor(of: sink) else {
            return .absent("the default output \(name) has no monitor; hemiola devices lists what can be named")
        }
        return .source(Target(source))
    }

    private func input(in snapshot: Snapshot) -> Choice {
        guard let name = snapshot.defaultSource, let source = snapshot.source(named: name) else {
            return .absent("the sound server has no default input; hemiola devices lists what can be named")
        }
        if let output = source.monitorOf {
            // A server without inputs names a monitor as its default input.
            return .absent(
                "there is no default input: the server names \(name), which is what the output \(output) plays; hemiola devices lists the inputs"
            )
        }
        if source.isHeadset {
            return .absent(
                "the default input \(name) is a headset's, and opening it may change how the headset sounds; name it to hear it")
        }
        return .source(Target(source))
    }

    /// By its name, else by its name in upper or lower case, else by its description likewise: of a source, or of an output.
    private func device(_ name: String, in snapshot: Snapshot) -> Choice {
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
                return .absent("there are several devices \(name): \(names.joined(separator: ", ")); name one of these")
            }
            if let source = sources.first { return .source(Target(source)) }
            guard let sink = sinks.first else { continue }
            guard let source = snapshot.monitor(of: sink) else {
                return .absent("the output \(sink.name) has no monitor; hemiola devices lists what can be named")
            }
            return .source(Target(source))
        }
        let names = snapshot.sources.map(\.name) + snapshot.sinks.map(\.name)
        let hint = name.nearest(in: names).map { "; did you mean \($0)?" } ?? ";"
        return .absent("there is no device \(name)\(hint) hemiola devices lists what there is")
    }

    private func application(_ name: String, in snapshot: Snapshot) -> Choice {
        let wanted = name.lowercased()
        let playing = snapshot.streams.filter { stream in
            !stream.isCorked && stream.names.contains { $0.lowercased() == wanted }
        }
        // The newest: of a player that cross-fades, what comes.
        guard let stream = playing.max(by: { $0.index < $1.index }) else { return .absent("\(name) plays nothing now") }
        guard let sink = snapshot.sinks.first(where: { $0.index == stream.sink }), let source = snapshot.monitor(of: sink) else {
            return .absent("\(name) plays on an output that cannot be heard")
        }
        var target = Target(source)
        target.stream = stream.index
        return .source(target)
    }
}

extension DeviceWish.Target {
    init(_ source: Snapshot.Source) {
        index = source.index
        name = source.name
        summary = source.summary
        format = source.format
        channelMap = source.channelMap
        isMonitor = source.monitorOf != nil
    }
}
