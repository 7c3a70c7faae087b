internal import Glibc
internal import Hemiola
internal import HemiolaSignal
internal import HemiolaSystem
internal import Synchronization

/// In real time: a thread waits for the answers. Of the blocks that wait for it, the newest are kept.
///
/// `@unchecked Sendable`: `session` and `delay` are used by the thread alone once it has started; everything else is behind the
/// mutex.
final class ParallelExchange: BlockExchange, @unchecked Sendable {
    let outputs: AnalyzerOutputs

    private struct State {
        var blocks: [(bytes: [UInt8], frame: Int64)] = []
        var losses = 0
        var values: [Float]
        var events: [Event] = []
        var failure: ProgramFault?
        var warning: String?
        /// Whether the program is not used any more.
        var isOver = false
        /// Whether the program is to be ended in order after the blocks that wait.
        var isFinishing = false
    }

    private let starter: BlockStarter
    private let state: Mutex<State>
    private let isStopping = Atomic<Bool>(false)
    private let work = Semaphore()
    private let end = Semaphore()
    private var hasEnded = false

    private var session: (any BlockSession)?
    private var delay = RestartDelay()

    /// Blocks that wait: 186 ms of 1024 frames at 44.1 kHz, for programs that pause now and then.
    private static let capacity = 8
    /// Events that wait for the analysis.
    private static let maximumEvents = 1024
    /// Seconds in which a program has to end at the end of the stream.
    private static let finishTime = 2.0

    init(_ starter: BlockStarter) throws(ProgramFault) {
        self.starter = starter
        let session = try starter.session(nil, isCancelled: starter.isCancelled)
        outputs = session.declared
        state = Mutex(State(values: session.values))
        self.session = session
        delay.noteStart(at: MonotonicTime.now)
        startThread { [self] in
            run()
            end.post()
        }
    }

    // MARK: - The analysis thread

    var failure: ProgramFault? { state.withLock { $0.failure } }

    var warning: String? { state.withLock { $0.warning } }

    func send(_ block: [UInt8], at frame: Int64) {
        state.withLock { state in
            guard !state.isOver else { return }
            if state.blocks.count == Self.capacity {
                state.blocks.removeFirst()
                state.losses += 1
            }
            state.blocks.append((block, frame))
        }
        work.post()
    }

    var values: [Float] { state.withLock { $0.values } }

    func takeEvents() -> [Event] {
        state.withLock { state in
            guard !state.events.isEmpty else { return [] }
            defer { state.events = [] }
            return state.events
        }
    }

    func takeLosses() -> Int {
        state.withLock { state in
            defer { state.losses = 0 }
            return state.losses
        }
    }

    func finish() {
        if starter.isCancelled() { return stop() }
        state.withLock { $0.isFinishing = true }
        work.post()
        if end.wait(for: Self.finishTime) { hasEnded = true } else { stop() }
    }

    func stop() {
        if hasEnded { return }
        isStopping.store(true, ordering: .releasing)
        work.post()
        // The thread ends the program, which takes `RunningProgram.killDelay` at most, except for one that waits for a device.
        while !end.wait(for: 60) {}
        hasEnded = true
    }

    // MARK: - The thread

    private var mustStop: Bool { isStopping.load(ordering: .acquiring) }

    private func run() {
        defer {
            session?.stop()
            session = nil
        }
        while !mustStop {
            let (block, isFinishing) = state.withLock { state in
                (state.blocks.isEmpty ? nil : state.blocks.removeFirst(), state.isFinishing)
            }
            guard let block else {
                if isFinishing { return finishSession() }
                _ = work.wait(for: 10)
                continue
            }
            do throws(ProgramFault) {
                try process(block)
            } catch {
                if mustStop || !handle(error) { return }
            }
        }
    }

    private func process(_ block: (bytes: [UInt8], frame: Int64)) throws(ProgramFault) {
        if session == nil {
            guard MonotonicTime.now >= delay.nextStart else {
                state.withLock { $0.losses += 1 }
                return
            }
            delay.noteStart(at: MonotonicTime.now)
            session = try starter.session(outputs, isCancelled: { [self] in mustStop })
        }
        guard let session else { return }
        try session.exchange(block.bytes, at: block.frame)
        publish(session, values: session.values)
    }

    private func publish(_ session: any BlockSession, values: [Float]?) {
        let events = session.takeEvents()
        state.withLock { state in
            if let values { state.values = values }
            state.events += events.prefix(max(0, Self.maximumEvents - state.events.count))
        }
    }

    private func finishSession() {
        guard let session else { return }
        do throws(ProgramFault) {
            try session.finish()
        } catch {
            if mustStop {
                // The run was ended, and the rest of the results with it.
            } else if starter.policy == .skip {
                starter.warn(error.message)
            } else {
                state.withLock { $0.failure = ProgramFault("\(error.message); \(starter.program.remedy), or set on_error=skip") }
            }
        }
        let warning = session.warning
        state.withLock { $0.warning = warning }
        publish(session, values: nil)
    }

    /// Does what the policy says.
    ///
    /// - Returns: Whether the thread goes on.
    private func handle(_ fault: ProgramFault) -> Bool {
        session?.stop()
        session = nil
        state.withLock { state in
            state.losses += 1
            for index in state.values.indices { state.values[index] = .nan }
        }
        if starter.isCancelled() { return false }
        switch starter.policy {
        case .retry:
            let pause = delay.noteFailure(at: MonotonicTime.now)
            starter.warn("\(fault.message); starting it again in \(pause.rounded(toPlaces: 1)) s")
            return true
        case .skip:
            starter.warn("\(fault.message); its values are null from here on")
        case .fail, .auto:
            state.withLock {
                $0.failure =
                    fault.isComplete ? fault : ProgramFault("\(fault.message); \(starter.program.remedy), or set on_error=retry or skip")
            }
        }
        state.withLock { state in
            state.isOver = true
            state.blocks = []
        }
        return false
    }
}

/// A counter that a thread waits for.
///
/// `@unchecked Sendable`, and raw memory, because a semaphore must never move; its functions are thread-safe.
private final class Semaphore: @unchecked Sendable {
    private let semaphore: UnsafeMutablePointer<sem_t>

    init() {
        semaphore = .allocate(capacity: 1)
        semaphore.initialize(to: sem_t())
        sem_init(semaphore, 0, 0)
    }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    func post() { sem_post(semaphore) }

    /// - Returns: Whether it was posted; false at the time limit.
    func wait(for seconds: Double) -> Bool {
        var deadline = timespec()
        clock_gettime(CLOCK_REALTIME, &deadline)
        let end = Double(deadline.tv_nsec) * 1e-9 + seconds
        deadline.tv_sec += Int(end)
        deadline.tv_nsec = Int((end - end.rounded(.down)) * 1e9)
        while sem_timedwait(semaphore, &deadline) != 0 {
            if errno != EINTR { return false }
        }
        return true
    }
}
