internal import Hemiola
internal import HemiolaSignal

/// What the reader is told.
extension Session {
    /// The format in which a source is heard.
    func format(of target: DeviceWish.Target?) -> StreamFormat {
        if wish.isApplication {
            return StreamFormat(sampleRate: terms.sampleRate ?? 44_100, channelCount: terms.channelCount ?? 2)
        }
        let own = target?.format ?? StreamFormat(sampleRate: 44_100, channelCount: 2)
        let rates = StreamFormat.sampleRates
        return StreamFormat(
            sampleRate: terms.sampleRate ?? min(max(own.sampleRate, rates.lowerBound), rates.upperBound),
            channelCount: terms.channelCount ?? min(own.channelCount, StreamFormat.channelCounts.upperBound),
            channelMap: target.flatMap { ChannelMap(pulse: $0.channelMap) })
    }

    func label(_ target: DeviceWish.Target) -> String {
        wish.isApplication ? wish.description : target.name
    }

    /// Reports which source delivers from here on. In another format it begins a new stream, whose header names it, and the device
    /// record comes in that.
    func announce(_ name: String, summary: String, _ format: StreamFormat) {
        let source = StreamSource(format: format, kind: "pulse", name: name)
        var isNewStream = false
        if let feed {
            isNewStream = feed.format != format
            if isNewStream {
                feed.change(to: source)
                clock?.change(sampleRate: format.sampleRate)
            }
        } else {
            let feed = Feed(format, bell: bell)
            self.feed = feed
            clock = StreamClock(sampleRate: format.sampleRate)
            outcome = .success(Opening(source: source, feed: feed))
        }
        let state: DeviceNotice.State? =
            if let announced { announced.name != name ? .moved : announced.isThere && !isNewStream ? nil : .opened } else { .opened }
        announced = (name, summary, true)
        if let state { feed?.mark(.device(DeviceNotice(name: name, summary: summary, state: state, format: format))) }
        bell.ring()
    }

    /// Notes that nothing is heard any more, and tells it once.
    func lose(_ reason: Gap.Reason) {
        target = nil
        clock?.interrupt(reason)
        connection.tickMilliseconds = 50
        reportLost()
    }

    /// Reports, once, that no audio comes from the device.
    func reportLost() {
        guard let announced, announced.isThere, let feed else { return }
        self.announced?.isThere = false
        feed.mark(.device(DeviceNotice(name: announced.name, summary: announced.summary, state: .lost, format: feed.format)))
    }

    /// Fails, unless the settings say to wait.
    func refuse(_ reason: String) {
        guard outcome == nil else { return }
        guard !terms.waits else {
            waitReason = reason
            bell.ring()
            return
        }
        outcome = .failure(CaptureError(reason))
        bell.ring()
    }

    // MARK: - Silence in an application's place

    func beSilent() {
        if announced == nil { announce(wish.description, summary: "", format(of: nil)) }
        reportLost()
        connection.tickMilliseconds = 20
        if let gap = clock?.resume(at: Connection.now) { feed?.mark(.gap(gap)) }
    }

    func fillWithSilence(upTo time: Int64) {
        // Behind the clock by more than a fragment, so that the first ones that come find room.
        let margin: Int64 = isRunning ? 0 : 40_000_000
        guard let feed, clock?.reason == nil, let frames = clock?.framesDue(at: time - margin), frames > 0 else { return }
        let limit = feed.format.sampleRate / 10
        var rest = frames
        while rest > 0 {
            feed.write(nil, frames: min(rest, limit))
            rest -= limit
        }
        clock?.advance(frames)
    }
}
