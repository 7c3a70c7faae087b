internal import HemiolaFiles
internal import HemiolaRecords
internal import HemiolaSignal
internal import HemiolaSystem
internal import HemiolaTonal

/// What is known of the sound now, as the line and the view of a terminal show it.
struct LiveState: Sendable {
    /// The display name of the source.
    var name = ""
    /// The level in dBFS; nil when no analyzer measures it.
    var level: Float?
    /// The level of each channel in dBFS.
    var channelLevels: [Float] = []
    /// Heights of the bars, 0…1.
    var bars: [Float] = []
    /// Beats per minute; nil while unknown.
    var tempo: Float?
    /// The probability that tempo and beats are right, 0…1.
    var confidence: Float?
    /// The most probable tempi, the best one first.
    var candidates: [Float] = []
    /// Whether the tempo is locked.
    var isTempoLocked = false
    /// Whether the tempo is limited to a range.
    var isTempoLimited = false
    var beats = BeatPulse()
    /// Momentary, short-term and integrated loudness in LUFS; nil: it is not measured.
    var loudness: [Float]?
    var key: String?
    var chord: String?
    /// The preset that the visualizer shows, where the pipeline has a preset cycler.
    var preset: String?
    /// Seconds of sound that were lost.
    var lost = 0.0
    /// Batches that were dropped because a sink was too slow.
    var dropped: Int64 = 0

    private(set) var format = StreamFormat(sampleRate: 44_100, channelCount: 2)
    private var places = Places()

    /// Where the values stand in a row.
    private struct Places {
        var level: FeatureHandle?
        var channelLevels: FeatureHandle?
        var bars: FeatureHandle?
        var tempo: FeatureHandle?
        var confidence: FeatureHandle?
        var candidates: FeatureHandle?
        var loudness: [FeatureHandle] = []
        var root: FeatureHandle?
        var quality: FeatureHandle?
        var qualities: [String] = []
    }

    /// Shows that a device delivers no audio, and clears what it had.
    mutating func showOutage(of device: String) {
        name = "(no audio) \(device)"
        level = level.map { _ in -.infinity }
        channelLevels = channelLevels.map { _ in -.infinity }
        bars = bars.map { _ in 0 }
        tempo = nil
    }

    mutating func begin(_ stream: StreamHeader) {
        if name.isEmpty || !stream.isLive { name = stream.source.name }
        format = stream.format
        (beats, key, chord) = (BeatPulse(), nil, nil)
        let layout = stream.layout
        let labels = { (feature: String) in
            layout.sections.first { $0.analyzer == "chords" }?.features.first { $0.feature.name == feature }?.feature.labels ?? []
        }
        places = Places(
            level: layout.handle("levels", "rms_db"), channelLevels: layout.handle("levels", "channel_rms_db"),
            bars: layout.handle("visualizer", "bars"), tempo: layout.handle("beat", "bpm"),
            confidence: layout.handle("beat", "confidence"), candidates: layout.handle("beat", "candidate_bpm"),
            loudness: ["momentary_lufs", "short_term_lufs", "integrated_lufs"].compactMap { layout.handle("loudness", $0) },
            root: layout.handle("chords", "root"), quality: layout.handle("chords", "quality"),
            qualities: labels("quality"))
    }

    /// Takes over the values of a batch, and its events.
    mutating func update(with batch: borrowing Batch, at now: Double) {
        let row = batch.row
        func values(_ place: FeatureHandle?) -> [Float] {
            place.map { place in (0..<place.count).map { row[place.offset + $0] } } ?? []
        }
        func value(_ place: FeatureHandle?) -> Float? {
            place.map { row[$0.offset] }.flatMap { $0.isNaN ? nil : $0 }
        }
        level = places.level.map { row[$0.offset] }
        channelLevels = values(places.channelLevels)
        bars = values(places.bars)
        tempo = value(places.tempo)
        confidence = value(places.confidence)
        candidates = values(places.candidates).filter { $0 > 0 }
        if places.loudness.count == 3 { loudness = places.loudness.map { row[$0.offset] } }
        if places.root != nil {
            let signature = key.flatMap(KeySignature.init(named:)) ?? KeySignature(sharps: 0)
            chord = Self.chord(
                value(places.root).map { signature.name(of: Int($0)) },
                value(places.quality).flatMap { Self.label($0, places.qualities) })
        }
        for index in batch.events.indices { update(with: batch.events[index]) }
        // After the events: a gap or another device resets the clock.
        let end = format.seconds(at: batch.endFrame)
        beats.clock.add(end: end, at: now)
    }

    mutating func update(with event: Event) {
        if event.type == .gap || event.type == .device { beats.clock = StreamClock() }
        if let device = DeviceEvent(event) {
            if device.state == .lost { showOutage(of: device.shownName) } else { name = device.shownName }
        } else if let gap = Gap(event) {
            lost += format.seconds(at: gap.frames)
        } else if let drop = DropReport(event) {
            dropped += Int64(drop.batches)
        } else if let beat = Beat(event) {
            beats.add(beat, at: event.time)
        } else if event.type.name == "preset" {
            preset = event["name"].string
        } else if event.type.name == "musical_key" {
            key = event["label"].string
        } else if let control = event.control?.control {
            switch control.name {
            case "tempoRange": isTempoLimited = control["min_bpm"].number != nil || control["max_bpm"].number != nil
            case "lockTempo": isTempoLocked = control["bpm"].number != nil
            case "resetTempo": isTempoLocked = false
            default: break
            }
        }
    }

    private static func label(_ number: Float, _ labels: [String]) -> String? {
        let index = Int(number)
        return labels.indices.contains(index) ? labels[index] : nil
    }

    /// A chord as musicians write it: Am7, Gmaj7, D.
    private static func chord(_ root: String?, _ quality: String?) -> String? {
        guard let root, let quality else { return nil }
        switch quality {
        case "maj": return root
        case "min": return root + "m"
        case "min7": return root + "m7"
        default: return root + quality
        }
    }
}

/// The beats of a stream, by the monotonic clock: each lights up when it sounds.
///
/// A beat is announced before it sounds, and its place in time is that of the audio's arrival. One that was not announced lights up late;
/// none is guessed.
struct BeatPulse: Sendable {
    /// Beats that may be announced at once.
    private static let capacity = 64

    var clock = StreamClock()
    /// Announced beats, by their stream time.
    private var announced: [(time: Double, beat: Beat)] = []
    /// The last beat that has lit up, and when.
    private(set) var last: (time: Double, beat: Beat)?
    /// Beats of a bar, as counted; nil: unknown.
    private(set) var beatsPerBar: Int?
    /// Beats since the stream began.
    private(set) var count = 0

    mutating func add(_ beat: Beat, at time: Double) {
        guard announced.count < Self.capacity else { return }
        announced.append((time, beat))
    }

    /// Lights up the beats that are due.
    ///
    /// - Parameters:
    ///   - now: The monotonic clock.
    ///   - lead: Seconds by which beats light up earlier.
    mutating func advance(to now: Double, lead: Double = 0) {
        while let next = announced.first, let due = clock.time(of: next.time), due - lead <= now {
            announced.removeFirst()
            if next.beat.position == 1, let position = last?.beat.position, position > 1 { beatsPerBar = position }
            last = (max(due - lead, now - 1), next.beat)
            count += 1
        }
    }

    /// The position of the current beat in its bar, 1…; nil: unknown.
    var position: Int? { last?.beat.position }

    /// How much of the beat has passed, 0…1; nil: there is no beat, or the next one is overdue.
    func phase(at now: Double) -> Double? {
        guard let last, last.beat.beatsPerMinute > 0 else { return nil }
        let phase = (now - last.time) * last.beat.beatsPerMinute / 60
        return phase < 1.5 ? min(max(phase, 0), 1) : nil
    }

    /// The light of the last beat: 1 when it sounds, 0 after a fifth of a second.
    func light(at now: Double) -> Double {
        guard let last else { return 0 }
        return max(0, 1 - max(0, now - last.time) / 0.2)
    }
}
