internal import Hemiola
internal import HemiolaRecords
internal import HemiolaSignal

/// Encodes tracks with their beat grids as a Rekordbox XML collection (`DJ_PLAYLISTS`, version 1.0.0, Pioneer DJ: XML format list, 2020).
struct RekordboxCollection {
    /// The `TRACK` elements.
    private var tracks: [UInt8] = []
    private var count = 0

    /// Adds a track.
    ///
    /// - Parameters:
    ///   - header: The description of the stream.
    ///   - duration: Its length in seconds.
    ///   - beats: Times in seconds, ascending, and positions in the bar.
    mutating func add(_ header: StreamHeader, duration: Double, beats: [(time: Double, position: Int?)]) {
        count += 1
        let path = TrackPath(header.inputPath)
        let tags = header.source.tags
        var track = XMLElement("TRACK", indent: 4)
        track["TrackID"] = String(count)
        track["Name"] = tags.title ?? path.stem
        track["Artist"] = tags.artist ?? ""
        track["Album"] = tags.album ?? ""
        track["Genre"] = tags.genre ?? ""
        if let number = tags.track.flatMap({ Int($0.prefix { $0.isASCII && $0.isNumber }) }) { track["TrackNumber"] = String(number) }
        if let year = tags.year { track["Year"] = String(year) }
        track["Kind"] = path.kind
        track["TotalTime"] = String(Int(duration.rounded()))
        let grid = TempoMap(beats)
        if let tempo = grid.mainTempo { track["AverageBpm"] = Self.text(tempo, decimals: 2) }
        track["SampleRate"] = String(header.format.sampleRate)
        track["Location"] = path.url
        for section in grid.sections {
            var tempo = XMLElement("TEMPO", indent: 6)
            tempo["Inizio"] = Self.text(section.time, decimals: 3)
            tempo["Bpm"] = Self.text(section.beatsPerMinute, decimals: 2)
            tempo["Metro"] = "\(grid.beatsPerBar ?? 4)/4"
            tempo["Battito"] = String(section.position ?? 1)
            track.add(tempo)
        }
        if let downbeat = beats.first(where: { $0.position == 1 }) {
            var mark = XMLElement("POSITION_MARK", indent: 6)
            mark["Name"] = "First downbeat"
            mark["Type"] = "0"
            mark["Start"] = Self.text(downbeat.time, decimals: 3)
            mark["Num"] = "-1"
            track.add(mark)
        }
        tracks += track.bytes
    }

    /// The document with all tracks.
    var document: [UInt8] {
        let head = """
            <?xml version="1.0" encoding="UTF-8"?>
            <DJ_PLAYLISTS Version="1.0.0">
              <PRODUCT Name="Hemiola" Version="\(HemiolaVersion.current)" Company=""/>
              <COLLECTION Entries="\(count)">

            """
        let tail = """
              </COLLECTION>
              <PLAYLISTS>
                <NODE Type="0" Name="ROOT" Count="0"/>
              </PLAYLISTS>
            </DJ_PLAYLISTS>

            """
        return Array(head.utf8) + tracks + Array(tail.utf8)
    }

    private static func text(_ number: Double, decimals: Int) -> String {
        var buffer = JSONBuffer(capacity: 32)
        buffer.append(fixed: number, decimals: decimals)
        return buffer.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }
}

/// An element with attributes and child elements.
private struct XMLElement {
    private let name: String
    private let indent: String
    private var attributes: [UInt8] = []
    private var children: [UInt8] = []

    init(_ name: String, indent: Int) {
        self.name = name
        self.indent = String(repeating: " ", count: indent)
    }

    subscript(_ attribute: String) -> String {
        get { "" }
        set { attributes += Array(" \(attribute)=\"".utf8) + Self.escaped(newValue) + [UInt8(ascii: "\"")] }
    }

    mutating func add(_ child: XMLElement) { children += child.bytes }

    /// The element with its children, each on a line.
    var bytes: [UInt8] {
        let start = Array("\(indent)<\(name)".utf8) + attributes
        if children.isEmpty { return start + Array("/>\n".utf8) }
        return start + Array(">\n".utf8) + children + Array("\(indent)</\(name)>\n".utf8)
    }

    /// The value of an attribute. A character that XML 1.0 does not allow is replaced by U+FFFD.
    private static func escaped(_ text: String) -> [UInt8] {
        var result: [UInt8] = []
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case UInt32(UInt8(ascii: "&")): result += Array("&amp;".utf8)
            case UInt32(UInt8(ascii: "<")): result += Array("&lt;".utf8)
            case UInt32(UInt8(ascii: ">")): result += Array("&gt;".utf8)
            case UInt32(UInt8(ascii: "\"")): result += Array("&quot;".utf8)
            // Readers replace white space other than spaces in attributes, unless it is escaped.
            case 0x09, 0x0a, 0x0d: result += Array("&#\(scalar.value);".utf8)
            case 0..<0x20, 0xfffe, 0xffff: result += Array("\u{fffd}".utf8)
            default: result += Array(String(scalar).utf8)
            }
        }
        return result
    }
}
