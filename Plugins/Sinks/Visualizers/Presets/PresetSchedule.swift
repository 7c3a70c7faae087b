internal import Hemiola
internal import HemiolaVisualizer

/// The parameters of a preset schedule.
struct ScheduleSettings: Sendable, Equatable {
    var timing: ChangeTiming
    var order: PresetOrder.Kind = .shuffle
    /// Whether presets change by themselves from the start.
    var cycles = true
    /// The user's list; nil: the page's list is used.
    var names: [String]?
}

/// Chooses the preset and the speed: from the features of each batch, beats and controls to `preset` and `speed` events. It uses
/// neither files nor the pipeline.
struct PresetSchedule: Sendable {
    private enum PendingEvent {
        case preset(PresetChange)
        case pagePreset(PagePresetChange)
        case speed(SpeedChange)
    }

    /// A connected page. Where it does not have the preset of a change, it gets one of its own order.
    private struct Page {
        /// The origin of its controls.
        let origin: String
        /// The presets that it has.
        var known: PresetNames
        var order: PresetOrder
        /// When it has chosen a preset itself, in seconds of stream time.
        var choiceTime = -Double.infinity

        func has(_ name: String) -> Bool { known.index(of: name) != nil }

        /// Shows a preset, or, if the page does not have it, the one that a move within its own order leads to.
        ///
        /// - Returns: The preset of its own; nil: there is none, or it shows the given one.
        mutating func show(_ name: String, orElse move: (inout PresetOrder) -> String?) -> String? {
            guard has(name) else { return move(&order) }
            order.select(name)
            return nil
        }
    }

    /// Maximum number of bytes of the favourites' names: also with every byte escaped, clients get their record.
    private static let favouriteBytes = 128 << 10

    private var timer: ChangeTimer
    private var order: PresetOrder
    /// The seed of the order of the next page.
    private var pageSeed: UInt64
    /// The connected pages that have reported their presets, at most as many as the library stores.
    private var pages: [Page] = []
    /// The last preset that one of several pages has refused, and what it shows instead: pages that refuse the same one stay alike.
    private var replacement: (refused: String, name: String)?
    /// The preset of the last run. It is the first preset of this one if it is in the list.
    private var persistedPreset: String?
    private var speed: Double
    /// Whether the speed of the last run has to be emitted.
    private var isSpeedPending: Bool
    private var isLocked = false
    private var isCycling: Bool
    /// Whether the first preset is the one that a page shows: no list is set, and only requests change it.
    private let followsPage: Bool
    private let preparer: PresetControlPreparer
    /// The presets that can be loaded.
    private(set) var library: PresetLibrary
    /// Events caused by controls since the last batch.
    private var pending: [PendingEvent] = []
    private var echoFilter = EchoFilter()
    private var hasBegun = false

    /// - Parameters:
    ///   - preparer: Is reset by this call; nil: a new one with the settings' lists.
    ///   - persisted: The preset and speed to start with.
    init(
        _ settings: ScheduleSettings, preparer: PresetControlPreparer? = nil, persisted: PersistedState = PersistedState(), seed: UInt64
    ) {
        self.preparer = preparer ?? PresetControlPreparer(settings)
        library = self.preparer.reset()
        // Two random sequences from one seed, so that requests from clients do not change the random times.
        timer = ChangeTimer(settings.timing, seed: seed)
        order = PresetOrder(settings.order, seed: ~seed)
        pageSeed = ~seed &+ 1
        persistedPreset = persisted.preset
        speed = persisted.speed.flatMap(Self.steppedSpeed) ?? 1
        isSpeedPending = persisted.speed != nil
        isCycling = settings.cycles
        followsPage = settings.names == nil && !settings.cycles
        order.replace(library.known)
    }

    /// Whether a page is connected.
    var hasPages: Bool { !pages.isEmpty }

    private var requestBlend: Double { timer.timing.requestBlend }

    /// Whether what is persisted is for a page that has not connected yet.
    private var waitsForPage: Bool { followsPage && !hasPages }

    /// Seconds until the next change that can be foreseen; nil: there is none.
    private func nextIn(from time: Double) -> Double? {
        let runs = isCycling && !isLocked && !library.known.isEmpty
        return runs ? timer.nextIn(from: time) : nil
    }

    /// Moves all times to the clock of the next stream, whose 0 is `time` on the clock of this stream.
    mutating func rebase(by time: Double) {
        timer.rebase(by: time)
        echoFilter.rebase(by: time)
        for index in pages.indices { pages[index].choiceTime -= time }
    }

    // MARK: - Batches

    /// Adds an event of the analyzers, before the batch that it comes with.
    mutating func add(_ event: Event) {
        timer.add(event)
    }

    /// Processes a batch and appends its `preset` and `speed` events.
    mutating func update(with batch: BatchFeatures, into events: inout EventList) {
        begin(batch, into: &events)
        emitPending(at: batch.end, into: &events)
        let isHeld = isLocked || !isCycling || order.current == nil
        guard let change = timer.update(with: batch, isHeld: isHeld) else { return }
        guard let name = order.next() else { return timer.restart(at: change.time) }
        enqueue(name, change.reason, blend: timer.timing.blend) { $0.next() }
        emitPending(at: change.time, into: &events)
    }

    /// Appends the events of requests while no batch comes.
    ///
    /// - Parameter time: Stream time of the end of the last batch.
    mutating func emitRequests(at time: Double, into events: inout EventList) {
        guard hasBegun else { return }
        emitSpeed(at: time, into: &events)
        emitPending(at: time, into: &events)
    }

    private mutating func begin(_ batch: BatchFeatures, into events: inout EventList) {
        defer { hasBegun = true }
        let time = hasBegun ? batch.end : batch.start
        emitSpeed(at: time, into: &events)
        guard order.current == nil, pending.isEmpty, !waitsForPage, let name = firstPreset() else { return }
        order.select(name)
        enqueue(name, .start, blend: 0) { $0.next() }
        emitPending(at: time, into: &events)
    }

    private mutating func emitSpeed(at time: Double, into events: inout EventList) {
        guard isSpeedPending, !waitsForPage else { return }
        events.append(SpeedChange(speed), at: time)
        isSpeedPending = false
    }

    /// The persisted preset if the list contains it or no list is known, else the first of the order; nil: that of a page is followed.
    private mutating func firstPreset() -> String? {
        if let name = persistedPreset {
            if library.known.isEmpty || library.known.index(of: name) != nil {
                persistedPreset = nil
                return name
            }
            if !library.known.isEmpty { persistedPreset = nil }
        }
        return library.known.isEmpty || followsPage ? nil : order.next()
    }

    private mutating func emitPending(at time: Double, into events: inout EventList) {
        if pending.isEmpty { return }
        for event in pending {
            switch event {
            case .speed(let change): events.append(change, at: time)
            case .preset(var change):
                timer.restart(at: time)
                change.nextIn = nextIn(from: time)
                events.append(change, at: time)
                if change.reason != .page { echoFilter.expect(change.name, at: time) }
            case .pagePreset(let change):
                echoFilter.expect(change.name, at: time)
                events.append(change, at: time)
            }
        }
        pending.removeAll(keepingCapacity: true)
    }

    /// Adds the change to a preset that the order has selected.
    ///
    /// - Parameter move: For pages that do not have the preset; by default they keep theirs.
    private mutating func enqueue(
        _ name: String, _ reason: PresetChange.Reason, blend: Double, orElse move: (inout PresetOrder) -> String? = { _ in nil }
    ) {
        pending.append(.preset(PresetChange(name: name, cut: blend == 0 ? .hard : .soft, blend: blend, reason: reason)))
        for index in pages.indices {
            if let own = pages[index].show(name, orElse: move) { enqueue(own, in: index, reason, blend: blend) }
        }
    }

    /// Adds the change of one page.
    private mutating func enqueue(_ name: String, in index: Int, _ reason: PresetChange.Reason, blend: Double) {
        pending.append(.pagePreset(PagePresetChange(page: pages[index].origin, name: name, blend: blend, reason: reason)))
    }

    // MARK: - Controls

    /// Handles a control between two batches.
    ///
    /// - Parameters:
    ///   - origin: The page or client that has sent it.
    ///   - time: Stream time of the end of the last batch.
    ///   - preparation: The preparer's result for this control; nil: it is computed now, which may take long.
    /// - Returns: That it has taken effect, or why it has none.
    mutating func handle(
        _ control: Control, from origin: String = "", at time: Double, preparation: PresetControlPreparer.Preparation? = nil
    ) -> ControlReply {
        switch control.type {
        case .nextPreset: return request(error: noOtherPreset) { $0.next() }
        case .previousPreset: return request(error: "there is no preset before this one") { $0.previous() }
        case .randomPreset: return request(error: noOtherPreset) { $0.random() }
        case .loadPreset: return load(updateLists(after: control, from: origin, preparation))
        case .lockPreset:
            let locks = control["locked"].flag ?? true
            if isLocked && !locks { timer.restart(at: time) }
            isLocked = locks
            return .done
        case .toggleCycle:
            isCycling.toggle()
            if isCycling { timer.restart(at: time) }
            return .switched(isCycling)
        // Its record tells pages and the state file.
        case .setFavourites:
            let size = (control["names"].items ?? []).reduce(0) { $0 + ($1.string?.utf8.count ?? 0) }
            return size <= Self.favouriteBytes ? .done : .refused("the names of the favourites have more than 128 KiB")
        case .setSpeed, .speedHandler: return set(control["speed"].number ?? .nan)
        case .ready, .presetNames:
            let error = updateLists(after: control, from: origin, preparation).error
            welcome(origin)
            return error.map { .refused($0) } ?? .done
        case .presetHandler: return follow(control["name"].string ?? "", in: origin, at: time)
        case .presetRefused:
            _ = updateLists(after: control, from: origin, preparation)
            return replace(control["name"].string ?? "", in: origin)
        case .pageClosed:
            _ = updateLists(after: control, from: origin, preparation)
            return .done
        default: return .unknown(control)
        }
    }

    private var noOtherPreset: String {
        library.known.isEmpty ? "there is no list of presets" : "there is no other preset in the list"
    }

    /// Moves within the order, and for pages that do not have its preset within their own.
    private mutating func request(error: String, _ move: (inout PresetOrder) -> String?) -> ControlReply {
        guard let name = move(&order) else { return .refused(error) }
        enqueue(name, .request, blend: requestBlend, orElse: move)
        return .done
    }

    /// Sets the lists to those after a control. A preparation made before the schedule began is repeated, and so are those made
    /// before the repetition: they lack what it has added.
    private mutating func updateLists(
        after control: Control, from origin: String, _ preparation: PresetControlPreparer.Preparation?
    ) -> PresetControlPreparer.Preparation {
        var valid = preparation ?? preparer.preparation(for: control, from: origin)
        if valid.library.revision < library.revision { valid = preparer.preparation(for: control, from: origin) }
        library = valid.library
        order.replace(library.known)
        pages = library.connectedPages.map { presets in
            var page = pages.first { $0.origin == presets.origin } ?? addedPage(presets)
            page.known = presets.known
            page.order.replace(presets.known)
            return page
        }
        return valid
    }

    private mutating func addedPage(_ presets: PresetLibrary.Page) -> Page {
        pageSeed &+= 1
        return Page(origin: presets.origin, known: presets.known, order: PresetOrder(order.kind, seed: pageSeed))
    }

    private mutating func load(_ preparation: PresetControlPreparer.Preparation) -> ControlReply {
        guard let name = preparation.name else { return .refused(preparation.error ?? noOtherPreset) }
        order.select(name)
        enqueue(name, .request, blend: requestBlend)
        return .done
    }

    private mutating func set(_ newSpeed: Double) -> ControlReply {
        guard let stepped = Self.steppedSpeed(newSpeed) else { return .refused("the speed is not finite") }
        speed = stepped
        isSpeedPending = false
        pending.append(.speed(SpeedChange(stepped)))
        return .done
    }

    /// Clamps a speed to 0.1…1.0 and rounds it to steps of 0.05; nil for NaN and infinities.
    static func steppedSpeed(_ speed: Double) -> Double? {
        SpeedChange(limiting: speed).map { ($0.speed * 20).rounded() / 20 }
    }

    // MARK: - Reports from the page

    private func index(of page: String) -> Int? { pages.firstIndex { $0.origin == page } }

    /// Gives a page that has connected a preset of its own if it does not have the current one, which a bridge sends to it.
    private mutating func welcome(_ page: String) {
        guard let current = order.current, let index = index(of: page), pages[index].order.current == nil else { return }
        if pages[index].has(current) { return pages[index].order.select(current) }
        if pages.count > 1 {
            if let own = pages[index].order.next() { enqueue(own, in: index, .start, blend: requestBlend) }
        } else if let next = order.next() {
            enqueue(next, .refused, blend: requestBlend)
        }
    }

    /// Handles a page's report that it shows a preset. A preset that was not requested by this schedule becomes the current one.
    private mutating func follow(_ name: String, in page: String, at time: Double) -> ControlReply {
        let index = index(of: page)
        let isExpected = index.map { pages[$0].order.current == name } ?? false
        if let index { pages[index].order.select(name) }
        // What it reports after a choice of its own is none of the loads before: the user may go back to one.
        let lastChoice = index.map { pages[$0].choiceTime } ?? -.infinity
        if isExpected || name == order.current || echoFilter.contains(name, since: lastChoice, at: time) { return .done }
        if let index { pages[index].choiceTime = time }
        order.select(name)
        enqueue(name, .page, blend: 0)
        return .done
    }

    /// Changes to another preset if a page cannot load `name`, which it shows now. The list of the page no longer contains it. With
    /// several pages, only this one changes.
    private mutating func replace(_ name: String, in page: String) -> ControlReply {
        let index = index(of: page)
        let wasShown = index.map { pages[$0].order.current == name } ?? false
        let wasCurrent = order.current == name
        if let index { pages[index].order.remove(name) }
        if library.known.index(of: name) == nil { order.remove(name) }
        if wasCurrent, pages.count <= 1 {
            guard let next = order.next() else { return .refused(Self.noReplacement(of: name)) }
            enqueue(next, .refused, blend: requestBlend)
        } else if wasShown, let index {
            if let replacement, replacement.refused == name, pages[index].has(replacement.name) {
                pages[index].order.select(replacement.name)
            } else if pages[index].order.next() == nil {
                return .refused(Self.noReplacement(of: name))
            }
            guard let shown = pages[index].order.current else { return .done }
            replacement = (name, shown)
            enqueue(shown, in: index, .refused, blend: requestBlend)
        }
        return .done
    }

    private static func noReplacement(of name: String) -> String { "there is no other preset to show instead of \"\(name)\"" }
}

/// Recognises the page's confirmations: a page that reports a preset within 3 s after the event that loads it confirms the event and
/// has not chosen the preset itself.
struct EchoFilter: Sendable {
    private static let seconds = 3.0
    private static let capacity = 32

    private var loads: [(name: String, time: Double)] = []

    init() {
        loads.reserveCapacity(Self.capacity)
    }

    /// Stores a preset that a page is about to load.
    mutating func expect(_ name: String, at time: Double) {
        if loads.count == Self.capacity { loads.removeFirst() }
        loads.append((name, time))
    }

    /// Whether a report of this preset is a confirmation of a load that is not older than `start`.
    func contains(_ name: String, since start: Double, at time: Double) -> Bool {
        loads.contains { $0.name == name && $0.time >= start && time - $0.time < Self.seconds }
    }

    /// Moves all times to the clock of the next stream, whose 0 is `time` on the clock of this stream.
    mutating func rebase(by time: Double) {
        for index in loads.indices { loads[index].time -= time }
    }
}
