/// The twelve notes of an octave, numbered from C = 0 to B = 11.
public enum PitchClass {
    /// The names of the notes as those of chords and major keys, with the fewest accidentals: F sharp, else flats.
    public static let names = ["C", "Db", "D", "Eb", "E", "F", "F#", "G", "Ab", "A", "Bb", "B"]
}
