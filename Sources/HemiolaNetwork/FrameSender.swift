internal import Hemiola
internal import Synchronization

/// Sends the frames of a source when they are due: on the thread that adds a batch where one is due with it, else on the event loop.
final class FrameSender<Source: FrameSource>: Sendable {
    private struct State {
        var source: Source
        var timing: FrameTiming
        var isDark = false
        var isClosed = false
        /// When the event loop looks for a frame that is due.
        var timer: LoopTimer
    }

    private let outputs: [MessageSender]
    private let delay: Double
    private let loop: MessageLoop
    private let state: Mutex<State>

    init(_ source: Source, to outputs: [MessageSender], _ timing: FrameTiming, delay: Double, by clock: any MonotonicClock) {
        self.outputs = outputs
        self.delay = delay
        loop = MessageLoop(clock)
        state = Mutex(State(source: source, timing: timing, timer: LoopTimer(on: loop)))
    }

    func begin(_ stream: StreamHeader) throws(Problem) {
        try state.withLock { state throws(Problem) in
            state.timing.begin(batchDuration: stream.format.seconds(at: Int64(stream.batching.batchFrames)))
            try state.source.begin(stream)
        }
    }

    func add(_ batches: BatchBlock) {
        state.withLock { state in
            for index in 0..<batches.count {
                let now = loop.now
                let batch = batches[index]
                // The rest of a batch is published when the stream ends or is lost, maybe after a pause: the lights stay dark then.
                if !batch.isPartial {
                    state.source.add(batch, at: now)
                    state.timing.addBatch(at: now)
                }
                for place in batch.events.indices { state.source.add(batch.events[place]) }
                sendIfDue(&state, now)
            }
            setTimer(&state)
        }
    }

    func add(_ events: [Event]) {
        state.withLock { state in
            for event in events { state.source.add(event) }
            setTimer(&state)
        }
    }

    /// Switches all lights off, or on again, without waiting for a batch: there is none while the source pauses.
    func setDark(_ isDark: Bool) {
        state.withLock { state in
            state.isDark = isDark
            state.timing.requestFrame()
            setTimer(&state)
        }
    }

    /// Seconds that the last frame waits at most, so that it keeps to the rate.
    private static var lastWait: Double { 0.05 }

    /// Sends a dark frame, if one was sent before, and ends.
    func close() throws(Problem) {
        state.withLock { state in
            state.isClosed = true
            guard state.timing.hasFrame else { return }
            let now = loop.now
            let time = min(max(now, state.timing.earliest), now + Self.lastWait)
            send(&state, time, gain: 0)
            pass(state.source.lastMessages(), time)
        }
        for output in outputs { try output.close(within: delay + Self.lastWait + 0.1) }
    }

    // MARK: - Under the lock

    private func sendIfDue(_ state: inout State, _ now: Double) {
        guard state.timing.next(event: state.source.nextEvent, now: now) <= now else { return }
        send(&state, now, gain: state.isDark ? 0 : state.timing.gain(at: now))
    }

    private func send(_ state: inout State, _ now: Double, gain: Float) {
        pass(state.source.messages(at: now, gain: gain), now)
        state.timing.addFrame(at: now)
    }

    private func pass(_ messages: [(receiver: Int, bytes: [UInt8])], _ now: Double) {
        for (receiver, bytes) in messages { outputs[receiver].send(bytes, at: now + delay) }
    }

    private func setTimer(_ state: inout State) {
        let time = state.timing.next(event: state.source.nextEvent, now: loop.now)
        state.timer.set(time) { [self] in handleTimer() }
    }

    private func handleTimer() {
        state.withLock { state in
            let now = loop.now
            guard !state.isClosed, state.timer.end(at: now) else { return }
            sendIfDue(&state, now)
            setTimer(&state)
        }
    }
}
