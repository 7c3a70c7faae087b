#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// What controls change of the state probabilities. Every state has to be computed again (0.3 ms), so that is done once, with the
/// next frame, however many controls come before it.
struct PendingCorrection: Sendable {
    /// What all states begin with.
    enum Start: Sendable {
        /// Any tempo at any phase.
        case uniform
        /// A tempo whose last beat was so many frames ago, within a tolerance in beats.
        case tempo(Double, frames: Double, tolerance: Double)
    }

    /// Whether another tempo is preferred.
    var changesPreference = false
    var start: Start?
    /// How many frames ago the user tapped.
    var tapAge: Double?
}

/// Controls.
extension BeatTracker {
    /// The user taps on a beat. Of taps at one moment, which is that of a batch, the first counts.
    mutating func tap(at moment: Double) {
        if moment == taps.last { return }
        guard let tempo = taps.add(moment), space.tempi.contains(tempo) else {
            if correction?.tapAge != nil { applyCorrection() }
            let frames = (time - moment) / frameSeconds
            correct { $0.tapAge = frames }
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
        forgetAllButBelief()
        correct {
            $0.start = .uniform
            $0.tapAge = nil
        }
    }

    /// Computes what controls have changed since the last frame.
    mutating func applyCorrection() {
        guard let correction else { return }
        self.correction = nil
        if correction.changesPreference { applyPreference() }
        switch correction.start {
        case .none: break
        case .uniform: belief.reset()
        case .tempo(let tempo, let frames, let tolerance):
            let frameSeconds = frameSeconds
            belief.seed { interval, age in
                let change = (60 / tempo / frameSeconds / Double(interval) - 1) / 0.02
                let distance = Self.distance(from: age, to: frames, in: Double(interval))
                return Self.bell(change) * Self.bell(distance / tolerance) / Double(interval)
            }
        }
        if let frames = correction.tapAge {
            belief.weigh { interval, age in
                let distance = Self.distance(from: age, to: frames, in: Double(interval))
                return 1 + 400 * Self.bell(distance / 0.08)
            }
        }
    }

    private mutating func correct(_ body: (inout PendingCorrection) -> Void) {
        var correction = correction ?? PendingCorrection()
        body(&correction)
        self.correction = correction
    }

    private mutating func prefer() {
        correct { $0.changesPreference = true }
    }

    private mutating func applyPreference() {
        if let lockedTempo {
            belief.prefer(space.reluctance(locked: lockedTempo))
        } else {
            belief.prefer(space.reluctance(around: chosenTempo))
        }
    }

    private mutating func seed(_ tempo: Double, beat: Double, tolerance: Double = 0.05) {
        let frames = (time - beat) / frameSeconds
        correct {
            $0.start = .tempo(tempo, frames: frames, tolerance: tolerance)
            $0.tapAge = nil
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
