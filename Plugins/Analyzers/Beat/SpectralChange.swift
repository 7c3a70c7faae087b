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
    /// Whether the frame was below all that can be heard.
    var isSilent = true
}
