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

    /// Runs of the program that may fail at one block.
    private static let maximumAttempts = 3

    init(_ starter: BlockStarter) throws(Problem) {
        self.starter = starter
        let session = try starter.session(nil, isCancelled: starter.isCancelled)
        self.session = session
        outputs = session.outputs
        values = session.values
    }

    func send(_ block: [UInt8], at frame: Int64) {
        var attempts = 0
        while !isOver {
            do throws(Problem) {
                if session == nil { session = try starter.session(outputs, isCancelled: starter.isCancelled) }
                guard let session else { return }
                try session.exchange(block, at: frame)
                values = session.values
                events += session.takeEvents()
                return
            } catch {
                attempts += 1
                fail(error, attempts)
            }
        }
    }

    private func fail(_ fault: Problem, _ attempts: Int) {
        session?.stop()
        session = nil
        for index in values.indices { values[index] = .nan }
        if starter.isCancelled() {
            isOver = true
        } else if starter.policy == .retry, attempts < Self.maximumAttempts {
            starter.warn("\(fault.message); starting it again")
            starter.clock.sleep(for: 0.1 * Double(attempts))
        } else if starter.policy == .skip {
            isOver = true
            starter.warn("\(fault.message); its values are null from here on")
        } else {
            isOver = true
            let hint = starter.policy == .retry ? "" : "; \(starter.program.remedy), or set on_error=retry or skip"
            failure = fault.isComplete ? fault : Problem(fault.message + hint)
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
        do throws(Problem) {
            try session.finish()
            events += session.takeEvents()
            warning = session.warning
            self.session = nil
        } catch {
            events += session.takeEvents()
            stop()
            if starter.isCancelled() { return }
            // At the end of the stream, there is nothing to start it again for.
            if starter.policy == .skip {
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
