internal import Hemiola
internal import HemiolaRecords
internal import HemiolaSignal
internal import HemiolaSystem
internal import HemiolaTonal

/// What is known of the sound now, as the line and the view of a terminal show it.
struct LiveState: Sendable {
    /// Seconds for which a notice is shown.
    private static let noticeTime = 2.0
    /// The events that it reads. Some are declared by plugins: only their names are used here.
    static let events: [RecordType] =
        [.beat, .control, .device, .gap, .dropped]
        + ["preset", "musical_key", "drum", "expected_drum"].map { RecordType($0, "", fields: []) }

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
    private var layout = FeatureLayout()
    private var notice: (text: String, end: Double)?

    /// `124 BPM locked`; nil: no tempo yet.
    var tempoText: String? { tempo.map { "\(Int(clamping: $0.rounded())) BPM\(isTempoLocked ? " locked" : "")" } }

    /// Sound and batches that were lost; nil: none.
    var losses: String? {
        let texts = [lost > 0 ? "lost \(lost.rounded(toPlaces: 1)) s" : nil, dropped > 0 ? "dropped \(dropped)" : nil].compactMap { $0 }
        return texts.isEmpty ? nil : texts.joined(separator: "  ")
    }

    /// Shows the effect of a key, or a message, for a while.
    mutating func show(_ text: String, at now: Double) {
        notice = (text, now + Self.noticeTime)
    }

    /// The effect of the last key, or a message; nil: none.
    func notice(at now: Double) -> String? { notice.flatMap { now < $0.end ? $0.text : nil } }

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
        (format, layout) = (stream.format, stream.layout)
        (beats, key, chord) = (BeatPulse(), nil, nil)
    }

    /// Takes over the values of a batch, and its events.
    mutating func update(with batch: borrowing Batch, at now: Double) {
        let (row, layout) = (batch.row, layout)
        func values(_ analyzer: String, _ feature: String) -> [Float]? {
            layout.handle(analyzer, feature).map { place in (0..<place.count).map { row[place.offset + $0] } }
        }
        func value(_ analyzer: String, _ feature: String) -> Float? {
            values(analyzer, feature).flatMap { $0[0].isNaN ? nil : $0[0] }
        }
        level = values("levels", "rms_db")?[0]
        channelLevels = values("levels", "channel_rms_db") ?? []
        bars = values("visualizer", "bars") ?? []
        tempo = value("beat", "bpm")
        confidence = value("beat", "confidence")
        candidates = (values("beat", "candidate_bpm") ?? []).filter { $0 > 0 }
        let loudness = ["momentary_lufs", "short_term_lufs", "integrated_lufs"].compactMap { values("loudness", $0)?[0] }
        if loudness.count == 3 { self.loudness = loudness }
        if layout.handle("chords", "root") != nil { chord = chord(value("chords", "root"), value("chords", "quality")) }
        for index in batch.events.indices { update(with: batch.events[index]) }
        // After the events: a gap or another device resets the clock.
        beats.clock.add(end: format.seconds(at: batch.endFrame), at: now)
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
        } else if event.type.name == "expected_drum" || event.type.name == "drum" && event["expected"].flag == false {
            if let voice = event["voice"].string { beats.add(drum: voice, at: event.time) }
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

    /// A chord as musicians write it, from the numbers of its root and quality: Am7, Gmaj7, D.
    private func chord(_ root: Float?, _ quality: Float?) -> String? {
        let labels = layout.sections.first { $0.analyzer == "chords" }?.features.first { $0.feature.name == "quality" }?.feature.labels
        guard let root, let quality, let labels, labels.indices.contains(Int(quality)) else { return nil }
        let signature = key.flatMap(KeySignature.init(named:)) ?? KeySignature(sharps: 0)
        let suffix = labels[Int(quality)].replacing("min", with: "m")
        return signature.name(of: Int(root)) + (suffix == "maj" ? "" : suffix)
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
    /// Announced strokes, and when each drum was heard last; none before the first stroke.
    private var strokes: [(time: Double, voice: String)] = []
    private var heard: [String: Double] = [:]

    mutating func add(_ beat: Beat, at time: Double) {
        guard announced.count < Self.capacity else { return }
        announced.append((time, beat))
    }

    /// Adds a stroke of a drum: kick, snare or hihat.
    mutating func add(drum voice: String, at time: Double) {
        guard strokes.count < Self.capacity else { return }
        strokes.append((time, voice))
    }

    /// Lights up the beats and drums that are due.
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
        strokes.removeAll { stroke in
            guard let due = clock.time(of: stroke.time), due - lead <= now else { return false }
            heard[stroke.voice] = max(due - lead, now - 1)
            return true
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

    /// The beats of the bar as dots, of which the current one is filled, and bigger while it lights up, and where the run has drums the
    /// letters of those that sound: `○●○○ K·H`; nil: no beat yet.
    func dots(at now: Double, _ style: TerminalStyle) -> String? {
        guard last != nil else { return nil }
        let drums = [("kick", "K"), ("snare", "S"), ("hihat", "H")].map { voice, letter in
            now - (heard[voice] ?? -.infinity) < 0.1 ? letter : style.usesUnicode ? "·" : "."
        }
        return beatDots(at: now, style) + (heard.isEmpty ? "" : " " + drums.joined())
    }

    private func beatDots(at now: Double, _ style: TerminalStyle) -> String {
        let isLit = light(at: now) > 0
        let (current, other) = style.usesUnicode ? (isLit ? "●" : "•", "○") : (isLit ? "#" : "*", ".")
        guard let position, let count = beatsPerBar, position <= count, count <= 12 else { return isLit ? current : other }
        return (1...count).map { $0 == position ? current : other }.joined()
    }
}
