internal import Hemiola
internal import HemiolaProcesses
internal import HemiolaSignal

/// From files: waits for the answer to each block.
final class WaitingExchange: BlockExchange {
    let outputs: ProgramOutputs
    private(set) var failure: ProgramFault?
    private(set) var values: [Float]

    private let starter: ProgramStarter
    private var session: ProgramSession?
    private var frames: FrameMap
    private var events: [Event] = []
    private var isOver = false

    /// Runs of the program that may fail at one block.
    private static let maximumAttempts = 3

    init(_ starter: ProgramStarter) throws(ProgramFault) {
        self.starter = starter
        let session = try starter.session(nil, isCancelled: starter.isCancelled)
        self.session = session
        outputs = session.outputs
        values = session.values
        frames = FrameMap(blockFrames: starter.format.hopFrames)
    }

    func send(_ block: [UInt8], at frame: Int64) {
        var attempts = 0
        while !isOver {
            do throws(ProgramFault) {
                if session == nil {
                    session = try starter.session(outputs, isCancelled: starter.isCancelled)
                    frames = FrameMap(blockFrames: starter.format.hopFrames)
                }
                guard let session else { return }
                frames.append(blockAt: frame)
                try session.exchange(block)
                values = session.values
                collect(session)
                return
            } catch {
                attempts += 1
                fail(error, attempts)
            }
        }
    }

    private func fail(_ fault: ProgramFault, _ attempts: Int) {
        session?.stop()
        session = nil
        for index in values.indices { values[index] = .nan }
        if starter.isCancelled() {
            isOver = true
        } else if starter.policy == .retry, attempts < Self.maximumAttempts {
            starter.warn("\(fault.message); starting it again")
            RunningProgram.pause(for: 0.1 * Double(attempts))
        } else if starter.policy == .skip {
            isOver = true
            starter.warn("\(fault.message); its values are null from here on")
        } else {
            isOver = true
            let hint = starter.policy == .retry ? "" : "; run it in a shell to see why, or set on_error=retry or skip"
            failure = ProgramFault(fault.message + hint)
        }
    }

    private func collect(_ session: ProgramSession) {
        for timed in session.takeEvents() {
            var event = timed.event
            event.time = starter.format.format.seconds(at: frames.streamFrame(of: timed.frame))
            events.append(event)
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
        do throws(ProgramFault) {
            try session.finish()
            collect(session)
            self.session = nil
        } catch {
            collect(session)
            stop()
            if starter.isCancelled() { return }
            if starter.policy == .fail {
                failure = ProgramFault("\(error.message); run it in a shell to see why, or set on_error=skip")
            } else {
                starter.warn(error.message)
            }
        }
    }

    func stop() {
        session?.stop()
        session = nil
    }
}
