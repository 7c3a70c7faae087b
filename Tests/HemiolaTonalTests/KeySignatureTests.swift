import HemiolaTonal
import Testing

@Suite struct KeySignatureTests {
    @Test(arguments: [
        (0, ["C", "Db", "D", "Eb", "E", "F", "F#", "G", "Ab", "A", "Bb", "B"]),
        (3, ["C", "C#", "D", "D#", "E", "F", "F#", "G", "G#", "A", "Bb", "B"]),
        (-4, ["C", "Db", "D", "Eb", "E", "F", "Gb", "G", "Ab", "A", "Bb", "B"]),
        (-6, ["C", "Db", "D", "Eb", "E", "F", "Gb", "G", "Ab", "A", "Bb", "Cb"]),
        (6, ["C", "C#", "D", "D#", "E", "E#", "F#", "G", "G#", "A", "A#", "B"]),
    ])
    func `notes: the scale, and the nearest accidentals`(sharps: Int, names: [String]) {
        #expect((0..<12).map { KeySignature(sharps: sharps).name(of: $0) } == names)
    }

    @Test(arguments: [("C major", 0), ("A minor", 0), ("A major", 3), ("C# minor", 4), ("Db major", -5), ("Eb minor", -6), ("F# major", 6)])
    func `signature of a key: from its name and its number`(name: String, sharps: Int) {
        #expect(KeySignature(named: name)?.sharps == sharps)
        let notes = (0..<24).map { key in
            "\(KeySignature(ofKey: key).name(of: key % 12)) \(key < 12 ? "major" : "minor")"
        }
        #expect(notes.firstIndex(of: name).map { KeySignature(ofKey: $0).sharps } == sharps)
    }

    @Test(arguments: [
        (0, "8B", "1d"), (7, "9B", "2d"), (5, "7B", "12d"), (1, "3B", "8d"), (6, "2B", "7d"), (11, "1B", "6d"), (21, "8A", "1m"),
        (12, "5A", "10m"), (13, "12A", "5m"), (20, "1A", "6m"), (15, "2A", "7m"),
    ])
    func `key in the notations of DJ programs`(key: Int, camelot: String, openKey: String) {
        #expect(KeySignature.camelot(ofKey: key) == camelot && KeySignature.openKey(ofKey: key) == openKey)
    }

    @Test func `notations of DJ programs: another name for each key`() {
        #expect(Set((0..<24).map(KeySignature.camelot)).count == 24 && Set((0..<24).map(KeySignature.openKey)).count == 24)
    }

    @Test(arguments: ["", "A", "H major", "A dorian", "Cx minor", "C sharp minor"])
    func `no key: no signature`(name: String) {
        #expect(KeySignature(named: name) == nil)
    }

    @Test(arguments: [("C", 0), ("F", -1), ("B", 5), ("F#", 6), ("Bb", -2), ("B#", 12), ("Fb", -8)])
    func `place of a note on the line of fifths`(name: String, place: Int) {
        #expect(KeySignature.place(of: name) == place)
    }
}
