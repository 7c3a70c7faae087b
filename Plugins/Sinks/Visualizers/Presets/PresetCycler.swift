public import Hemiola
internal import HemiolaFiles
internal import HemiolaVisualizer

extension SinkPlugin {
    /// Changes a visualizer's presets by timer, beat or level, and writes the plan of changes.
    public static let presets = SinkPlugin(
        PluginDescription(
            "presets", "Changes a visualizer's presets by timer, beat or level, and writes the plan of changes.", primary: "path",
            declares: .init(records: PresetCycler.records, controls: ControlType.presetControls)),
        settings: PresetSettings.self,
        needs: { $0.needs },
        make: { settings throws(Problem) in
            PresetCycler(settings, plan: try settings.check())
        })
}

/// The sink `presets`: makes the director that chooses the presets, writes its `preset` and `speed` events to the plan, and stores
/// the last preset and speed.
final class PresetCycler: DirectingSink {
    private let settings: PresetSettings
    private let planPath: PathTemplate
    private var schedule: ScheduleSettings
    /// nil: no plan is written.
    private(set) var plan: DocumentFile?
    /// The path of the state file; nil: the state is not stored.
    private(set) var statePath: String?
    private var persisted = PersistedState()
    private var isSaved = true
    private var clock: any MonotonicClock = .system
    private var lastSave = -Double.infinity
    /// Whether no list is set and no visualizer has shown a preset yet.
    private var isWithoutPresets = false
    private var warn: @Sendable (String) -> Void = { _ in }
    private var controls = ControlPort.closed

    init(_ settings: PresetSettings, plan: PathTemplate) {
        self.settings = settings
        planPath = plan
        schedule = ScheduleSettings(timing: settings.timing, order: settings.order, cycles: settings.cycles)
    }

    func open(_ context: SinkContext) throws(Problem) {
        warn = context.messages.warn
        controls = context.controls
        clock = context.timing.clock
        statePath =
            switch settings.state {
            case "none"?: nil
            case let path?: path
            case nil: context.timing.isLive && !context.run.isReplay ? PersistedState.defaultPath() : nil
            }
        try readList()
        // A plan is input for programs, so none is written to a terminal.
        if planPath.target.isTerminal || planPath.target.isStandardOutput && !context.records.mayUseStandardOutput { return }
        var context = context
        if context.records.selection.isAll {
            context.records.selection = Selection(items: Self.planRecords, catalog: RecordCatalog(records: Self.records))
        }
        let plan = DocumentFile.records(at: planPath)
        try plan.open(context)
        self.plan = plan
    }

    func makeDirector() throws(Problem) -> sending any Director {
        let persisted = statePath.map { PersistedState.read($0) { warn("presets: \($0)") } } ?? PersistedState()
        // Before those of any client: later ones replace them.
        if let names = persisted.favourites { controls.submit(Control(.setFavourites, .texts(names)), from: Self.origin) }
        return PresetDirector(schedule, persisted: persisted)
    }

    func begin(_ stream: StreamHeader) throws(Problem) {
        try plan?.begin(stream)
    }

    func write(_ batches: BatchBlock) throws(Problem) {
        for batch in 0..<batches.count {
            let events = batches[batch].events
            for index in events.indices { update(with: events[index]) }
        }
        save(after: Self.saveInterval)
        try plan?.write(batches)
    }

    func write(_ events: [Event]) throws(Problem) {
        for event in events { update(with: event) }
        save(after: Self.saveInterval)
        try plan?.write(events)
    }

    func end(_ summary: StreamSummary) throws(Problem) {
        save()
        if isWithoutPresets {
            warn("presets: no preset was shown: no visualizer reported its presets; open the visualizer, or set list=PATH")
            isWithoutPresets = false
        }
        try plan?.end(summary)
    }

    func close() throws(Problem) {
        save()
        defer { plan = nil }
        try plan?.close()
    }

    /// The record types that the director emits.
    static let records: [RecordType] = [.preset, .pagePreset, .speed]

    /// The record types of a plan unless `--select` chooses others: the changes, and the controls, so that `--replay-controls` can replay
    /// them.
    static let planRecords = ["header", "preset", "page_preset", "speed", "control", "end"]

    /// The origin of the stored favourites.
    private static let origin = "presets"
    private static let saveInterval = 1.0

    // MARK: - The user's list

    /// Reads the user's list into the settings of the schedule.
    private func readList() throws(Problem) {
        // A visualizer may report its presets at any time, so that their absence is known at the end.
        guard settings.list != nil || !settings.names.isEmpty else {
            isWithoutPresets = settings.cycles
            return
        }
        let listed: [String]
        do { listed = try PresetList.names(at: settings.list) } catch { throw Problem("presets: \(error.message)", at: "list") }
        let names = PresetList.unique(listed + settings.names)
        schedule.names = names
        if names.isEmpty {
            warn("presets: \(settings.list ?? "names"): the list of presets is empty; there are no automatic changes")
        }
    }

    // MARK: - Persisted state

    /// Updates the persisted state with an event.
    private func update(with event: Event) {
        let before = persisted
        if event.type.name == RecordType.preset.name || event.type.name == RecordType.pagePreset.name { isWithoutPresets = false }
        if let change = PresetChange(event) {
            persisted.preset = change.name
        } else if let change = SpeedChange(event) {
            persisted.speed = change.speed
        } else if let stamped = event.control, stamped.control.type == .setFavourites, stamped.origin != Self.origin {
            persisted.favourites = stamped.control["names"].items?.compactMap(\.string)
        }
        if persisted != before { isSaved = false }
    }

    /// Saves the persisted state if it has changed. The file keeps what this run has not set, and the favourites that another program has
    /// set since. After a failure, which is reported once, nothing more is saved.
    ///
    /// - Parameter interval: Seconds between two savings, at least.
    private func save(after interval: Double = 0) {
        guard !isSaved, let path = statePath, clock.now - lastSave >= interval else { return }
        (isSaved, lastSave) = (true, clock.now)
        let stored = PersistedState.read(path) { _ in }
        let state = PersistedState(
            preset: persisted.preset ?? stored.preset, speed: persisted.speed ?? stored.speed,
            favourites: persisted.favourites ?? stored.favourites)
        do {
            try state.write(to: path)
            persisted.favourites = nil
        } catch {
            statePath = nil
            warn("presets: \(path): cannot write the state file; the last preset and speed are not saved")
        }
    }
}
