internal import HemiolaSignal

/// A drum and bass loop: kick, snare, hats, crash, chords and a bass line. Beat k begins at frame round(k · 60 / bpm · rate).
///
/// The kick is on the first beat of each bar and the snare on the second and fourth; the other hits and the notes are chosen from the seed.
/// The sum goes through a soft clipper, so that its peak stays below the level.
struct DrumLoop {
    /// Sixteenth notes of a bar of four beats.
    static let stepsPerBar: Int64 = 16
    /// Bars from crash to crash; the last one ends with a fill.
    private static let phraseLength: Int64 = 8
    /// Bars on one root note.
    private static let rootLength: Int64 = 2
    /// Gain before the soft clipper.
    private static let drive: Float = 1.2

    private let framesPerStep: (numerator: Double, denominator: Double)
    private let seed: UInt64
    private let amplitude: Float
    private let channelCount: Int
    private let kit: DrumKit
    private let bass: Bass
    private let chord: Chord

    /// The hits that still sound, in the order of their beginnings: a sample is their sum in this order, for every buffer size.
    private var hits: [Hit] = []
    /// The notes of the current bar.
    private var notes: [Note] = []
    private var nextBar: Int64 = 0
    /// The frame at which the next bar begins.
    private var barEnd: Int64 = 0

    private struct Hit {
        var start: Int64
        var drum: DrumKit.Drum
        var gain: Float
        /// −1 (left) … 1 (right).
        var pan: Float = 0
    }

    private struct Note {
        var start: Int64
        var end: Int64
        /// In hertz.
        var frequency: Double
        /// The third of the chord in semitones; nil: a note of the bass line.
        var third: Double?
    }

    init(tempo: Double, seed: UInt64, amplitude: Double, sampleRate: Int, channelCount: Int) {
        framesPerStep = (15 * Double(sampleRate), tempo)
        self.seed = seed
        self.amplitude = Float(amplitude)
        self.channelCount = channelCount
        kit = DrumKit(sampleRate: sampleRate)
        bass = Bass(sampleRate: sampleRate)
        chord = Chord(sampleRate: sampleRate)
        hits.reserveCapacity(256)
        notes.reserveCapacity(16)
    }

    /// Restores the state before frame 0.
    mutating func reset() {
        hits.removeAll(keepingCapacity: true)
        notes.removeAll(keepingCapacity: true)
        (nextBar, barEnd) = (0, 0)
    }

    /// Writes `count` frames from `frame` on. Frames must be written in order.
    mutating func write(_ count: Int, from frame: Int64, to samples: UnsafeMutablePointer<Float>) {
        var done = 0
        while done < count {
            let start = frame + Int64(done)
            if start >= barEnd { beginBar(at: start) }
            let length = Int(min(Int64(count - done), barEnd - start))
            mix(length, from: start, to: samples + done * channelCount)
            done += length
        }
    }

    /// The frame at which a sixteenth note begins.
    private func position(of step: Int64) -> Int64 {
        Int64((Double(step) * framesPerStep.numerator / framesPerStep.denominator).rounded())
    }

    // MARK: - Samples

    private func mix(_ count: Int, from frame: Int64, to samples: UnsafeMutablePointer<Float>) {
        samples.update(repeating: 0, count: count * channelCount)
        for hit in hits {
            for channel in 0..<channelCount {
                let isRight = !channel.isMultiple(of: 2)
                let gain = hit.gain * (1 + (isRight ? hit.pan : -hit.pan))
                kit.withSound(of: hit.drum, isRight: isRight) { sound in
                    let first = Int(max(0, hit.start - frame))
                    let end = Int(min(Int64(count), hit.start + Int64(sound.count) - frame))
                    guard first < end else { return }
                    let offset = Int(frame - hit.start)
                    for index in first..<end { samples[index * channelCount + channel] += gain * sound[index + offset] }
                }
            }
        }
        for note in notes {
            let end = Int(min(Int64(count), note.end - frame))
            for index in stride(from: Int(max(0, note.start - frame)), to: end, by: 1) {
                let position = frame + Int64(index)
                let (offset, length) = (position - note.start, note.end - note.start)
                let sample =
                    note.third.map { chord.sample(at: offset, of: length, frequency: note.frequency, third: $0) }
                    ?? bass.sample(at: offset, of: length, frequency: note.frequency)
                for channel in 0..<channelCount { samples[index * channelCount + channel] += sample }
            }
        }
        for index in 0..<(count * channelCount) {
            // A rational approximation of tanh, exactly 1 at 3.
            let x = min(max(samples[index] * Self.drive, -3), 3)
            samples[index] = amplitude * x * (27 + x * x) / (27 + 9 * x * x)
        }
    }

    // MARK: - Pattern

    private mutating func beginBar(at frame: Int64) {
        hits.removeAll { $0.start + Int64(kit.frameCount(of: $0.drum)) <= frame }
        addHits(of: nextBar)
        setNotes(of: nextBar)
        nextBar += 1
        barEnd = position(of: nextBar * Self.stepsPerBar)
    }

    private mutating func addHits(of bar: Int64) {
        var random = SplitMix64(seed: seed, stream: bar)
        let isFill = bar % Self.phraseLength == Self.phraseLength - 1
        func add(_ step: Int64, _ drum: DrumKit.Drum, _ gain: Float, pan: Float = 0) {
            hits.append(Hit(start: position(of: bar * Self.stepsPerBar + step), drum: drum, gain: gain, pan: pan))
        }
        if bar % Self.phraseLength == 0 { add(0, .crash, 0.35) }
        let secondKick: Int64 = random.fraction() < 0.75 ? 10 : 11
        for step in 0..<Self.stepsPerBar {
            let chance = random.fraction()
            switch step {
            case 0: add(step, .kick, 1)
            case 4, 12: add(step, .snare, 0.85)
            case secondKick: add(step, .kick, 0.85)
            case 13...15 where isFill: add(step, .snare, 0.25 + 0.15 * Float(step - 13))
            case 7, 9, 15: if chance < 0.4 { add(step, .snare, 0.18) }
            default: break
            }
            let accent = random.fraction()
            if step == 14, accent < 0.5 {
                add(step, .openHat, 0.3, pan: 0.2)
            } else if step.isMultiple(of: 2) {
                add(step, .closedHat, step.isMultiple(of: 4) ? 0.6 : 0.3, pan: 0.2)
            } else if accent < 0.35 {
                add(step, .closedHat, 0.14, pan: -0.3)
            }
        }
    }

    private mutating func setNotes(of bar: Int64) {
        var random = SplitMix64(seed: seed, stream: -1 - bar / Self.rootLength)
        let root = bar / Self.rootLength % 4 == 0 ? 0 : bass.roots.element(random.fraction())
        let frequency = Bass.lowest * PortableMath.powerOfTwo(root / 12)
        // The chords of E minor: G and C are major.
        let third = root == 3 || root == 8 ? 4.0 : 3
        notes.removeAll(keepingCapacity: true)
        func add(_ start: Int64, _ length: Int64, _ frequency: Double, third: Double? = nil) {
            let step = bar * Self.stepsPerBar + start
            notes.append(Note(start: position(of: step), end: position(of: step + length), frequency: frequency, third: third))
        }
        for (start, length, interval) in bass.rhythms.element(random.fraction()) {
            add(start, length, frequency * PortableMath.powerOfTwo(interval / 12))
        }
        for start in chord.rhythms.element(random.fraction()) { add(start, 4, 8 * frequency, third: third) }
    }
}

extension Array {
    /// The element at a part of the array's length, 0..<1.
    fileprivate func element(_ part: Double) -> Element { self[Int(part * Double(count))] }
}
