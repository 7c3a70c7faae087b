internal import HemiolaSignal

/// What time a stream has come to, and how much of it was lost. A plain value: it is told what time it is.
///
/// All times are in nanoseconds of a clock that never goes back and does not stop while the machine sleeps. A fragment ends when
/// it arrives and began its own length before.
struct StreamClock: Sendable {
    /// After so long without a fragment, this process's own pauses left out, the server is taken to be frozen.
    static let patience: Int64 = 500_000_000
    /// For so long the audio must come at its own pace after that before it is believed to be new.
    static let probation: Int64 = 60_000_000

    private(set) var sampleRate: Int
    /// When what was delivered last ended; nil before the first.
    private(set) var end: Int64?
    /// Why audio is missing since then.
    private(set) var reason: Gap.Reason?
    /// For how long this process itself stood still since `end`.
    private var paused: Int64 = 0
    /// Since when frames are counted and thrown away.
    private var trial: (start: Int64, frames: Int)?

    /// What to do with a fragment.
    enum Verdict: Sendable, Hashable {
        case deliver
        case deliverAfter(Gap)
        /// It comes faster than it can have been played: the server makes up for lost time, which a gap will tell.
        case drop
    }

    init(sampleRate: Int) {
        self.sampleRate = sampleRate
    }

    /// Notes that audio stops here. Of several reasons the gravest is told.
    mutating func interrupt(_ reason: Gap.Reason) {
        trial = nil
        if end != nil, reason.gravity > self.reason?.gravity ?? 0 { self.reason = reason }
    }

    /// Notes that this process itself did not run for so long: it was stopped (Ctrl-Z), or the machine slept.
    mutating func notePause(_ nanoseconds: Int64) {
        if end != nil { paused += nanoseconds }
    }

    /// Whether audio has been missing for longer than a server that runs can take, while this process ran.
    func isOverdue(at now: Int64) -> Bool {
        guard let end, reason == nil else { return false }
        return now - end - paused > Self.patience
    }

    /// Decides about a fragment that arrives, and takes it as delivered unless it is to be dropped.
    mutating func receive(_ frames: Int, at now: Int64) -> Verdict {
        let begin = now - nanoseconds(frames)
        guard let end else {
            self.end = now
            return .deliver
        }
        if reason == nil, begin - end > Self.patience { reason = begin - end - paused > Self.patience ? .frozen : .stopped }
        // Either way what was missed may come all at once.
        if reason == .frozen || reason == .stopped, !isPunctual(frames, at: now) { return .drop }
        defer {
            self.end = now
            paused = 0
            reason = nil
            trial = nil
        }
        guard let reason else { return .deliver }
        let lost = self.frames(begin - end)
        return lost > 0 ? .deliverAfter(Gap(frames: lost, reason: reason)) : .deliver
    }

    /// Ends an interruption without a fragment.
    mutating func resume(at now: Int64) -> Gap? {
        guard let end, let reason else {
            if end == nil { end = now }
            return nil
        }
        self.end = max(now, end)
        paused = 0
        self.reason = nil
        trial = nil
        let lost = frames(now - end)
        return lost > 0 ? Gap(frames: lost, reason: reason) : nil
    }

    /// Frames that are due up to a time, 0….
    func framesDue(at time: Int64) -> Int {
        guard let end else { return 0 }
        return max(0, Int((Double(time - end) * Double(sampleRate) / 1e9).rounded(.down)))
    }

    /// Counts frames that were delivered without having come from the server.
    mutating func advance(_ frames: Int) {
        let length = nanoseconds(frames)
        end? += length
        paused = 0
    }

    /// Goes on at another rate.
    mutating func change(sampleRate: Int) {
        self.sampleRate = sampleRate
    }

    // MARK: - Figures

    func nanoseconds(_ frames: Int) -> Int64 {
        Int64((Double(frames) * 1e9 / Double(sampleRate)).rounded())
    }

    private func frames(_ nanoseconds: Int64) -> Int64 {
        Int64((Double(nanoseconds) * Double(sampleRate) / 1e9).rounded())
    }

    /// Whether frames have come no faster than they are played for a while.
    private mutating func isPunctual(_ frames: Int, at now: Int64) -> Bool {
        guard let (start, count) = trial else {
            trial = (now, 0)
            return false
        }
        guard now - start >= Self.probation else {
            trial = (start, count + frames)
            return false
        }
        if nanoseconds(count + frames) <= (now - start) * 3 / 2 { return true }
        trial = (now, 0)
        return false
    }
}

extension Gap.Reason {
    /// 1…; the higher, the more it explains.
    fileprivate var gravity: Int {
        switch self {
        case .serverLost: 4
        case .deviceLost: 3
        case .suspended: 2
        case .frozen, .stopped, .overrun, .truncatedFile, .damagedFile, .falseLength: 1
        }
    }
}
