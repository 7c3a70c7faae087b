public import Hemiola
internal import HemiolaFiles
internal import HemiolaRecords
internal import HemiolaSystem

extension SinkPlugin {
    /// Changes a visualizer's presets by timer, beat or level, and writes the plan of changes.
    public static let presets = SinkPlugin(
        "presets", "Changes a visualizer's presets by timer, beat or level, and writes the plan of changes.",
        settings: PresetSettings.self, primary: "path", records: PresetCycler.records,
        controls: ControlType.presetControls,
        needs: { $0.needs },
        make: { settings throws(Problem) in
            PresetCycler(settings, plan: try settings.check())
        })
}

/// The sink `presets`: makes the director that chooses the presets, writes its `preset` and `speed` events to the plan, and stores
/// the last preset and speed.
final class PresetCycler: DirectingSink {
    private struct State: ~Copyable {
        var schedule: ScheduleSettings
        var plan: DocumentFile?
        var stateFile: StateFile?
        var persisted = PersistedState()
        var isSaved = true
        /// Whether every change is saved at once, as in live runs, and not only the last one at the end.
        var savesEveryChange = false
        var warn: @Sendable (String) -> Void = { _ in }
    }

    private let settings: PresetSettings
    private let planPath: PathTemplate
    private var state: State

    init(_ settings: PresetSettings, plan: PathTemplate) {
        self.settings = settings
        planPath = plan
        state = State(schedule: ScheduleSettings(timing: settings.timing, order: settings.order))
    }

    /// Whether a plan is being written.
    var writesPlan: Bool { state.plan != nil }

    func open(_ context: SinkContext) throws(Problem) {
        let lists = try readLists(warn: context.warn)
        state.schedule.names = lists.names
        state.schedule.favourites = lists.favourites
        state.schedule.skipped = lists.skipped
        state.warn = context.warn
        // A plan is input for programs, so none is written to a terminal.
        let isSkipped =
            planPath.target.isTerminal || planPath.target.isStandardOutput && !context.mayUseStandardOutput
        state.plan = isSkipped ? nil : try Self.plan(at: planPath, context)
    }

    func makeDirector() throws(Problem) -> sending any Director {
        let (path, warn) = (settings.state, state.warn)
        return PresetDirector(state.schedule) { stream in
            StateFile(path, for: stream)?.read { warn("presets: \($0)") } ?? PersistedState()
        }
    }

    func begin(_ stream: StreamHeader) throws(Problem) {
        state.stateFile = StateFile(settings.state, for: stream)
        state.savesEveryChange = stream.isLive
        try state.plan?.begin(stream)
    }

    func write(_ batches: BatchBlock) throws(Problem) {
        for batch in 0..<batches.count {
            let events = batches[batch].events
            for index in events.indices { update(with: events[index]) }
        }
        if state.savesEveryChange { save() }
        try state.plan?.write(batches)
    }

    func write(_ events: [Event]) throws(Problem) {
        for event in events { update(with: event) }
        if state.savesEveryChange { save() }
        try state.plan?.write(events)
    }

    func end(_ summary: StreamSummary) throws(Problem) {
        save()
        try state.plan?.end(summary)
    }

    func close() throws(Problem) {
        save()
        defer { state.plan = nil }
        try state.plan?.close()
    }

    // MARK: - The plan

    /// The record types that the director emits.
    static let records: [RecordType] = [.preset, .pagePreset, .speed]

    /// The record types of a plan unless `--select` chooses others: the changes, and the controls, so that `--replay-controls` can replay
    /// them.
    static let planRecords = ["header", "preset", "page_preset", "speed", "control", "end"]

    private static func plan(at path: PathTemplate, _ context: SinkContext) throws(Problem) -> DocumentFile {
        var context = context
        if context.selection.isAll { context.selection = Selection(items: planRecords, catalog: RecordCatalog(records: records)) }
        let plan = DocumentFile.records(at: path)
        try plan.open(context)
        return plan
    }

    // MARK: - Lists

    private func readLists(warn: (String) -> Void) throws(Problem) -> (names: [String]?, favourites: [String], skipped: [String]) {
        do throws(Problem) {
            let listed = try settings.list.map { path throws(Problem) in try PresetList.names(at: path) } ?? []
            let hasUserList = settings.list != nil || !settings.names.isEmpty
            let names = PresetList.unique(listed + settings.names)
            if !hasUserList {
                warn("presets: no list of presets; automatic changes start when a visualizer reports its presets, or set list=PATH")
            } else if names.isEmpty {
                warn("presets: \(settings.list ?? "names"): the list of presets is empty; there are no automatic changes")
            }
            let favourites = try settings.favourites.map { path throws(Problem) in try PresetList.names(at: path) } ?? []
            let skipped = try settings.skipped.map { path throws(Problem) in try PresetList.names(at: path) } ?? []
            if hasUserList {
                let list = PresetNames(names)
                let known = Set(list.folded)
                for name in PresetList.unique(favourites + skipped) where !known.contains(name.folded) {
                    warn("presets: \(NameMatch.notFoundMessage(name, in: list))")
                }
            }
            return (hasUserList ? names : nil, favourites, skipped)
        } catch {
            throw Problem("presets: \(error.message)")
        }
    }

    // MARK: - Persisted state

    /// Updates the persisted state with an event.
    private func update(with event: Event) {
        let before = state.persisted
        if let change = PresetChange(event) {
            state.persisted.preset = change.name
        } else if let change = SpeedChange(event) {
            state.persisted.speed = change.speed
        }
        if state.persisted != before { state.isSaved = false }
    }

    /// Saves the persisted state if it has changed. After a failure, which is reported once, nothing more is saved.
    private func save() {
        guard !state.isSaved, let file = state.stateFile else { return }
        state.isSaved = true
        do {
            try file.write(state.persisted)
        } catch {
            state.stateFile = nil
            state.warn("presets: \(file.path): cannot write the state file; the last preset and speed are not saved")
        }
    }
}
