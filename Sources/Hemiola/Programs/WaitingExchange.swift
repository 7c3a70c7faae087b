internal import HemiolaRecords
internal import HemiolaSystem

/// From files: waits for the answer to each block.
final class WaitingExchange: BlockExchange {
    let outputs: ProgramOutputs
    private(set) var failure: Problem?
    private(set) var values: [Float]
    private(set) var warning: String?

    private let starter: BlockStarter
    private var session: ProgramSession?
    private var events: [Event] = []
    private var isOver = false

    init(_ starter: BlockStarter) throws(Problem) {
        self.starter = starter
        let session = try starter.session(nil, isCancelled: starter.isCancelled)
        self.session = session
        outputs = session.outputs
        values = session.values
    }

    func send(_ block: [UInt8], at frame: Int64) {
        guard let session, !isOver else { return }
        do {
            try session.exchange(block, at: frame)
            values = session.values
            events += session.takeEvents()
        } catch {
            fail(error)
        }
    }

    private func fail(_ fault: Problem) {
        stop()
        isOver = true
        for index in values.indices { values[index] = .nan }
        if starter.isCancelled() { return }
        if starter.program.policy == .skip {
            starter.warn("\(fault.message); its values are null from here on")
        } else {
            failure = fault.isComplete ? fault : Problem("\(fault.message); \(starter.program.remedy), or set on_error=skip")
        }
    }

    func takeEvents() -> [Event] {
        defer { events.removeAll() }
        return events
    }

    func takeLosses() -> Int { 0 }

    func finish() {
        defer { isOver = true }
        guard let session, !isOver, !starter.isCancelled() else { return stop() }
        do {
            try session.finish()
            events += session.takeEvents()
            warning = session.warning
            self.session = nil
        } catch {
            events += session.takeEvents()
            stop()
            if starter.isCancelled() { return }
            if starter.program.policy == .skip {
                starter.warn(error.message)
            } else {
                failure = Problem("\(error.message); \(starter.program.remedy), or set on_error=skip")
            }
        }
    }

    func stop() {
        session?.stop()
        session = nil
    }
}
