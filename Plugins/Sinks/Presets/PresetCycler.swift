internal import Hemiola
internal import HemiolaOutput
internal import HemiolaSignal
internal import Synchronization

/// The sink `presets`: its director decides, it writes the decisions down and remembers the last one.
///
/// Its methods run on the caller's thread, the sink's own, and may block there. The lock is contended only when the director
/// asks for what is remembered, once.
final class PresetCycler: DirectingSink {
    private struct State: ~Copyable {
        var show: ShowSettings
        var plan: RecordFile?
        var memoryFile: MemoryFile?
        var memory = ShowMemory()
        var isSaved = true
        var savesAtOnce = false
        var warn: @Sendable (String) -> Void = { _ in }
    }

    private let settings: PresetSettings
    private let planPath: PathTemplate
    private let state: Mutex<State>

    init(_ settings: PresetSettings, plan: PathTemplate) {
        self.settings = settings
        planPath = plan
        state = Mutex(State(show: ShowSettings(pacing: settings.pacing, order: settings.order)))
    }

    /// Whether there is a plan under way.
    var writesPlan: Bool { state.withLock { $0.plan != nil } }

    func open(_ context: SinkContext) async throws(SinkError) {
        let lists = try readLists(warn: context.warn)
        try state.withLock { state throws(SinkError) in
            state.show.names = lists.names
            state.show.favourites = lists.favourites
            state.show.skipped = lists.skipped
            state.warn = context.warn
            // A plan is for programs: none is written to a terminal.
            let isSkipped =
                planPath.target.isTerminal || planPath.target.isStandardOutput && !context.mayUseStandardOutput
            state.plan = isSkipped ? nil : try Self.plan(at: planPath, context)
        }
    }

    func makeDirector() throws(SinkError) -> sending any Director {
        PresetDirector(state.withLock { $0.show }, memory: { [self] stream in remembered(for: stream) })
    }

    func begin(_ stream: StreamHeader) async throws(SinkError) {
        try state.withLock { state throws(SinkError) in
            state.memoryFile = memoryFile(for: stream)
            state.savesAtOnce = stream.isLive
            try state.plan?.begin(stream)
        }
    }

    func write(_ batches: BatchBlock) async throws(SinkError) {
        try state.withLock { state throws(SinkError) in
            for index in 0..<batches.count {
                let events = batches[index].events
                for place in events.indices { Self.note(events[place].payload, &state) }
            }
            if state.savesAtOnce { Self.save(&state) }
            try state.plan?.write(batches)
        }
    }

    func write(_ events: [Event]) async throws(SinkError) {
        try state.withLock { state throws(SinkError) in
            for event in events { Self.note(event.payload, &state) }
            if state.savesAtOnce { Self.save(&state) }
            try state.plan?.write(events)
        }
    }

    func end(_ summary: StreamSummary) async throws(SinkError) {
        try state.withLock { state throws(SinkError) in
            Self.save(&state)
            try state.plan?.end(summary)
        }
    }

    func close() async throws(SinkError) {
        try state.withLock { state throws(SinkError) in
            Self.save(&state)
            defer { state.plan = nil }
            try state.plan?.close()
        }
    }

    // MARK: - The plan

    /// The records of a plan, unless others are selected: what was decided, and what was wished for, so that `--controls` can
    /// replay it.
    static let planRecords = ["header", "preset", "speed", "control", "end"]

    private static func plan(at path: PathTemplate, _ context: SinkContext) throws(SinkError) -> RecordFile {
        try RecordFile(
            path, OutputOpener(OutputPlan(), context),
            selection: context.selection.isAll ? Selection(items: planRecords) : context.selection)
    }

    // MARK: - Lists

    private func readLists(warn: (String) -> Void) throws(SinkError) -> (names: [String]?, favourites: [String], skipped: [String]) {
        do throws(PresetList.Fault) {
            let lists = settings.lists
            let listed = try lists.path.map { path throws(PresetList.Fault) in try PresetList.names(at: path) } ?? []
            let hasOwn = lists.path != nil || !lists.names.isEmpty
            let names = PresetList.unique(listed + lists.names)
            if !hasOwn {
                warn("presets: there is no list of presets; nothing changes by itself until a visualizer reports its own (list=PATH)")
            } else if names.isEmpty {
                warn("presets: \(lists.path ?? "the list") names no preset; nothing changes by itself")
            }
            let favourites = try lists.favourites.map { path throws(PresetList.Fault) in try PresetList.names(at: path) } ?? []
            let skipped = try lists.skipped.map { path throws(PresetList.Fault) in try PresetList.names(at: path) } ?? []
            if hasOwn {
                let list = PresetNames(names)
                let known = Set(list.folded)
                for name in PresetList.unique(favourites + skipped) where !known.contains(name.folded) {
                    warn("presets: \(NameMatch.fault(name, in: list))")
                }
            }
            return (hasOwn ? names : nil, favourites, skipped)
        } catch {
            throw SinkError("presets: \(error.message)")
        }
    }

    // MARK: - Memory

    /// Where a stream's show is remembered; nil: nowhere.
    private func memoryFile(for stream: StreamHeader) -> MemoryFile? {
        if let path = settings.state { return path == "none" ? nil : MemoryFile(path: path) }
        return stream.isLive ? MemoryFile.standard() : nil
    }

    private func remembered(for stream: StreamHeader) -> ShowMemory {
        let warn = state.withLock { $0.warn }
        return memoryFile(for: stream)?.read { warn("presets: \($0)") } ?? ShowMemory()
    }

    private static func note(_ payload: Event.Payload, _ state: inout State) {
        let before = state.memory
        switch payload {
        case .preset(let change): state.memory.preset = change.name
        case .speed(let speed): state.memory.speed = speed
        default: return
        }
        if state.memory != before { state.isSaved = false }
    }

    /// A show that cannot be remembered goes on; it is told once.
    private static func save(_ state: inout State) {
        guard !state.isSaved, let file = state.memoryFile else { return }
        state.isSaved = true
        do {
            try file.write(state.memory)
        } catch {
            state.memoryFile = nil
            state.warn("presets: cannot write \(file.path); the show will not be remembered")
        }
    }
}
