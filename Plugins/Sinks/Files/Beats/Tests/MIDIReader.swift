/// Reads a Standard MIDI File and computes the time of each note from the tempo map.
struct MIDIReader {
    var clicks: [(time: Double, note: UInt8)] = []
    /// The tempo events in beats per minute.
    var tempi: [Double] = []

    init?(_ bytes: [UInt8]) {
        guard bytes.starts(with: Array("MThd".utf8) + [0, 0, 0, 6, 0, 1, 0, 2]), bytes.count > 14 else { return nil }
        let division = Double(Int(bytes[12]) << 8 | Int(bytes[13]))
        var tempi: [(tick: Int, quarter: Double)] = []
        var notes: [(tick: Int, note: UInt8)] = []
        var place = 14
        while place < bytes.count {
            guard bytes[place...].starts(with: Array("MTrk".utf8)), place + 8 <= bytes.count else { return nil }
            let length = bytes[(place + 4)..<(place + 8)].reduce(0) { $0 << 8 | Int($1) }
            var (index, tick) = (place + 8, 0)
            let end = index + length
            guard end <= bytes.count else { return nil }
            while index < end {
                var delta = 0
                repeat {
                    delta = delta << 7 | Int(bytes[index] & 0x7F)
                    index += 1
                } while bytes[index - 1] & 0x80 != 0
                tick += delta
                if bytes[index] == 0xFF {
                    let (kind, size) = (bytes[index + 1], Int(bytes[index + 2]))
                    if kind == 0x51 {
                        tempi.append((tick, Double(bytes[(index + 3)..<(index + 6)].reduce(0) { $0 << 8 | Int($1) }) / 1e6))
                    }
                    index += 3 + size
                } else {
                    if bytes[index] & 0xF0 == 0x90 { notes.append((tick, bytes[index + 1])) }
                    index += 3
                }
            }
            place = end
        }
        self.tempi = tempi.map { 60 / $0.quarter }
        clicks = notes.map { note in
            var (time, last, quarter) = (0.0, 0, 0.5)
            for tempo in tempi where tempo.tick <= note.tick {
                time += Double(tempo.tick - last) / division * quarter
                (last, quarter) = (tempo.tick, tempo.quarter)
            }
            return (time + Double(note.tick - last) / division * quarter, note.note)
        }
    }
}
