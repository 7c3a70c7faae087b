internal import HemiolaMIDI
internal import HemiolaSignal

/// Encodes beats as a Standard MIDI File (1.0, format 1) with two tracks: a map of tempi and time signatures, and a
/// metronome note on each beat.
///
/// Tempi and beats are those of a ``TempoMap``, in which a beat is a quarter note. The silence before the first beat is bars at nearly the
/// tempo of the first section.
struct MIDIFile {
    /// Ticks per quarter note.
    private static let division = 480
    /// Lengths of a quarter note in microseconds: three bytes in the tempo event.
    private static let quarters = 1.0...0xFF_FFFF
    /// Lengths of bars in quarter notes that occur in music, and the length where no bar is known.
    private static let (barLengths, defaultBar) = (1...12, 4)
    /// Length of a metronome note in ticks.
    private static let clickLength = 60
    /// General MIDI percussion: Metronome Bell on downbeats, Metronome Click on the other beats.
    private static let (bell, click): (UInt8, UInt8) = (34, 33)
    /// A first beat earlier than this part of a beat is at the beginning of the file.
    private static let earliest = 0.25
    /// Tempi, in beats per second, of the silence before the first beat: 20 to 300 BPM.
    private static let leadTempi = 1.0 / 3...5.0
    /// Largest difference, in seconds, that changes the tempo of the first section instead of its first beat.
    private static let startTolerance = 0.01
    /// Quarter notes in the silence before the first beat: ten hours at 300 BPM. In a damaged recording it may be of any length.
    private static let longestLead = 180_000.0

    private let map: TempoMap
    /// Ticks before the first beat.
    private let lead: Int
    /// The quarter note of each beat, counted from the first one, and the position in the bar.
    private let clicks: [(quarter: Int, position: Int?)]
    private let tempi: [(tick: Int, quarter: Int)]
    private let end: Int

    /// - Parameter beats: Times in seconds, ascending, and positions in the bar.
    init(beats: [(time: Double, position: Int?)]) {
        map = TempoMap(beats)
        var sections = map.sections
        if let beat = beats.first, sections.isEmpty {
            sections = [TempoMap.Section(time: beat.time, centibeatsPerMinute: 12_000, position: beat.position, beatCount: 1)]
        }
        clicks = Self.clicks(beats, sections)
        lead = sections.first.map(Self.lead) ?? 0
        (tempi, end) = Self.tempi(sections, lead: lead)
    }

    /// The contents of the file.
    var bytes: [UInt8] {
        MIDIChunk.header(format: 1, tracks: 2, division: UInt16(Self.division)) + tempoTrack + clickTrack
    }

    /// Ticks before a first section: quarter notes, or sixteenth notes where it begins so early that one quarter note would be too fast.
    private static func lead(_ section: TempoMap.Section) -> Int {
        let period = 60 / section.beatsPerMinute
        guard section.time >= earliest * period else { return 0 }
        let unit = section.time * leadTempi.upperBound >= 1 ? 1.0 : 0.25
        let (least, most) = (section.time * leadTempi.lowerBound / unit, section.time * leadTempi.upperBound / unit)
        let count = min(max((section.time / period / unit).rounded(), least.rounded(.up), 1), max(1, most.rounded(.down)))
        return Int(min(count * unit, longestLead) * Double(division))
    }

    /// The quarter note of each beat on the grid. Of several beats on one, the first counts.
    private static func clicks(
        _ beats: [(time: Double, position: Int?)], _ sections: [TempoMap.Section]
    ) -> [(quarter: Int, position: Int?)] {
        var clicks: [(quarter: Int, position: Int?)] = []
        var (index, first) = (0, 0)
        for beat in beats {
            while index + 1 < sections.count, sections[index + 1].time - TempoMap.tolerance <= beat.time {
                first += sections[index].beatCount
                index += 1
            }
            let number = ((beat.time - sections[index].time) * sections[index].beatsPerMinute / 60).rounded()
            let quarter = first + Int(min(max(number, 0), Double(sections[index].beatCount)))
            if quarter > clicks.last?.quarter ?? -1 { clicks.append((quarter, beat.position)) }
        }
        return clicks
    }

    /// The lengths of quarter notes in microseconds, the ticks from which they hold, and the tick at which the last section ends.
    private static func tempi(_ sections: [TempoMap.Section], lead: Int) -> ([(tick: Int, quarter: Int)], end: Int) {
        var tempi: [(tick: Int, quarter: Int)] = []
        // The time of the file in microseconds, so that rounding errors do not add up.
        var (tick, time) = (0, 0.0)
        func add(ticks: Int, until end: Double) {
            guard ticks > 0 else { return }
            let count = Double(ticks) / Double(division)
            let quarter = min(max(((end * 1e6 - time) / count).rounded(), quarters.lowerBound), quarters.upperBound)
            if tempi.last?.quarter != Int(quarter) { tempi.append((tick, Int(quarter))) }
            tick += ticks
            time += quarter * count
        }
        for (index, section) in sections.enumerated() {
            let period = 60 / section.beatsPerMinute
            var count = section.beatCount
            if index == 0 {
                add(ticks: lead, until: section.time)
                if lead == 0, abs(section.time) > startTolerance {
                    add(ticks: division, until: section.time + period)
                    count -= 1
                }
            }
            let isLast = index == sections.count - 1
            let end = isLast ? section.time + Double(section.beatCount) * period : sections[index + 1].time
            add(ticks: count * division, until: end)
        }
        return (tempi, tick)
    }

    private var tempoTrack: [UInt8] {
        var events = timeSignatures.map { (tick: $0.tick, order: 0, bytes: $0.bytes) }
        events += tempi.map { ($0.tick, 1, MIDIChunk.tempo(quarter: $0.quarter)) }
        events.sort { ($0.tick, $0.order) < ($1.tick, $1.order) }
        var track: [UInt8] = []
        var written = 0
        for event in events {
            track += MIDIChunk.delay(event.tick - written) + event.bytes
            written = event.tick
        }
        return MIDIChunk.track(track, wait: max(0, end - written))
    }

    /// The time signatures: each downbeat begins a bar. What precedes the first downbeat begins with a shorter bar, and a passage whose
    /// downbeats are unknown ends with one. 4/4 where no bar is known.
    private var timeSignatures: [(tick: Int, bytes: [UInt8])] {
        var bars: [(start: Int, positions: [Int?])] = []
        for click in clicks {
            if click.position == 1 { bars.append((click.quarter, [])) }
            if !bars.isEmpty { bars[bars.count - 1].positions.append(click.position) }
        }
        let lengths = zip(bars, bars.dropFirst()).map { $1.start - $0.start }
        var current = lengths.first.flatMap { Self.barLengths.contains($0) ? $0 : nil } ?? Self.defaultBar
        var signatures: [(tick: Int, bytes: [UInt8])] = []
        func add(_ quarter: Int, _ length: Int) {
            signatures.append((lead + quarter * Self.division, MIDIChunk.timeSignature(quarters: length)))
        }
        let whole = lead / Self.division
        if lead % Self.division > 0 {
            signatures.append((0, MIDIChunk.timeSignature(sixteenths: 4 * lead / Self.division)))
        }
        let rest = ((bars.first?.start ?? -whole) + whole) % current
        if rest > 0 { add(-whole, rest) }
        add(rest - whole, current)
        for (bar, length) in zip(bars, lengths) where length != current {
            let isSeveral = length % current == 0 && bar.positions.allSatisfy { $0 ?? 1 <= current }
            if isSeveral { continue }
            if Self.barLengths.contains(length) {
                current = length
                add(bar.start, current)
            } else {
                let rest = length % current
                if rest > 0 {
                    add(bar.start + length - rest, rest)
                    add(bar.start + length, current)
                }
            }
        }
        return signatures
    }

    private var clickTrack: [UInt8] {
        var track: [UInt8] = []
        var written = 0
        for click in clicks {
            let tick = lead + click.quarter * Self.division
            let note = click.position == 1 ? Self.bell : Self.click
            track += MIDIChunk.delay(tick - written) + [0x99, note, click.position == 1 ? 127 : 96]
            track += MIDIChunk.delay(Self.clickLength) + [0x89, note, 0]
            written = tick + Self.clickLength
        }
        return MIDIChunk.track(track)
    }
}
