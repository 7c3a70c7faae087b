#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// What the user says.
extension BeatTracker {
    /// The user taps on a beat.
    mutating func tap(at moment: Double) {
        let frameSeconds = frameSeconds
        guard let tempo = taps.add(moment), space.tempi.contains(tempo) else {
            let frames = (time - moment) / frameSeconds
            belief.weigh { interval, age in
                let distance = Self.distance(from: age, to: frames, in: Double(interval))
                return 1 + 400 * Self.bell(distance / 0.08)
            }
            heard.lose()
            return
        }
        chosenTempo = tempo
        prefer()
        seed(tempo, beat: moment)
        isKnown = true
        (nextTime, period) = (moment + 60 / tempo, 60 / tempo)
        hold(tempo, from: moment)
    }

    /// Keeps to a tempo; nil lets go of it.
    ///
    /// - Returns: Whether that is a tempo that can be followed.
    mutating func lock(_ tempo: Double?) -> Bool {
        if let tempo {
            guard space.tempi.contains(tempo) else { return false }
            release()
            lockedTempo = tempo
            prefer()
            seed(tempo, beat: isKnown ? nextTime - period : time, tolerance: isKnown ? 0.2 : 10)
            period = 60 / tempo
            isKnown = true
        } else {
            lockedTempo = nil
            prefer()
        }
        return true
    }

    /// The tempo is another than it was believed to be.
    ///
    /// - Returns: nil when there is none, or it cannot be followed.
    mutating func multiply(by factor: Double) -> Double? {
        guard let old = beatsPerMinute, space.tempi.contains(old * factor) else { return nil }
        let tempo = old * factor
        release()
        let last = nextTime - period
        if lockedTempo != nil { lockedTempo = tempo } else { chosenTempo = tempo }
        prefer()
        seed(tempo, beat: last)
        period = 60 / tempo
        nextTime = last + period
        return tempo
    }

    /// The beat next to this moment is the first of its bar.
    mutating func setDownbeat(at moment: Double) -> Bool {
        guard isKnown else { return false }
        bar.setDownbeat(stepsAhead: steps(to: moment))
        return true
    }

    /// Forgets everything, and what the user said about the tempo.
    mutating func reset() {
        lockedTempo = nil
        chosenTempo = nil
        prefer()
        forget()
    }

    private mutating func prefer() {
        if let lockedTempo {
            belief.prefer(space.reluctance(locked: lockedTempo))
        } else {
            belief.prefer(space.reluctance(around: chosenTempo))
        }
    }

    private mutating func seed(_ tempo: Double, beat: Double, tolerance: Double = 0.05) {
        let frameSeconds = frameSeconds
        let frames = (time - beat) / frameSeconds
        belief.seed { interval, age in
            let change = (60 / tempo / frameSeconds / Double(interval) - 1) / 0.02
            let distance = Self.distance(from: age, to: frames, in: Double(interval))
            return Self.bell(change) * Self.bell(distance / tolerance) / Double(interval)
        }
        heard.lose()
        surprise = max(surprise, 0.03)
        foreseenTime = nil
    }

    /// How far apart two ages are, in beats.
    private static func distance(from age: Double, to other: Double, in interval: Double) -> Double {
        let beats = (age - other) / interval
        return beats - beats.rounded()
    }

    private static func bell(_ x: Double) -> Double { exp(-0.5 * x * x) }
}
