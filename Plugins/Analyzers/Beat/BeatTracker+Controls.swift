internal import Glibc

/// Changes of the state probabilities by controls. A change computes every state again (0.3 ms), so all controls between two frames
/// are combined into one change.
struct PendingCorrection: Sendable {
    /// The distribution that replaces the state probabilities.
    enum Distribution: Sendable {
        /// The tempo prior with uniform phase.
        case initial
        /// A tempo in BPM whose last beat was `frames` frames ago. The tolerance is a standard deviation in beats.
        case tempo(Double, frames: Double, tolerance: Double)
    }

    /// Whether the tempo prior has changed.
    var changesTempoPrior = false
    var distribution: Distribution?
    /// Frames since the user's tap.
    var tapAge: Double?

    var isEmpty: Bool { !changesTempoPrior && distribution == nil && tapAge == nil }
}

/// Controls.
extension BeatTracker {
    /// The least ratio of the tempi that limit a range: less is a tempo, which can be locked.
    static let narrowestRange = 1.2

    /// The tempi of the estimate, in BPM.
    var tempi: ClosedRange<Double> { tempoRange ?? space.tempi }

    /// Handles a tap at a beat. Of several taps at the same time, the start of a batch, only the first counts.
    mutating func tap(at moment: Double) {
        if moment == taps.last { return }
        if let lockedTempo {
            // The tempo is fixed: a tap is the phase, and a series of taps no other tempo.
            _ = taps.add(moment)
            replaceDistribution(lockedTempo, beat: moment)
            isKnown = true
            (nextTime, period) = (moment + 60 / lockedTempo, 60 / lockedTempo)
            return
        }
        guard let tempo = taps.add(moment), tempi.contains(tempo) else {
            if correction.tapAge != nil { applyCorrection() }
            correction.tapAge = (time - moment) / frameSeconds
            steadyBeat.reset()
            return
        }
        chosenTempo = tempo
        correction.changesTempoPrior = true
        replaceDistribution(tempo, beat: moment)
        isKnown = true
        (nextTime, period) = (moment + 60 / tempo, 60 / tempo)
        holdTap(tempo, from: moment)
    }

    /// Locks the tempo, in BPM; nil unlocks it.
    ///
    /// - Returns: Whether the tempo is in the tempo range.
    mutating func lock(_ tempo: Double?) -> Bool {
        if let tempo {
            guard space.tempi.contains(tempo) else { return false }
            releaseTap()
            lockedTempo = tempo
            correction.changesTempoPrior = true
            replaceDistribution(tempo, beat: isKnown ? nextTime - period : time, tolerance: isKnown ? 0.2 : 10)
            period = 60 / tempo
            isKnown = true
        } else {
            lockedTempo = nil
            correction.changesTempoPrior = true
            moveIntoRange()
        }
        return true
    }

    /// Limits the tempo to a range, in BPM; nil: without that limit. A tempo that is outside and not locked is halved or doubled.
    ///
    /// - Returns: false if the range is too narrow.
    mutating func limit(to slowest: Double?, _ fastest: Double?) -> Bool {
        guard let range = range(slowest, fastest) else { return false }
        tempoRange = range
        correction.changesTempoPrior = true
        moveIntoRange()
        return true
    }

    /// The part of a range that is in the state space; nil if it is too narrow.
    private func range(_ slowest: Double?, _ fastest: Double?) -> ClosedRange<Double>? {
        let low = max(slowest ?? 0, space.tempi.lowerBound)
        let high = min(fastest ?? .infinity, space.tempi.upperBound)
        return high >= Self.narrowestRange * low ? low...high : nil
    }

    private mutating func moveIntoRange() {
        if let chosenTempo, !tempi.contains(chosenTempo) {
            self.chosenTempo = nil
            releaseTap()
        }
        guard lockedTempo == nil, let old = beatsPerMinute, !tempi.contains(old) else { return }
        if let factor = [0.5, 2, 0.25, 4].first(where: { tempi.contains(old * $0) }) {
            setTempo(old * factor)
        } else {
            resetAllButDecoder()
            correction.distribution = .initial
        }
    }

    /// Sets the tempo, in BPM, from the last beat on.
    private mutating func setTempo(_ tempo: Double) {
        let last = nextTime - period
        replaceDistribution(tempo, beat: last)
        period = 60 / tempo
        nextTime = last + period
    }

    /// Multiplies the tempo by a factor and prefers the result.
    ///
    /// - Returns: The new tempo in BPM; nil if the tempo is unknown or the result is outside the tempo range.
    mutating func multiply(by factor: Double) -> Double? {
        guard let old = beatsPerMinute, space.tempi.contains(old * factor) else { return nil }
        let tempo = old * factor
        releaseTap()
        // The user corrects the octave: a range that does not have it moves too.
        if lockedTempo == nil, !tempi.contains(tempo), let limits = tempoRange {
            tempoRange = range(limits.lowerBound * factor, limits.upperBound * factor)
        }
        if lockedTempo != nil { lockedTempo = tempo } else { chosenTempo = tempo }
        correction.changesTempoPrior = true
        setTempo(tempo)
        return tempo
    }

    /// Makes the beat nearest to a time a downbeat.
    ///
    /// - Returns: false if the tempo is unknown.
    mutating func setDownbeat(at moment: Double) -> Bool {
        guard isKnown else { return false }
        bar.setDownbeat(stepsAhead: steps(to: moment))
        return true
    }

    /// Moves all further beats by a number of seconds, in addition to earlier changes; the sum is limited to ``maximumOffset``.
    mutating func nudge(by seconds: Double) {
        beatOffset = min(max(beatOffset + seconds, -Self.maximumOffset), Self.maximumOffset)
    }

    /// Returns to the initial state, and discards the tempi and the offset set by controls, but not the range.
    mutating func reset() {
        beatOffset = 0
        lockedTempo = nil
        chosenTempo = nil
        correction.changesTempoPrior = true
        resetAllButDecoder()
        correction.distribution = .initial
        correction.tapAge = nil
    }

    /// Applies the changes by controls since the last frame to the decoder.
    mutating func applyCorrection() {
        let correction = correction
        self.correction = PendingCorrection()
        if correction.changesTempoPrior {
            decoder.setTempoPrior(lockedTempo.map { space.tempoPrior(locked: $0) } ?? space.tempoPrior(around: chosenTempo, in: tempoRange))
        }
        switch correction.distribution {
        case .none: break
        case .initial: decoder.reset()
        case .tempo(let tempo, let frames, let tolerance):
            let frameSeconds = frameSeconds
            decoder.replace { interval, age in
                let change = (60 / tempo / frameSeconds / Double(interval) - 1) / 0.02
                let distance = Self.distance(from: age, to: frames, in: Double(interval))
                return Self.gaussian(change) * Self.gaussian(distance / tolerance) / Double(interval)
            }
        }
        if let frames = correction.tapAge {
            decoder.multiply { interval, age in
                let distance = Self.distance(from: age, to: frames, in: Double(interval))
                return 1 + 400 * Self.gaussian(distance / 0.08)
            }
        }
    }

    private mutating func replaceDistribution(_ tempo: Double, beat: Double, tolerance: Double = 0.05) {
        let frames = (time - beat) / frameSeconds
        correction.distribution = .tempo(tempo, frames: frames, tolerance: tolerance)
        correction.tapAge = nil
        steadyBeat.reset()
        predictionError = max(predictionError, 0.03)
        predictedTime = nil
    }

    /// The phase difference between two ages, −0.5…0.5 beats.
    private static func distance(from age: Double, to other: Double, in interval: Double) -> Double {
        let beats = (age - other) / interval
        return beats - beats.rounded()
    }

    private static func gaussian(_ x: Double) -> Double { exp(-0.5 * x * x) }
}

/// The tempo of the user's taps.
struct TapTempo: Sendable {
    /// A pause longer than this starts a new series of taps, in seconds.
    private static let maximumPause = 3.0
    private static let capacity = 8
    private var times: [Double] = []

    /// The time of the last tap in seconds; nil before the first one.
    var last: Double? { times.last }

    init() {
        times.reserveCapacity(Self.capacity + 1)
    }

    /// Adds a tap.
    ///
    /// - Returns: The mean tempo in BPM if the series has at least three taps at even intervals (±25 %), otherwise nil.
    mutating func add(_ time: Double) -> Double? {
        if let last = times.last, time - last > Self.maximumPause { times.removeAll(keepingCapacity: true) }
        if times.count == Self.capacity { times.removeFirst() }
        times.append(time)
        guard times.count >= 3, let first = times.first, time > first else { return nil }
        let mean = (time - first) / Double(times.count - 1)
        for (tap, next) in zip(times, times.dropFirst()) where abs((next - tap) / mean - 1) > 0.25 {
            // The new tap starts a series with another tempo.
            times.removeFirst(times.count - 1)
            return nil
        }
        return 60 / mean
    }
}
