internal import Hemiola

/// Deliveries to the reader.
extension CaptureSession {
    /// The format in which a source is captured.
    func format(of target: DeviceQuery.Target?) -> StreamFormat {
        let target = query.isApplication ? nil : target
        let own = target?.format ?? StreamFormat(sampleRate: serverRate, channelCount: 2)
        let rate = options.followsDeviceRate ? own.sampleRate : serverRate
        let rates = StreamFormat.sampleRates
        return StreamFormat(
            sampleRate: options.sampleRate ?? min(max(rate, rates.lowerBound), rates.upperBound),
            channelCount: options.channelCount ?? min(own.channelCount, StreamFormat.channelCounts.upperBound),
            channelMap: target.flatMap { ChannelMap(pulse: $0.channelMap) })
    }

    func label(_ target: DeviceQuery.Target) -> String {
        query.isApplication ? query.description : target.name
    }

    /// Reports the source of the audio that follows. A change of format begins a new stream, whose header names the source; the device
    /// record is then part of the new stream.
    func report(_ name: String, summary: String, _ format: StreamFormat) {
        let source = StreamSource(format: format, kind: "pulse", name: name)
        var isNewStream = false
        if let queue {
            isNewStream = queue.format != format
            if isNewStream {
                queue.change(to: source)
                clock?.change(sampleRate: format.sampleRate)
            }
        } else {
            let queue = DeliveryQueue(format, wakeUp: wakeUp)
            self.queue = queue
            clock = GapClock(sampleRate: format.sampleRate)
            outcome = .success(Opening(source: source, queue: queue))
        }
        let state: DeviceEvent.State? =
            if let reported { reported.name != name ? .moved : reported.isPresent && !isNewStream ? nil : .opened } else { .opened }
        reported = (name, summary, true)
        if let state { queue?.append(.device(DeviceEvent(name: name, summary: summary, state: state, format: format))) }
        wakeUp.signal()
    }

    /// Starts an interruption, and reports the device as lost once.
    func interrupt(_ reason: Gap.Reason) {
        target = nil
        isIdle = false
        clock?.interrupt(reason)
        connection.tickMilliseconds = 50
        reportLost()
    }

    /// Reports the device as lost, once.
    func reportLost() {
        guard let reported, reported.isPresent, let queue else { return }
        self.reported?.isPresent = false
        queue.append(.device(DeviceEvent(name: reported.name, summary: reported.summary, state: .lost, format: queue.format)))
    }

    /// Fails the opening, or notes the reason if the settings require waiting.
    func failUnlessWaiting(_ reason: String) {
        guard outcome == nil else { return }
        guard !options.waits else {
            waitReason = reason
            wakeUp.signal()
            return
        }
        outcome = .failure(Problem(reason))
        wakeUp.signal()
    }

    // MARK: - Silence while an output of PipeWire is idle

    func startIdleSilence() {
        guard isIdle else { return }
        connection.tickMilliseconds = 20
        addIdleSilence()
    }

    /// Adds silence up to now. The server has just answered: one that does not answer counts as frozen.
    func addIdleSilence() {
        let now = MonotonicTime.nanosecondsWithSleep
        // The last fragments may arrive after the state of the output.
        guard isIdle, let target, stream == nil || now - lastAudioTime > 100_000_000 else { return }
        hasBegun = false
        let format = stream?.request.format ?? format(of: target)
        if reported?.isPresent != true || reported?.name != label(target) || queue?.format != format {
            report(label(target), summary: target.summary, format)
        }
        if let gap = clock?.resume(at: now) { queue?.append(.gap(gap)) }
        fillWithSilence(upTo: now - Self.silenceDelay)
    }

    // MARK: - Silence while an application does not play

    func startSilence() {
        if reported == nil { report(query.description, summary: "", format(of: nil)) }
        reportLost()
        connection.tickMilliseconds = 20
        if let gap = clock?.resume(at: MonotonicTime.nanosecondsWithSleep) { queue?.append(.gap(gap)) }
    }

    /// Nanoseconds by which silence is behind the clock: more than a fragment, so that the first fragments do not overlap the silence.
    static let silenceDelay: Int64 = 40_000_000

    func fillWithSilence(upTo time: Int64) {
        guard let queue, clock?.reason == nil, let frames = clock?.framesDue(at: time), frames > 0 else { return }
        let limit = queue.format.sampleRate / 10
        var rest = frames
        while rest > 0 {
            queue.write(nil, frames: min(rest, limit))
            rest -= limit
        }
        clock?.advance(frames)
    }
}
