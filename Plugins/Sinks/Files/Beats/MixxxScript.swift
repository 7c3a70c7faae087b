internal import HemiolaRecords
internal import HemiolaSignal
internal import HemiolaSystem

/// Encodes beats as an SQL script for the database of Mixxx, `mixxxdb.sqlite` (Mixxx 2.0 and later).
///
/// Mixxx imports beat grids of other programs from their own databases only. Its own database holds for each track the beats as a message of
/// Protocol Buffers (`BeatMap-1.0`: the frame of each beat) in the column `beats` of the table `library`.
enum MixxxScript {
    /// The start of the script.
    static let head = """
        -- Run while Mixxx is closed: sqlite3 ~/.mixxx/mixxxdb.sqlite < FILE
        BEGIN;

        """
    /// The end of the script.
    static let tail = "COMMIT;\n"
    /// The column `beats_sub_version`: Mixxx does not replace beats of another program unless its settings request that.
    private static let origin = "Hemiola"

    /// The statements for one track. They change nothing where Mixxx does not have the track, or where its beats are locked.
    ///
    /// - Parameters:
    ///   - header: The description of the stream.
    ///   - beats: Times in seconds, ascending, and positions in the bar.
    static func statements(_ header: StreamHeader, beats: [(time: Double, position: Int?)]) -> [UInt8] {
        guard let tempo = TempoMap(beats).mainTempo else { return [] }
        let track =
            "(SELECT library.id FROM library JOIN track_locations ON library.location = track_locations.id "
            + "WHERE track_locations.location = \(quoted(TrackPath(header.inputPath).bytes)) AND library.bpm_lock = 0)"
        var text = JSONBuffer(capacity: 4096)
        text.append("UPDATE library SET beats = X'")
        text.append(bytes: hexadecimal(message(beats.map { header.format.frame(at: $0.time) })))
        text.append("', beats_version = 'BeatMap-1.0', beats_sub_version = '")
        text.append(bytes: Array(origin.utf8))
        text.append("', bpm = ")
        text.append(fixed: tempo, decimals: 2)
        text.append(" WHERE id IN ")
        text.append(bytes: Array(track.utf8))
        text.append(";\n")
        if let downbeat = beats.first(where: { $0.position == 1 }) {
            // Mixxx counts samples of two channels. A hot cue of the user stays.
            text.append("INSERT INTO cues (track_id, type, position, length, hotcue, label) SELECT id, 1, ")
            text.append(integer: 2 * header.format.frame(at: downbeat.time))
            text.append(", 0, 0, 'First downbeat' FROM library WHERE id IN ")
            text.append(bytes: Array(track.utf8))
            text.append(" AND id NOT IN (SELECT track_id FROM cues WHERE hotcue = 0);\n")
        }
        return text.withUnsafeBytes { Array($0) }
    }

    /// `BeatMap { repeated Beat beat = 1 }`, `Beat { optional int32 frame_position = 1 }`.
    private static func message(_ frames: [Int64]) -> [UInt8] {
        frames.flatMap { frame -> [UInt8] in
            let position = [0x08] + variableLength(UInt64(min(max(frame, 0), Int64(Int32.max))))
            return [0x0a] + variableLength(UInt64(position.count)) + position
        }
    }

    /// Seven bits per byte, least significant first.
    private static func variableLength(_ number: UInt64) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = number
        while rest > 0x7f {
            bytes.append(UInt8(rest & 0x7f) | 0x80)
            rest >>= 7
        }
        return bytes + [UInt8(rest)]
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> [UInt8] {
        let digits = Array("0123456789ABCDEF".utf8)
        return bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    }

    /// A path as an SQL literal. A path with a line break or with bytes that are not printable is written in hexadecimal digits, so that it
    /// stays in its line.
    private static func quoted(_ path: [UInt8]) -> String {
        guard let text = String(validating: path, as: UTF8.self), !text.unicodeScalars.contains(where: \.isUnsafeForReaders) else {
            return "CAST(X'\(String(decoding: hexadecimal(path), as: UTF8.self))' AS TEXT)"
        }
        return "'\(text.replacing("'", with: "''"))'"
    }
}
