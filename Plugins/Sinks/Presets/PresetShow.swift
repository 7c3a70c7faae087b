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
    private var repertoire: Repertoire
    /// What was decided between two batches.
    private var outbox: [Event.Payload] = []
    private var echoes = LoadEchoes()
    private var hasBegun = false

    init(_ settings: ShowSettings, memory: ShowMemory = ShowMemory(), seed: UInt64) {
        pacing = settings.pacing
        repertoire = Repertoire(own: settings.names, favourites: settings.favourites, skipped: settings.skipped)
        // Two sequences from one seed: what the user asks for does not change the times.
        pacer = Pacer(settings.pacing, seed: seed)
        order = PresetOrder(settings.order, seed: ~seed)
        remembered = memory.preset
        speed = memory.speed.flatMap(Self.steppedSpeed) ?? 1
        isSpeedDue = memory.speed != nil
        isCycling = settings.pacing.isAutomatic
        order.replace(repertoire.chosen)
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
            if repertoire.known.isEmpty || repertoire.known.contains(name) {
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

    // MARK: - Wishes

    /// Obeys a control between two batches.
    ///
    /// - Parameter time: Up to which the stream was heard.
    /// - Returns: nil when it is none of the show's business.
    mutating func obey(_ control: Control, at time: Double) -> ControlReply? {
        switch control {
        case .nextPreset: return request(order.next(), fault: noOther)
        case .previousPreset: return request(order.previous(), fault: "there is no preset before this one")
        case .randomPreset: return request(order.random(), fault: noOther)
        case .loadPreset(let name): return load(name)
        case .lockPreset(let flag):
            if isLocked && !flag { pacer.restart(at: time) }
            isLocked = flag
            return .done
        case .toggleCycle:
            guard pacing.isAutomatic else { return .refused("in manual mode presets never change by themselves") }
            isCycling.toggle()
            if isCycling { pacer.restart(at: time) }
            return .done
        case .setSpeed(let speed), .speedChanged(let speed): return set(speed)
        case .ready(let names): return adopt(names, isNewPage: true)
        case .presetNames(let names): return adopt(names, isNewPage: false)
        case .presetChanged(let name): return follow(name, at: time)
        case .presetRefused(let name): return replace(name)
        default: return nil
        }
    }

    private var noOther: String {
        repertoire.known.isEmpty ? "there is no list of presets" : "there is no other preset in the list"
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

    private mutating func load(_ name: String) -> ControlReply {
        let found = repertoire.find(name)
        guard let choice = found.name else { return .refused(found.fault) }
        order.show(choice)
        post(choice, .request)
        return .done
    }

    private mutating func set(_ wish: Double) -> ControlReply {
        guard let stepped = Self.steppedSpeed(wish) else { return .refused("a speed is a number from 0.1 to 1") }
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

    private mutating func adopt(_ names: [String], isNewPage: Bool) -> ControlReply {
        let isAny = repertoire.adopt(names, isNewPage: isNewPage)
        order.replace(repertoire.chosen)
        return isAny ? .done : .refused("none of these presets is in the list: \(NameMatch.listed(names, limit: 3))")
    }

    /// The page shows a preset: one that it was told to, or one of its own choice.
    private mutating func follow(_ name: String, at time: Double) -> ControlReply {
        if name == order.current || echoes.contains(name, at: time) { return .done }
        order.show(name)
        post(name, .page)
        return .done
    }

    private mutating func replace(_ name: String) -> ControlReply {
        let wasShown = order.current == name
        repertoire.refuse(name)
        order.forget(name)
        order.replace(repertoire.chosen)
        guard wasShown else { return .done }
        guard let next = order.next() else { return .refused("there is no other preset to show instead of \"\(name)\"") }
        post(next, .refused)
        return .done
    }
}
