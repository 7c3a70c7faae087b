/// What a show is made of.
struct ShowSettings: Sendable, Equatable {
    var pacing: Pacing
    var order: PresetOrder.Kind = .shuffle
    /// The user's own list; nil: whatever the page has.
    var names: [String]?
    /// Only these come by themselves, as far as they are there; empty: all.
    var favourites: [String] = []
    /// These do not.
    var skipped: [String] = []
}

/// How a show stands.
struct ShowState: Sendable, Equatable {
    /// What is shown; nil: nothing yet.
    var preset: String?
    /// 0.1…1.0.
    var speed: Double
    /// Whether presets change by themselves.
    var isCycling: Bool
    var isLocked: Bool
    /// Seconds until time changes the preset; nil: it does not.
    var nextIn: Double?
}

/// The presets that the page was told to load a moment ago: when it names one of them, that is an answer and no choice of its own.
struct LoadEchoes: Sendable {
    private static let seconds = 3.0
    private static let capacity = 8

    private var loads: [(name: String, time: Double)] = []

    init() {
        loads.reserveCapacity(Self.capacity)
    }

    mutating func expect(_ name: String, at time: Double) {
        if loads.count == Self.capacity { loads.removeFirst() }
        loads.append((name, time))
    }

    func contains(_ name: String, at time: Double) -> Bool {
        loads.contains { $0.name == name && time - $0.time < Self.seconds }
    }

    /// What was `time` is 0 now.
    mutating func rebase(by time: Double) {
        for index in loads.indices { loads[index].time -= time }
    }
}
