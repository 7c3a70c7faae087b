internal import Hemiola
internal import HemiolaSignal

/// Decides what is shown: which preset, from when on, and how fast. It knows neither files nor the pipeline.
struct PresetShow: Sendable {
    private let pacing: Pacing
    private var pacer: Pacer
    private var order: PresetOrder
    /// Shown first, if it can be.
    private var remembered: String?
    private var speed: Double
    private var isSpeedDue: Bool
    private var isLocked = false
    private var isCycling: Bool
    private let library: PresetLibrary
    /// All that can be shown, of the library.
    private var known: PresetNames
    private var generation: Int
    /// What was decided between two batches.
    private var outbox: [Event.Payload] = []
    private var echoes = LoadEchoes()
    private var hasBegun = false

    /// - Parameter library: It begins anew with the show; nil: the settings' own.
    init(_ settings: ShowSettings, library: PresetLibrary? = nil, memory: ShowMemory = ShowMemory(), seed: UInt64) {
        pacing = settings.pacing
        self.library = library ?? PresetLibrary(settings)
        let lists = self.library.reset()
        (known, generation) = (lists.known, lists.generation)
        // Two sequences from one seed: what the user asks for does not change the times.
        pacer = Pacer(settings.pacing, seed: seed)
        order = PresetOrder(settings.order, seed: ~seed)
        remembered = memory.preset
        speed = memory.speed.flatMap(Self.steppedSpeed) ?? 1
        isSpeedDue = memory.speed != nil
        isCycling = settings.pacing.isAutomatic
        order.replace(lists.chosen)
    }

    /// The names that can come by themselves.
    var names: [String] { order.names }

    func state(at time: Double) -> ShowState {
        ShowState(preset: order.current, speed: speed, isCycling: isCycling, isLocked: isLocked, nextIn: nextIn(from: time))
    }

    private func nextIn(from time: Double) -> Double? {
        let runs = isCycling && !isLocked && !order.names.isEmpty
        return runs ? pacer.due.map { max(0, $0 - time) } : nil
    }

    /// The clock of the stream starts anew, in the middle of the show: what was `time` is 0 now.
    mutating func rebase(by time: Double) {
        pacer.rebase(by: time)
        echoes.rebase(by: time)
    }

    // MARK: - Batches

    mutating func hear(_ beat: Beat, at time: Double) {
        pacer.hear(beat, at: time)
    }

    /// Decides what happens in a batch.
    mutating func direct(_ moment: ShowMoment, into events: inout EventList) {
        begin(moment, into: &events)
        if !outbox.isEmpty { tellRequests(at: moment.end, into: &events) }
        let isHeld = isLocked || !isCycling || order.current == nil
        guard let change = pacer.decide(moment, isHeld: isHeld) else { return }
        let name = order.next()
        pacer.restart(at: change.time)
        guard let name else { return }
        tell(name, change, into: &events)
    }

    private mutating func begin(_ moment: ShowMoment, into events: inout EventList) {
        defer { hasBegun = true }
        let time = hasBegun ? moment.end : moment.start
        if isSpeedDue {
            events.append(.speed(speed), at: time)
            isSpeedDue = false
        }
        guard order.current == nil, outbox.isEmpty, let name = firstPreset() else { return }
        order.show(name)
        pacer.restart(at: time)
        tell(name, Change(time: time, blend: 0, reason: .start), into: &events)
    }

    /// The remembered one if it is there, else the first of the order.
    private mutating func firstPreset() -> String? {
        if let name = remembered {
            if known.isEmpty || known.place(of: name) != nil {
                remembered = nil
                return name
            }
            if !order.names.isEmpty { remembered = nil }
        }
        return order.names.isEmpty ? nil : order.next()
    }

    private mutating func tellRequests(at time: Double, into events: inout EventList) {
        for payload in outbox {
            guard case .preset(var change) = payload else {
                events.append(payload, at: time)
                continue
            }
            pacer.restart(at: time)
            change.nextIn = nextIn(from: time)
            events.append(.preset(change), at: time)
            if change.reason != .page { echoes.expect(change.name, at: time) }
        }
        outbox.removeAll(keepingCapacity: true)
    }

    private mutating func tell(_ name: String, _ change: Change, into events: inout EventList) {
        echoes.expect(name, at: change.time)
        let preset = PresetChange(
            name: name, cut: change.blend == 0 ? .hard : .soft, blend: change.blend, reason: change.reason,
            nextIn: nextIn(from: change.time))
        events.append(.preset(preset), at: change.time)
    }

    // MARK: - Controls

    /// Handles a control between two batches.
    ///
    /// - Parameters:
    ///   - time: Up to which the stream was analysed.
    ///   - answer: What the library answered to it; nil: the library is asked now, which takes its time.
    /// - Returns: nil when the show does not handle this control.
    mutating func obey(_ control: Control, at time: Double, answer: PresetLibrary.Answer? = nil) -> ControlReply? {
        switch control {
        case .nextPreset: return request(order.next(), fault: noOther)
        case .previousPreset: return request(order.previous(), fault: "there is no preset before this one")
        case .randomPreset: return request(order.random(), fault: noOther)
        case .loadPreset: return load(lists(after: control, answer))
        case .lockPreset(let flag):
            if isLocked && !flag { pacer.restart(at: time) }
            isLocked = flag
            return .done
        case .toggleCycle:
            guard pacing.isAutomatic else { return .refused("in manual mode presets never change by themselves") }
            isCycling.toggle()
            if isCycling { pacer.restart(at: time) }
            return .done
        case .setSpeed(let speed): return (0.1...1).contains(speed) ? set(speed) : .refused(Self.speedFault)
        case .speedChanged(let speed): return set(speed)
        case .ready, .presetNames:
            return lists(after: control, answer).fault.map { .refused($0) } ?? .done
        case .presetChanged(let name): return follow(name, at: time)
        case .presetRefused(let name): return replace(name, lists(after: control, answer))
        default: return nil
        }
    }

    private var noOther: String {
        known.isEmpty ? "there is no list of presets" : "there is no other preset in the list"
    }

    private mutating func request(_ name: String?, fault: String) -> ControlReply {
        guard let name else { return .refused(fault) }
        post(name, .request)
        return .done
    }

    private mutating func post(_ name: String, _ reason: PresetChange.Reason) {
        let blend = reason == .page ? 0 : pacing.requestBlend
        outbox.append(.preset(PresetChange(name: name, cut: blend == 0 ? .hard : .soft, blend: blend, reason: reason)))
    }

    /// Takes over what the library has after a control. An answer from before the show began is asked for again.
    private mutating func lists(after control: Control, _ answer: PresetLibrary.Answer?) -> PresetLibrary.Answer {
        var lists = answer ?? library.answer(to: control)
        if lists.generation != generation { lists = library.answer(to: control) }
        known = lists.known
        order.replace(lists.chosen)
        return lists
    }

    private mutating func load(_ answer: PresetLibrary.Answer) -> ControlReply {
        guard let choice = answer.name else { return .refused(answer.fault ?? noOther) }
        order.show(choice)
        post(choice, .request)
        return .done
    }

    private static let speedFault = "a speed is a number from 0.1 to 1"

    private mutating func set(_ wish: Double) -> ControlReply {
        guard let stepped = Self.steppedSpeed(wish) else { return .refused(Self.speedFault) }
        speed = stepped
        isSpeedDue = false
        outbox.append(.speed(stepped))
        return .done
    }

    /// Within 0.1…1.0, in steps of 0.05.
    static func steppedSpeed(_ wish: Double) -> Double? {
        guard wish.isFinite else { return nil }
        return (min(1, max(0.1, wish)) * 20).rounded() / 20
    }

    // MARK: - The page

    /// The page shows a preset: one that it was told to, or one of its own choice.
    private mutating func follow(_ name: String, at time: Double) -> ControlReply {
        if name == order.current || echoes.contains(name, at: time) { return .done }
        order.show(name)
        post(name, .page)
        return .done
    }

    /// Shows another preset instead of one that the page cannot show. The lists are those without it.
    private mutating func replace(_ name: String, _ lists: PresetLibrary.Answer) -> ControlReply {
        let wasShown = order.current == name
        order.forget(name)
        guard wasShown else { return .done }
        guard let next = order.next() else { return .refused("there is no other preset to show instead of \"\(name)\"") }
        post(next, .refused)
        return .done
    }
}
