internal import HemiolaRecords
internal import HemiolaSystem

/// In real time: a thread waits for the answers. Of the blocks that wait for it, the newest are kept.
///
/// `@unchecked Sendable`: `session` and `delay` are used by the thread alone once it has started; `state` is accessed only under the
/// condition's lock.
final class ParallelExchange: BlockExchange, @unchecked Sendable {
    let outputs: ProgramOutputs

    private struct State {
        var blocks: [(bytes: [UInt8], frame: Int64)] = []
        var losses = 0
        var values: [Float]
        var events: [Event] = []
        var failure: Problem?
        var warning: String?
        /// Whether the program is not used any more.
        var isOver = false
        /// Whether the program is to be ended in order after the blocks that wait.
        var isFinishing = false
        /// Whether the program is to be ended at once.
        var isStopping = false
        /// Whether the thread has ended.
        var hasEnded = false
    }

    private let starter: BlockStarter
    /// Signals every change of the state that a thread waits for.
    private let condition = Condition()
    private var state: State

    private var session: ProgramSession?
    private var delay = RetryDelay(longest: ProgramSettings.longestPause)

    /// Blocks that wait: 186 ms of 1024 frames at 44.1 kHz, for programs that pause now and then.
    private static let capacity = 8
    /// Events that wait for the analysis.
    private static let maximumEvents = 1024
    /// Seconds in which a program has to end at the end of the stream.
    private static let finishTime = 2.0

    init(_ starter: BlockStarter) throws(Problem) {
        self.starter = starter
        let session = try starter.session(nil, isCancelled: starter.isCancelled)
        outputs = session.outputs
        state = State(values: session.values)
        self.session = session
        delay.noteStart(at: starter.clock.now)
        do {
            try startThread(for: "the analyzer \(starter.program.name)") { [self] in
                run()
                change { $0.hasEnded = true }
            }
        } catch {
            session.stop()
            throw .complete(error.message)
        }
    }

    // MARK: - The analysis thread

    var failure: Problem? { condition.locked { state.failure } }

    var warning: String? { condition.locked { state.warning } }

    func send(_ block: [UInt8], at frame: Int64) {
        change { state in
            guard !state.isOver else { return }
            if state.blocks.count == Self.capacity {
                state.blocks.removeFirst()
                state.losses += 1
            }
            state.blocks.append((block, frame))
        }
    }

    var values: [Float] { condition.locked { state.values } }

    func takeEvents() -> [Event] {
        change { state in
            guard !state.events.isEmpty else { return [] }
            defer { state.events = [] }
            return state.events
        }
    }

    func takeLosses() -> Int {
        change { state in
            defer { state.losses = 0 }
            return state.losses
        }
    }

    func finish() {
        if starter.isCancelled() { return stop() }
        change { $0.isFinishing = true }
        let hasEnded = condition.locked { condition.wait(within: Self.finishTime) { !state.hasEnded } }
        if !hasEnded { stop() }
    }

    func stop() {
        change { $0.isStopping = true }
        // The thread ends the program, which takes `RunningProgram.killDelay` at most, except for one that waits for a device.
        condition.locked {
            while !state.hasEnded { condition.wait() }
        }
    }

    private func change<Result>(_ body: (inout State) -> Result) -> Result {
        condition.locked {
            defer { condition.broadcast() }
            return body(&state)
        }
    }

    // MARK: - The thread

    private var mustStop: Bool { condition.locked { state.isStopping } }

    private func run() {
        defer {
            session?.stop()
            session = nil
        }
        while let block = nextBlock() {
            do {
                try process(block)
            } catch {
                if mustStop || !handle(error) { return }
            }
        }
        if !mustStop { finishSession() }
    }

    /// Waits for a block.
    ///
    /// - Returns: nil: there will be none.
    private func nextBlock() -> (bytes: [UInt8], frame: Int64)? {
        condition.locked {
            while state.blocks.isEmpty, !state.isFinishing, !state.isStopping { condition.wait() }
            return state.blocks.isEmpty || state.isStopping ? nil : state.blocks.removeFirst()
        }
    }

    private func process(_ block: (bytes: [UInt8], frame: Int64)) throws(Problem) {
        if session == nil {
            guard starter.clock.now >= delay.nextAttempt else {
                change { $0.losses += 1 }
                return
            }
            delay.noteStart(at: starter.clock.now)
            session = try starter.session(outputs, isCancelled: { [self] in mustStop })
        }
        guard let session else { return }
        try session.exchange(block.bytes, at: block.frame)
        publish(session, values: session.values)
    }

    private func publish(_ session: ProgramSession, values: [Float]?) {
        let events = session.takeEvents()
        change { state in
            if let values { state.values = values }
            state.events += events.prefix(max(0, Self.maximumEvents - state.events.count))
        }
    }

    private func finishSession() {
        guard let session else { return }
        do {
            try session.finish()
        } catch {
            if mustStop {
                // The run was ended, and the rest of the results with it.
            } else if starter.program.policy == .skip {
                starter.warn(error.message)
            } else {
                change { $0.failure = Problem("\(error.message); \(starter.program.remedy), or set on_error=skip") }
            }
        }
        let warning = session.warning
        change { $0.warning = warning }
        publish(session, values: nil)
    }

    /// Starts the program again later, or goes on without it.
    ///
    /// - Returns: Whether the thread goes on.
    private func handle(_ fault: Problem) -> Bool {
        session?.stop()
        session = nil
        change { state in
            state.losses += 1
            for index in state.values.indices { state.values[index] = .nan }
        }
        if starter.isCancelled() { return false }
        guard starter.program.policy == .skip else {
            let pause = delay.noteFailure(at: starter.clock.now)
            starter.warn("\(fault.message); starting it again in \(pause.rounded(toPlaces: 1)) s")
            return true
        }
        starter.warn("\(fault.message); its values are null from here on")
        change { state in
            state.isOver = true
            state.blocks = []
        }
        return false
    }
}
