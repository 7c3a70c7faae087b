internal import Hemiola
internal import HemiolaRecords
internal import HemiolaSignal
internal import HemiolaSystem

/// Encodes the beats of one stream.
struct BeatTrack {
    struct Item {
        var time: Double
        var beat: Beat
    }

    /// Decimals of a time in seconds: microseconds.
    private static let decimals = 6

    let header: StreamHeader
    var beats: [Item] = []

    init(_ header: StreamHeader) {
        self.header = header
    }

    /// Times and positions in the bar, in order of time.
    var positions: [(time: Double, position: Int?)] {
        beats.map { ($0.time, $0.beat.position) }
    }

    /// The same for the library of a program: at the times at which that program plays them in the whole file.
    func positions(inLibraryOf format: BeatFormat) -> [(time: Double, position: Int?)] {
        let start = MP3Start(PathText.systemPath(header.inputPath))
        let shift = (header.source.start ?? 0) + start.delay + (format == .rekordbox ? start.tag : 0)
        return positions.map { ($0.time + shift, $0.position) }
    }

    // MARK: - Lines

    /// The line that separates inputs in one file. Readers of `.beats` files skip lines that begin with `#`.
    static func comment(_ file: String) -> [UInt8] {
        Array("# \(file.replacing("\n", with: " "))\n".utf8)
    }

    /// One beat as a line of the formats `text` and `audacity`.
    static func line(_ time: Double, _ beat: Beat, _ format: BeatFormat) -> [UInt8] {
        var buffer = JSONBuffer(capacity: 64)
        buffer.append(fixed: time, decimals: decimals)
        if format == .audacity {
            // A label has a start and an end.
            buffer.append("\t")
            buffer.append(fixed: time, decimals: decimals)
            buffer.append("\t")
            if let position = beat.position { buffer.append(integer: position) } else { buffer.append("beat") }
        } else if let position = beat.position {
            buffer.append("\t")
            buffer.append(integer: position)
        }
        buffer.append("\n")
        return buffer.withUnsafeBytes { Array($0) }
    }

    // MARK: - Documents

    /// The beats of the stream as one document; empty for the formats that are written line by line.
    ///
    /// - Parameter frames: Length of the stream.
    func document(_ format: BeatFormat, frames: Int64) -> [UInt8] {
        switch format {
        case .auto, .text, .audacity, .rekordbox: []
        case .mixxx: MixxxScript.statements(header, beats: positions(inLibraryOf: format))
        case .json: json(duration: header.format.seconds(at: frames))
        case .jams: jams(duration: header.format.seconds(at: frames))
        case .midi: MIDIFile(beats: positions).bytes
        }
    }

    private func json(duration: Double) -> [UInt8] {
        var buffer = JSONBuffer(capacity: 4096)
        buffer.append(#"{"file":"#)
        buffer.append(string: header.source.name)
        buffer.append(#","duration_s":"#)
        buffer.append(fixed: duration, decimals: Self.decimals)
        buffer.append(#","beats":["#)
        for (index, item) in beats.enumerated() {
            if index > 0 { buffer.append(",") }
            buffer.append(#"{"t":"#)
            buffer.append(fixed: item.time, decimals: Self.decimals)
            buffer.append(#","position":"#)
            append(item.beat.position, to: &buffer)
            buffer.append(#","bpm":"#)
            buffer.append(fixed: item.beat.beatsPerMinute, decimals: 3)
            buffer.append(#","confidence":"#)
            buffer.append(fixed: Self.recorded(item.beat.confidence), decimals: 3)
            buffer.append("}")
        }
        buffer.append("]}\n")
        return buffer.withUnsafeBytes { Array($0) }
    }

    /// A confidence as a recording has it, with six digits: rounding it again to three gives the same file from a replay.
    private static func recorded(_ confidence: Double) -> Double { (confidence * 1e6).rounded() / 1e6 }

    private func jams(duration: Double) -> [UInt8] {
        var buffer = JSONBuffer(capacity: 4096)
        buffer.append(#"{"annotations":[{"namespace":"beat","data":["#)
        for (index, item) in beats.enumerated() {
            if index > 0 { buffer.append(",") }
            buffer.append(#"{"time":"#)
            buffer.append(fixed: item.time, decimals: Self.decimals)
            buffer.append(#","duration":0.0,"value":"#)
            append(item.beat.position, to: &buffer)
            buffer.append(#","confidence":"#)
            buffer.append(fixed: Self.recorded(item.beat.confidence), decimals: 3)
            buffer.append("}")
        }
        buffer.append(#"],"annotation_metadata":{"annotator":{},"annotation_tools":"#)
        buffer.append(string: "Hemiola \(HemiolaVersion.current)")
        buffer.append(#","data_source":"program","corpus":"","version":"","annotation_rules":"","validation":"","#)
        buffer.append(#""curator":{"name":"","email":""}},"sandbox":{},"time":0.0,"duration":"#)
        buffer.append(fixed: duration, decimals: Self.decimals)
        let tags = header.source.tags
        buffer.append(#"}],"file_metadata":{"title":"#)
        buffer.append(string: tags.title ?? header.source.name)
        buffer.append(#","artist":"#)
        buffer.append(string: tags.artist ?? "")
        buffer.append(#","release":"#)
        buffer.append(string: tags.album ?? "")
        buffer.append(#","jams_version":"0.3.4","identifiers":{},"duration":"#)
        buffer.append(fixed: duration, decimals: Self.decimals)
        buffer.append("},\"sandbox\":{}}\n")
        return buffer.withUnsafeBytes { Array($0) }
    }

    private func append(_ position: Int?, to buffer: inout JSONBuffer) {
        if let position { buffer.append(integer: position) } else { buffer.append("null") }
    }
}
