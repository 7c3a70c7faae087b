internal import Hemiola

/// The beats of one stream.
struct BeatTrack {
    /// The record with which the analyzer `structure` begins a section.
    static let section = RecordType("segment", "A segment of music begins.", fields: [])
    /// The record with which the analyzer `beat` counts a bar of a phrase.
    static let phrase = RecordType("phrase", "A bar of a phrase begins.", fields: [])

    let header: StreamHeader
    var beats: [(time: Double, beat: Beat)] = []
    /// The sections, where the format has them: `B`, or `B break` where the role is known. Without look-ahead they have no label.
    var sections: [(time: Double, label: String?)] = []
    /// Where phrases begin, and every four bars of one.
    var phrases: [Double] = []

    init(_ header: StreamHeader) {
        self.header = header
    }

    /// Adds the section of a record.
    mutating func addSection(_ event: Event) {
        let words = [event["label"].string, event["role"].string].compactMap(\.self)
        sections.append((event.time, words.isEmpty ? nil : words.joined(separator: " ")))
    }

    /// The tempi in BPM, one after the other, as `rhythm.bpm` in the record `summary`; empty without a tempo.
    var tempi: [Double] {
        var sections = TempoSections()
        for item in beats { sections.add(item.time, beatsPerMinute: (item.beat.beatsPerMinute * 100).rounded() / 100) }
        return sections.tempi
    }

    /// Times and positions in the bar, in order of time.
    var positions: [(time: Double, position: Int?)] {
        beats.map { ($0.time, $0.beat.position) }
    }

    /// The same at the times at which Rekordbox plays them in the whole file.
    var positionsInRekordbox: [(time: Double, position: Int?)] {
        let start = MP3Start(header.inputPath)
        let shift = (header.source.start ?? 0) + start.delay + start.tag
        return positions.map { ($0.time + shift, $0.position) }
    }
}

extension JSONBuffer {
    /// Appends one beat as a line of the formats `text` and `audacity`.
    mutating func appendLine(_ time: Double, _ beat: Beat, _ format: BeatFormat) {
        append(seconds: time)
        if format == .audacity {
            // A label has a start and an end.
            append("\t", seconds: time)
            append("\t")
            if let position = beat.position { append(integer: position) } else { append("beat") }
        } else if let position = beat.position {
            append("\t")
            append(integer: position)
        }
        append("\n")
    }

    /// Appends a line of the format `tempo`.
    ///
    /// - Parameter file: The name of the input; nil: the line has none.
    mutating func appendTempo(_ track: BeatTrack, file: String?) {
        if let file { append(bytes: Array("\(file.onOneLine)\t".utf8)) }
        let tempi = track.tempi
        if tempi.isEmpty { append("-") }
        for (index, tempo) in tempi.enumerated() {
            if index > 0 { append(" ") }
            append(fixed: tempo, decimals: 2)
        }
        append("\n")
    }

    /// Appends a track in the format `json`.
    ///
    /// - Parameter duration: Length of the stream in seconds.
    mutating func appendJSON(_ track: BeatTrack, duration: Double) {
        append(#"{"file":"#)
        append(string: track.header.source.name)
        append(#","duration_s":"#, seconds: duration)
        appendList(#","beats":["#, track.beats) { buffer, item in
            buffer.append(#"{"t":"#, seconds: item.time)
            buffer.append(#","position":"#, item.beat.position)
            buffer.append(#","bpm":"#)
            buffer.append(fixed: item.beat.beatsPerMinute, decimals: 3)
            buffer.append(confidence: item.beat.confidence)
        }
        append("]}\n")
    }

    /// Appends a track as a JAMS document.
    mutating func appendJAMS(_ track: BeatTrack, duration: Double) {
        let (source, tags) = (track.header.source, track.header.source.tags)
        appendList(#"{"annotations":[{"namespace":"beat","data":["#, track.beats) { buffer, item in
            buffer.append(#"{"time":"#, seconds: item.time)
            buffer.append(#","duration":0.0,"value":"#, item.beat.position)
            buffer.append(confidence: item.beat.confidence)
        }
        append(#"],"annotation_metadata":{"annotator":{},"annotation_tools":"#)
        append(string: "Hemiola \(HemiolaVersion.current)")
        append(#","data_source":"program","corpus":"","version":"","annotation_rules":"","validation":"","#)
        append(#""curator":{"name":"","email":""}},"sandbox":{},"time":0.0,"duration":"#, seconds: duration)
        append(#"}],"file_metadata":{"title":"#)
        append(string: tags.title ?? source.name)
        append(#","artist":"#)
        append(string: tags.artist ?? "")
        append(#","release":"#)
        append(string: tags.album ?? "")
        append(#","jams_version":"0.3.4","identifiers":{},"duration":"#, seconds: duration)
        append("},\"sandbox\":{}}\n")
    }

    private mutating func append(_ name: StaticString = "", seconds: Double) {
        append(name)
        append(fixed: seconds, decimals: 6)
    }

    private mutating func append(_ name: StaticString, _ position: Int?) {
        append(name)
        if let position { append(integer: position) } else { append("null") }
    }

    /// Ends the object of a beat. A recording has a confidence with six digits: rounding that one to three gives the same file from a replay.
    private mutating func append(confidence: Double) {
        append(#","confidence":"#)
        append(fixed: (confidence * 1e6).rounded() / 1e6, decimals: 3)
        append("}")
    }

    private mutating func appendList<Item>(_ start: StaticString, _ items: [Item], _ body: (inout JSONBuffer, Item) -> Void) {
        append(start)
        for (index, item) in items.enumerated() {
            if index > 0 { append(",") }
            body(&self, item)
        }
    }
}
