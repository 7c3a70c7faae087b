/// When the frames of lights are sent. All times are in seconds of the monotonic clock. Reads no clock itself.
///
/// - Each batch makes a frame due, as soon as the limit of the rate permits.
/// - An event, such as a beat, makes a frame due at its time. It takes the place of the frame that would be sent shortly before.
/// - While no batch comes, the frames fade to black, and are sent again every 0.9 s: receivers expect one every 0.8 to 1 s when nothing changes
///   (E1.31-2018, 6.6.2; Art-Net 4, ArtDmx), and regard a source without frames for 2.5 s as lost.
struct FrameTiming {
    /// The longest time between two frames.
    static let keepAlive = 0.9
    /// Time without a batch after which the source has paused; longer than two batches.
    static let shortestPause = 0.5
    /// Time in which the lights fade to black after that.
    static let fade = 1.0
    /// The time between two frames of the fade.
    private static let fadeStep = 1 / 44.0

    private var limit: RateLimit
    private var pause = shortestPause
    private var batchDuration = 0.0
    /// The time of the last batch; nil: there was none, and nothing is sent.
    private var lastBatch: Double?
    private var lastFrame = -Double.infinity
    /// Whether something has changed since the last frame.
    private var hasNews = false

    /// - Parameter rate: Frames a second at most; 0: a frame with each batch.
    init(rate: Double) {
        limit = RateLimit(rate)
    }

    /// Whether a frame was sent.
    var hasFrame: Bool { lastFrame > -.infinity }

    /// The earliest time of a frame, by the limit of the rate.
    var earliest: Double { limit.earliest }

    mutating func begin(batchDuration: Double) {
        self.batchDuration = batchDuration
        pause = max(Self.shortestPause, 2 * batchDuration)
    }

    mutating func addBatch(at now: Double) {
        lastBatch = now
        hasNews = true
    }

    /// Makes a frame due without a batch.
    mutating func requestFrame() {
        hasNews = true
    }

    mutating func addFrame(at now: Double) {
        limit.add(at: now)
        lastFrame = now
        hasNews = false
    }

    /// The share of the brightness that is left at a time: 1, and from a pause of the source on less.
    func gain(at now: Double) -> Float {
        guard let lastBatch else { return 0 }
        return Float(min(max(1 - (now - lastBatch - pause) / Self.fade, 0), 1))
    }

    /// The time of the next frame, not before now; infinite: there is none.
    ///
    /// - Parameter event: The time of the next event; infinite: none is known.
    func next(event: Double, now: Double) -> Double {
        guard let lastBatch else { return .infinity }
        let start = lastBatch + pause
        var time = hasNews ? now : lastFrame + Self.keepAlive
        // Until a frame is black.
        if lastFrame < start + Self.fade { time = min(time, max(start, lastFrame + Self.fadeStep)) }
        time = max(time, limit.earliest, now)
        let eventTime = max(event, limit.earliest, now)
        let isHeldBack = event - time < min(batchDuration, limit.interval) || limit.earliest(after: time) > event
        return eventTime <= time || isHeldBack ? eventTime : time
    }
}
