internal import Hemiola

/// Encodes tracks with their beat grids as a Rekordbox XML collection (`DJ_PLAYLISTS`, version 1.0.0, Pioneer DJ: XML format list, 2020).
struct RekordboxCollection {
    /// The `TRACK` elements.
    private var tracks = ""
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
        let grid = TempoMap(beats)
        var children = grid.sections.map { section in
            XML.element(
                "TEMPO", indent: 6,
                [
                    ("Inizio", Self.text(section.time, decimals: 3)), ("Bpm", Self.text(section.beatsPerMinute, decimals: 2)),
                    ("Metro", "\(grid.beatsPerBar ?? 4)/4"), ("Battito", String(section.position ?? 1)),
                ])
        }
        // On the grid, which the player shows, and not where the beat was detected.
        if let downbeat = grid.firstDownbeat ?? beats.first(where: { $0.position == 1 })?.time {
            children.append(
                XML.element(
                    "POSITION_MARK", indent: 6,
                    [("Name", "First downbeat"), ("Type", "0"), ("Start", Self.text(downbeat, decimals: 3)), ("Num", "-1")]))
        }
        tracks += XML.element(
            "TRACK", indent: 4,
            [
                ("TrackID", String(count)), ("Name", tags.title ?? path.stem), ("Artist", tags.artist ?? ""), ("Album", tags.album ?? ""),
                ("Genre", tags.genre ?? ""),
                ("TrackNumber", tags.track.flatMap { Int($0.prefix { $0.isASCII && $0.isNumber }) }.map(String.init)),
                ("Year", tags.year.map { String($0) }), ("Kind", path.kind), ("TotalTime", String(Int(duration.rounded()))),
                ("AverageBpm", grid.mainTempo.map { Self.text($0, decimals: 2) }), ("SampleRate", String(header.format.sampleRate)),
                ("Location", path.url),
            ], children)
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
        return Array((head + tracks + tail).utf8)
    }

    private static func text(_ number: Double, decimals: Int) -> String {
        var buffer = JSONBuffer(capacity: 32)
        buffer.append(fixed: number, decimals: decimals)
        return buffer.text
    }
}
