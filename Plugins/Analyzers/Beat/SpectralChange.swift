/// What happened to the spectrum from one frame to the next: means over bands, in octaves of amplitude.
struct SpectralChange: Sendable {
    /// What rose, vibrato suppressed: the onset strength.
    var rise: Float = 0
    /// What fell, likewise.
    var fall: Float = 0
    /// What rose, vibrato and all.
    var unsuppressedRise: Float = 0
    /// What rose among the lowest bands.
    var bassRise: Float = 0
    /// How loud it is, and how loud below 700 Hz and above 4 kHz: amplitudes relative to the loudest band of the last seconds.
    var level: Float = 0
    var lowLevel: Float = 0
    var highLevel: Float = 0
    /// Whether the frame was below all that can be heard.
    var isSilent = true
}
