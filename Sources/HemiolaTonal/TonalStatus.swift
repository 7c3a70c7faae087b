/// Whether a key or a chord is reported, and why none is. The raw values are those of the feature `status`.
public enum TonalStatus: Int, Sendable {
    /// It is reported.
    case found = 0
    /// There has been too little sound so far.
    case tooLittleSound = 1
    /// There is silence, noise, speech or percussion.
    case noTones = 2
    /// There are tones, but none of the keys or chords fits them well enough.
    case undecided = 3
}
