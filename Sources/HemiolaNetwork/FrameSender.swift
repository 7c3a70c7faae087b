internal import Glibc
internal import Hemiola
internal import HemiolaRecords
internal import HemiolaSignal
internal import HemiolaSystem

/// Sends the frames of a source when they are due: on the thread that adds a batch where one is due with it, else on a thread of its own.
///
/// `@unchecked Sendable`: everything below the condition is touched only under its lock. Nothing waits for the network under it.
final class FrameSender<Source: FrameSource>: @unchecked Sendable {
    private let outputs: [ScheduledSender]
    private let delay: Double
    private let blackout: BlackoutSwitch
    private let condition = Condition()
    private var source: Source
    private var timing: FrameTiming
    private var isClosed = false
    /// The time until which the thread sleeps.
    private var wakeTime = 0.0

    init(_ source: Source, to outputs: [ScheduledSender], _ timing: FrameTiming, delay: Double, _ blackout: BlackoutSwitch) {
        self.source = source
        self.outputs = outputs
        self.timing = timing
        self.delay = delay
        self.blackout = blackout
    }

    /// Starts the thread.
    func start() throws(Problem) {
        let code = startThreadIfPossible { [self] in run() }
        guard code == 0 else { throw Problem("cannot create a thread: \(SystemCallError(number: code))") }
    }

    func begin(_ stream: StreamHeader) throws(Problem) {
        condition.lock()
        defer { condition.unlock() }
        timing.begin(batchDuration: stream.format.seconds(at: Int64(stream.batching.batchFrames)))
        try source.begin(stream)
    }

    func add(_ batches: BatchBlock) {
        condition.lock()
        for index in 0..<batches.count {
            let now = MonotonicTime.now
            let batch = batches[index]
            // The rest of a batch is published when the stream ends or is lost, maybe after a pause: the lights stay dark then.
            if !batch.isPartial {
                source.add(batch, at: now)
                timing.addBatch(at: now)
            }
            for place in batch.events.indices { source.add(batch.events[place]) }
            sendIfDue(now)
        }
        unlock()
    }

    func add(_ events: [Event]) {
        condition.lock()
        for event in events { source.add(event) }
        unlock()
    }

    /// Sends a frame as soon as the rate permits.
    func requestFrame() {
        condition.lock()
        timing.requestFrame()
        unlock()
    }

    /// Seconds that the last frame waits at most, so that it keeps to the rate.
    private static var lastWait: Double { 0.05 }

    /// Sends a dark frame, if one was sent before, and ends the thread.
    func close() throws(Problem) {
        condition.lock()
        isClosed = true
        if timing.hasFrame {
            let time = min(timing.earliest, MonotonicTime.now + Self.lastWait)
            while MonotonicTime.now < time { condition.wait(until: time) }
            let now = MonotonicTime.now
            send(now, gain: 0)
            pass(source.lastMessages(), now)
        }
        condition.unlock()
        condition.signal()
        for output in outputs { try output.close(within: delay + 0.1) }
    }

    // MARK: - Under the lock

    private func unlock() {
        let isEarlier = timing.next(event: source.nextEvent, now: MonotonicTime.now) < wakeTime
        condition.unlock()
        if isEarlier { condition.signal() }
    }

    private func sendIfDue(_ now: Double) {
        guard timing.next(event: source.nextEvent, now: now) <= now else { return }
        send(now, gain: blackout.isOn ? 0 : timing.gain(at: now))
    }

    private func send(_ now: Double, gain: Float) {
        pass(source.messages(at: now, gain: gain), now)
        timing.addFrame(at: now)
    }

    private func pass(_ messages: [(receiver: Int, bytes: [UInt8])], _ now: Double) {
        for (receiver, bytes) in messages { outputs[receiver].add(bytes, at: now + delay) }
    }

    private func run() {
        condition.lock()
        defer { condition.unlock() }
        while !isClosed {
            sendIfDue(MonotonicTime.now)
            let time = timing.next(event: source.nextEvent, now: MonotonicTime.now)
            wakeTime = time
            if time == .infinity {
                condition.wait()
            } else if time > MonotonicTime.now {
                condition.wait(until: time)
            }
            wakeTime = 0
        }
    }
}
