internal import Hemiola
internal import Synchronization

/// A bounded queue of controls from clients, which the analysis thread empties once per batch.
///
/// When it is full, the newest control of the client with the most controls is removed and answered `busy`. The capacity of a batch is
/// therefore shared evenly among the clients, and a client that floods delays no other.
///
/// If a director requires preparation of a control, a separate thread prepares the control before it is queued. The controls of one
/// client keep their order.
final class ControlInbox: Sendable {
    /// Maximum number of controls per batch, live and for paced files.
    static let liveCapacity = 32
    /// Maximum number of controls per batch for a file that is analysed as fast as possible.
    static let fileCapacity = 256
    /// Maximum number of controls with lists of names, each of which may have a megabyte. Above it, a list is accepted only from a client
    /// without a list in the inbox, and the newest list of the client with the most lists is removed.
    static let listCapacity = 4

    /// The results of preparers, by the index of the director.
    typealias Preparations = [Int: any Sendable]

    struct Entry: Sendable {
        var control: Control
        var origin: String
        var reply: ControlPort.Reply?
        /// The index of the sink that has submitted it.
        var sink: Int
        /// The results of the preparers. A prepared control is never removed: a preparer and its director receive the same controls.
        var preparations: Preparations = [:]
        /// The number of the control in order of arrival.
        var number = 0
    }

    fileprivate struct State {
        /// For the next batch.
        var ready: [Entry] = []
        /// To be prepared, in order of arrival.
        var unprepared: [Entry] = []
        /// What is being prepared.
        var preparing: Entry?
        var hasThread = false
        var number = 0
        /// When each client's control was last prepared, as a count.
        var turns: [String: Int] = [:]
        var turn = 0
        /// Losses of clients: at most two for each, of which one is ongoing.
        var losses: [DropReport] = []
        var isClosed = false
        var preparers: [(director: Int, preparer: any ControlPreparer)] = []
    }

    private let capacity: Int
    private let state = Mutex(State())
    /// The number of items that `drain` returns: an empty inbox costs one atomic read per batch and no lock.
    private let waiting = Atomic<Int>(0)

    /// - Parameter capacity: Maximum number of controls per batch.
    init(capacity: Int) {
        self.capacity = capacity
    }

    /// Sets the preparers of the directors, for all later controls.
    func setPreparers(_ preparers: [(director: Int, preparer: any ControlPreparer)]) {
        state.withLock { $0.preparers = preparers }
    }

    /// The port of a sink.
    func port(of sink: Int) -> ControlPort {
        ControlPort(
            submit: { [self] control, origin, reply in submit(Entry(control: control, origin: origin, reply: reply, sink: sink)) },
            report: { [self] loss in update { $0.add(loss) } })
    }

    /// Whether `drain` would find anything.
    var isEmpty: Bool { waiting.load(ordering: .acquiring) == 0 }

    /// Removes and returns all ready controls, in order of arrival, and the losses that are complete.
    func drain() -> (entries: [Entry], losses: [DropReport]) {
        update { state in
            let losses = state.losses.filter { !$0.isOngoing }
            state.losses.removeAll { !$0.isOngoing }
            defer { state.ready = [] }
            return (state.ready, losses)
        }
    }

    /// Removes and returns all losses, because a stream ends.
    func takeLosses() -> [DropReport] {
        update { state in
            defer { state.losses = [] }
            return state.losses
        }
    }

    /// Ends the run: refuses all waiting and later controls.
    func close() {
        let rest = update { state in
            state.isClosed = true
            defer { state.unprepared = [] }
            return state.unprepared
        }
        for entry in drain().entries + rest { entry.reply?(Self.tooLate) }
    }

    private func update<Result>(_ body: (inout State) -> Result) -> Result {
        state.withLock { state in
            let result = body(&state)
            waiting.store(state.ready.count + state.losses.count { !$0.isOngoing }, ordering: .releasing)
            return result
        }
    }

    private static let tooLate = ControlReply.refused("the stream has ended")

    // MARK: - The thread that submits

    private func submit(_ entry: Entry) {
        var startsThread = false
        let answered = update { state -> (entry: Entry, reply: ControlReply)? in
            if state.isClosed { return (entry, Self.tooLate) }
            var removed: Entry?
            if entry.control.isList, state.listCount >= Self.listCapacity {
                removed = state.removeNewest(toMakeRoomFor: entry.origin, where: \.control.isList)
                if removed == nil, state.hasList(from: entry.origin) { return (entry, .busy) }
            }
            if state.count >= capacity {
                removed = state.removeNewest(toMakeRoomFor: entry.origin)
                if removed == nil { return (entry, .busy) }
            }
            state.number += 1
            var entry = entry
            entry.number = state.number
            if state.mustPrepare(entry) {
                state.unprepared.append(entry)
                startsThread = !state.hasThread
                state.hasThread = true
            } else {
                state.ready.append(entry)
            }
            return removed.map { ($0, .busy) }
        }
        if startsThread {
            do {
                try startThread(for: "the preparation of a control") { [self] in prepareAll() }
            } catch {
                refuseUnprepared(because: error)
            }
        }
        guard let answered else { return }
        answered.entry.reply?(answered.reply)
    }

    /// Refuses what waits for a preparation for which there is no thread: this one must not wait for it. The next control tries again.
    private func refuseUnprepared(because error: Problem) {
        let refused = update { state in
            let waiting = state.unprepared
            let preparers = state.preparers
            (state.unprepared, state.hasThread) = ([], false)
            // Some only waited for an earlier control of their client.
            state.ready += waiting.filter { entry in !preparers.contains { $0.preparer.isNeeded(for: entry.control) } }
            return waiting.filter { entry in preparers.contains { $0.preparer.isNeeded(for: entry.control) } }
        }
        for entry in refused { entry.reply?(.refused(error.message)) }
    }

    // MARK: - The thread that prepares

    /// Runs until no unprepared control waits; the next one starts another thread.
    private func prepareAll() {
        lowerThreadPriority()
        while let (taken, preparers) = update({ state in state.takeUnprepared().map { ($0, state.preparers) } }) {
            var entry = taken
            for (director, preparer) in preparers where preparer.isNeeded(for: entry.control) {
                entry.preparations[director] = preparer.prepare(entry.control, from: entry.origin)
            }
            let isTooLate = update { state in
                state.preparing = nil
                if !state.isClosed { state.ready.append(entry) }
                return state.isClosed
            }
            if isTooLate { entry.reply?(Self.tooLate) }
        }
    }
}

extension ControlInbox.State {
    /// Adds losses. Those of an outage wait for its end.
    mutating func add(_ loss: DropReport) {
        let same = losses.indices.filter { losses[$0].sink == loss.sink && losses[$0].client == loss.client }
        if let index = same.first(where: { losses[$0].isOngoing }) ?? same.first(where: { losses[$0].isOngoing == loss.isOngoing }) {
            losses[index].batches += loss.batches
            losses[index].events += loss.events
            losses[index].isOngoing = loss.isOngoing
        } else if loss.batches > 0 || loss.events > 0 {
            losses.append(loss)
        }
    }

    var count: Int { ready.count + unprepared.count + (preparing == nil ? 0 : 1) }

    /// All controls, in no particular order.
    private var entries: [ControlInbox.Entry] { ready + unprepared + (preparing.map { [$0] } ?? []) }

    var listCount: Int { entries.count { $0.control.isList } }

    func hasList(from origin: String) -> Bool { entries.contains { $0.origin == origin && $0.control.isList } }

    /// Whether a control needs preparation, or an earlier control of the same client is not prepared yet.
    func mustPrepare(_ entry: ControlInbox.Entry) -> Bool {
        if preparers.contains(where: { $0.preparer.isNeeded(for: entry.control) }) { return true }
        return preparing?.origin == entry.origin || unprepared.contains { $0.origin == entry.origin }
    }

    /// Removes the newest control of the client with the most, if that client has more than the other will have.
    ///
    /// - Parameter isCounted: Which controls are counted, and may be removed.
    mutating func removeNewest(
        toMakeRoomFor origin: String, where isCounted: (ControlInbox.Entry) -> Bool = { _ in true }
    ) -> ControlInbox.Entry? {
        var counts: [String: Int] = [:]
        for entry in entries where isCounted(entry) { counts[entry.origin, default: 0] += 1 }
        let own = counts[origin] ?? 0
        let candidates = (ready.filter { $0.preparations.isEmpty } + unprepared).filter {
            isCounted($0) && counts[$0.origin, default: 0] > own + 1
        }
        let newest = candidates.max {
            (counts[$0.origin, default: 0], $0.number) < (counts[$1.origin, default: 0], $1.number)
        }
        guard let newest else { return nil }
        ready.removeAll { $0.number == newest.number }
        unprepared.removeAll { $0.number == newest.number }
        return newest
    }

    /// The first control of the client whose turn was longest ago.
    mutating func takeUnprepared() -> ControlInbox.Entry? {
        let next = unprepared.indices.min { (turns[unprepared[$0].origin] ?? 0, $0) < (turns[unprepared[$1].origin] ?? 0, $1) }
        guard let next else {
            turns = [:]
            hasThread = false
            return nil
        }
        let entry = unprepared.remove(at: next)
        preparing = entry
        turn += 1
        turns[entry.origin] = turn
        return entry
    }
}

extension Control {
    /// The longest of its lists: whether it is more than a constant amount of memory.
    var listCount: Int {
        values.reduce(0) { max($0, $1.items?.count ?? 0) }
    }

    /// Whether the control has a list of names.
    fileprivate var isList: Bool { listCount > 0 }
}
