internal import HemiolaSignal

/// Compares the audio of a stream with the time that has passed, and computes the length of gaps. A value; the caller passes the time.
///
/// Times are `MonotonicTime.nanosecondsWithSleep`. A fragment ends at its arrival, and begins its own length before.
struct GapClock: Sendable {
    /// Nanoseconds without a fragment after which the server counts as frozen, excluding pauses of this process.
    static let freezeTimeout: Int64 = 500_000_000
    /// Nanoseconds for which audio must arrive in real time after a freeze before it counts as new.
    static let stabilizationTime: Int64 = 60_000_000

    private(set) var sampleRate: Int
    /// End time of the last delivered audio; nil before the first.
    private(set) var end: Int64?
    /// Why audio is missing since `end`; nil while none is missing.
    private(set) var reason: Gap.Reason?
    /// Nanoseconds for which this process was stopped since `end`.
    private var paused: Int64 = 0
    /// Start and number of frames of the current check for real time, during which frames are dropped.
    private var measurement: (start: Int64, frames: Int)?

    /// How to handle a fragment.
    enum Decision: Sendable, Hashable {
        case deliver
        case deliverAfter(Gap)
        /// The fragment arrives faster than real time: the server sends old audio, which the gap includes.
        case drop
    }

    init(sampleRate: Int) {
        self.sampleRate = sampleRate
    }

    /// Starts an interruption. Of several reasons the one of the highest precedence is reported.
    mutating func interrupt(_ reason: Gap.Reason) {
        measurement = nil
        if end != nil, reason.precedence > self.reason?.precedence ?? 0 { self.reason = reason }
    }

    /// Notes a pause of this process: it was stopped (Ctrl-Z), or the machine slept.
    mutating func notePause(_ nanoseconds: Int64) {
        if end != nil { paused += nanoseconds }
    }

    /// Whether no audio has arrived for longer than `freezeTimeout`, excluding pauses of this process.
    func isOverdue(at now: Int64) -> Bool {
        guard let end, reason == nil else { return false }
        return now - end - paused > Self.freezeTimeout
    }

    /// Decides how to handle an arriving fragment, and counts it as delivered unless it is dropped.
    mutating func receive(_ frames: Int, at now: Int64) -> Decision {
        let begin = now - nanoseconds(frames)
        guard let end else {
            self.end = now
            return .deliver
        }
        if reason == nil, begin - end > Self.freezeTimeout { reason = begin - end - paused > Self.freezeTimeout ? .frozen : .stopped }
        // In both cases the server may send the missed audio at once.
        if reason == .frozen || reason == .stopped, !isRealTime(frames, at: now) { return .drop }
        defer {
            self.end = now
            paused = 0
            reason = nil
            measurement = nil
        }
        guard let reason else { return .deliver }
        let lost = self.frames(begin - end)
        return lost > 0 ? .deliverAfter(Gap(frames: lost, reason: reason)) : .deliver
    }

    /// Ends an interruption without a fragment.
    ///
    /// - Returns: The gap; nil when nothing is missing.
    mutating func resume(at now: Int64) -> Gap? {
        guard let end, let reason else {
            if end == nil { end = now }
            return nil
        }
        self.end = max(now, end)
        paused = 0
        self.reason = nil
        measurement = nil
        let lost = frames(now - end)
        return lost > 0 ? Gap(frames: lost, reason: reason) : nil
    }

    /// Frames between the end of the delivered audio and a time, 0….
    func framesDue(at time: Int64) -> Int {
        guard let end else { return 0 }
        return max(0, Int((Double(time - end) * Double(sampleRate) / 1e9).rounded(.down)))
    }

    /// Counts delivered frames that did not come from the server (silence).
    mutating func advance(_ frames: Int) {
        let length = nanoseconds(frames)
        end? += length
        paused = 0
    }

    /// Changes the sample rate.
    mutating func change(sampleRate: Int) {
        self.sampleRate = sampleRate
    }

    // MARK: - Conversions

    func nanoseconds(_ frames: Int) -> Int64 {
        Int64((Double(frames) * 1e9 / Double(sampleRate)).rounded())
    }

    private func frames(_ nanoseconds: Int64) -> Int64 {
        Int64((Double(nanoseconds) * Double(sampleRate) / 1e9).rounded())
    }

    /// Whether frames have arrived no faster than 1.5 times real time for `stabilizationTime`.
    private mutating func isRealTime(_ frames: Int, at now: Int64) -> Bool {
        guard let (start, count) = measurement else {
            measurement = (now, 0)
            return false
        }
        guard now - start >= Self.stabilizationTime else {
            measurement = (start, count + frames)
            return false
        }
        if nanoseconds(count + frames) <= (now - start) * 3 / 2 { return true }
        measurement = (now, 0)
        return false
    }
}

extension Gap.Reason {
    /// Precedence among reasons for one gap, 1…; a higher one replaces a lower one.
    fileprivate var precedence: Int {
        switch self {
        case .serverLost: 4
        case .deviceLost: 3
        case .suspended: 2
        case .frozen, .stopped, .overrun, .truncatedFile, .damagedFile, .falseLength: 1
        }
    }
}
