internal import Hemiola
internal import HemiolaSignal
internal import HemiolaVisualizer

/// The parameters of a preset schedule.
struct ScheduleSettings: Sendable, Equatable {
    var timing: ChangeTiming
    var order: PresetOrder.Kind = .shuffle
    /// The user's list; nil: the page's list is used.
    var names: [String]?
    /// Automatic changes use these presets only, as far as they are in the list; empty: all.
    var favourites: [String] = []
    /// Automatic changes never use these presets.
    var skipped: [String] = []
}

/// The state of a preset schedule.
struct ScheduleStatus: Sendable, Equatable {
    /// The current preset; nil before the first.
    var preset: String?
    /// 0.1…1.0.
    var speed: Double
    /// Whether automatic changes are on.
    var isCycling: Bool
    var isLocked: Bool
    /// Seconds until the timer changes the preset; nil: it does not.
    var nextIn: Double?
}

/// Chooses the preset and the speed: from the features of each batch, beats and controls to `preset` and `speed` events. It uses
/// neither files nor the pipeline.
struct PresetSchedule: Sendable {
    private enum PendingEvent {
        case preset(PresetChange)
        case speed(SpeedChange)
    }

    private let timing: ChangeTiming
    private var timer: ChangeTimer
    private var order: PresetOrder
    /// The preset of the last run. It is the first preset of this one if it is in the list.
    private var persistedPreset: String?
    private var speed: Double
    /// Whether the speed of the last run has to be emitted.
    private var isSpeedPending: Bool
    private var isLocked = false
    private var isCycling: Bool
    private let preparer: PresetControlPreparer
    /// All presets of the library.
    private var known: PresetNames
    private var generation: Int
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
        timing = settings.timing
        self.preparer = preparer ?? PresetControlPreparer(settings)
        let lists = self.preparer.reset()
        (known, generation) = (lists.known, lists.generation)
        // Two random sequences from one seed, so that requests from clients do not change the random times.
        timer = ChangeTimer(settings.timing, seed: seed)
        order = PresetOrder(settings.order, seed: ~seed)
        persistedPreset = persisted.preset
        speed = persisted.speed.flatMap(Self.steppedSpeed) ?? 1
        isSpeedPending = persisted.speed != nil
        isCycling = settings.timing.isAutomatic
        order.replace(lists.chosen)
    }

    /// The presets for automatic changes.
    var names: [String] { order.names }

    func status(at time: Double) -> ScheduleStatus {
        ScheduleStatus(preset: order.current, speed: speed, isCycling: isCycling, isLocked: isLocked, nextIn: nextIn(from: time))
    }

    private func nextIn(from time: Double) -> Double? {
        let runs = isCycling && !isLocked && !order.names.isEmpty
        return runs ? timer.due.map { max(0, $0 - time) } : nil
    }

    /// Moves all times to the clock of the next stream, whose 0 is `time` on the clock of this stream.
    mutating func rebase(by time: Double) {
        timer.rebase(by: time)
        echoFilter.rebase(by: time)
    }

    // MARK: - Batches

    /// Adds a beat, which may be announced ahead of its time.
    mutating func add(_ beat: Beat, at time: Double) {
        timer.add(beat, at: time)
    }

    /// Adds the start of a segment, which may be announced ahead of its time or reported after it.
    mutating func addSegment(at time: Double) {
        timer.addSegment(at: time)
    }

    /// Processes a batch and appends its `preset` and `speed` events.
    mutating func update(with batch: BatchFeatures, into events: inout EventList) {
        begin(batch, into: &events)
        if !pending.isEmpty { emitPending(at: batch.end, into: &events) }
        let isHeld = isLocked || !isCycling || order.current == nil
        guard let change = timer.update(with: batch, isHeld: isHeld) else { return }
        let name = order.next()
        timer.restart(at: change.time)
        guard let name else { return }
        emit(name, change, into: &events)
    }

    private mutating func begin(_ batch: BatchFeatures, into events: inout EventList) {
        defer { hasBegun = true }
        let time = hasBegun ? batch.end : batch.start
        if isSpeedPending {
            events.append(SpeedChange(speed), at: time)
            isSpeedPending = false
        }
        guard order.current == nil, pending.isEmpty, let name = firstPreset() else { return }
        order.select(name)
        timer.restart(at: time)
        emit(name, ScheduledChange(time: time, blend: 0, reason: .start), into: &events)
    }

    /// The persisted preset if the list contains it or no list is known, else the first of the order.
    private mutating func firstPreset() -> String? {
        if let name = persistedPreset {
            if known.isEmpty || known.index(of: name) != nil {
                persistedPreset = nil
                return name
            }
            if !order.names.isEmpty { persistedPreset = nil }
        }
        return order.names.isEmpty ? nil : order.next()
    }

    private mutating func emitPending(at time: Double, into events: inout EventList) {
        for event in pending {
            switch event {
            case .speed(let change): events.append(change, at: time)
            case .preset(var change):
                timer.restart(at: time)
                change.nextIn = nextIn(from: time)
                events.append(change, at: time)
                if change.reason != .page { echoFilter.expect(change.name, at: time) }
            }
        }
        pending.removeAll(keepingCapacity: true)
    }

    private mutating func emit(_ name: String, _ change: ScheduledChange, into events: inout EventList) {
        echoFilter.expect(name, at: change.time)
        let preset = PresetChange(
            name: name, cut: change.blend == 0 ? .hard : .soft, blend: change.blend, reason: change.reason,
            nextIn: nextIn(from: change.time))
        events.append(preset, at: change.time)
    }

    // MARK: - Controls

    /// Handles a control between two batches.
    ///
    /// - Parameters:
    ///   - time: Stream time of the end of the last batch.
    ///   - preparation: The preparer's result for this control; nil: it is computed now, which may take long.
    /// - Returns: `done`, or why the control has no effect.
    mutating func handle(
        _ control: Control, at time: Double, preparation: PresetControlPreparer.Preparation? = nil
    ) -> ControlReply {
        switch control.type {
        case .nextPreset: return request(order.next(), error: noOtherPreset)
        case .previousPreset: return request(order.previous(), error: "there is no preset before this one")
        case .randomPreset: return request(order.random(), error: noOtherPreset)
        case .loadPreset: return load(updateLists(after: control, preparation))
        case .lockPreset:
            let locks = control["locked"].flag ?? true
            if isLocked && !locks { timer.restart(at: time) }
            isLocked = locks
            return .done
        case .toggleCycle:
            guard timing.isAutomatic else { return .refused("there are no automatic preset changes in mode manual") }
            isCycling.toggle()
            if isCycling { timer.restart(at: time) }
            return .done
        case .setSpeed:
            let speed = control["speed"].number ?? .nan
            return SpeedChange.range.contains(speed) ? set(speed) : .refused(Self.speedError)
        case .speedHandler: return set(control["speed"].number ?? .nan)
        case .ready, .presetNames:
            return updateLists(after: control, preparation).error.map { .refused($0) } ?? .done
        case .presetHandler: return follow(control["name"].string ?? "", at: time)
        case .presetRefused: return replace(control["name"].string ?? "", updateLists(after: control, preparation))
        default: return .refused("the preset cycler does not handle \(control.name)")
        }
    }

    private var noOtherPreset: String {
        known.isEmpty ? "there is no list of presets" : "there is no other preset in the list"
    }

    private mutating func request(_ name: String?, error: String) -> ControlReply {
        guard let name else { return .refused(error) }
        enqueue(name, .request)
        return .done
    }

    private mutating func enqueue(_ name: String, _ reason: PresetChange.Reason) {
        let blend = reason == .page ? 0 : timing.requestBlend
        pending.append(.preset(PresetChange(name: name, cut: blend == 0 ? .hard : .soft, blend: blend, reason: reason)))
    }

    /// Sets the lists to those after a control. A preparation made before the schedule began is repeated.
    private mutating func updateLists(
        after control: Control, _ preparation: PresetControlPreparer.Preparation?
    ) -> PresetControlPreparer.Preparation {
        var lists = preparation ?? preparer.preparation(for: control)
        if lists.generation != generation { lists = preparer.preparation(for: control) }
        known = lists.known
        order.replace(lists.chosen)
        return lists
    }

    private mutating func load(_ preparation: PresetControlPreparer.Preparation) -> ControlReply {
        guard let name = preparation.name else { return .refused(preparation.error ?? noOtherPreset) }
        order.select(name)
        enqueue(name, .request)
        return .done
    }

    private static let speedError = "the speed must be a number from 0.1 to 1"

    private mutating func set(_ newSpeed: Double) -> ControlReply {
        guard let stepped = Self.steppedSpeed(newSpeed) else { return .refused(Self.speedError) }
        speed = stepped
        isSpeedPending = false
        pending.append(.speed(SpeedChange(stepped)))
        return .done
    }

    /// Clamps a speed to 0.1…1.0 and rounds it to steps of 0.05; nil for NaN and infinities.
    static func steppedSpeed(_ speed: Double) -> Double? {
        guard speed.isFinite else { return nil }
        return (min(1, max(0.1, speed)) * 20).rounded() / 20
    }

    // MARK: - Reports from the page

    /// Handles the page's report that it shows a preset. A preset that was not requested by this schedule becomes the current one.
    private mutating func follow(_ name: String, at time: Double) -> ControlReply {
        if name == order.current || echoFilter.contains(name, at: time) { return .done }
        order.select(name)
        enqueue(name, .page)
        return .done
    }

    /// Changes to another preset if the page cannot load the current one, `name`. The lists no longer contain it.
    private mutating func replace(_ name: String, _ lists: PresetControlPreparer.Preparation) -> ControlReply {
        let wasCurrent = order.current == name
        order.remove(name)
        guard wasCurrent else { return .done }
        guard let next = order.next() else { return .refused("there is no other preset to show instead of \"\(name)\"") }
        enqueue(next, .refused)
        return .done
    }
}

/// Recognises the page's confirmations: a page that reports a preset within 3 s after the event that loads it confirms the event and
/// has not chosen the preset itself.
struct EchoFilter: Sendable {
    private static let seconds = 3.0
    private static let capacity = 8

    private var loads: [(name: String, time: Double)] = []

    init() {
        loads.reserveCapacity(Self.capacity)
    }

    /// Stores a preset that a page is about to load.
    mutating func expect(_ name: String, at time: Double) {
        if loads.count == Self.capacity { loads.removeFirst() }
        loads.append((name, time))
    }

    /// Whether a report of this preset is a confirmation.
    func contains(_ name: String, at time: Double) -> Bool {
        loads.contains { $0.name == name && time - $0.time < Self.seconds }
    }

    /// Moves all times to the clock of the next stream, whose 0 is `time` on the clock of this stream.
    mutating func rebase(by time: Double) {
        for index in loads.indices { loads[index].time -= time }
    }
}
