/// The difference between two consecutive log spectra: half-wave rectified means over the bands, in octaves of amplitude.
struct SpectralDifference: Sendable {
    /// Mean increase over the maximum-filtered previous frame (SuperFlux): the onset strength.
    var onsetStrength: Float = 0
    /// Mean decrease, with the maximum filter on the current frame.
    var decrease: Float = 0
    /// Mean increase without the maximum filter.
    var unfilteredIncrease: Float = 0
    /// Mean of the onset strength in the eight lowest bands.
    var bassIncrease: Float = 0
    /// Amplitude of all bands, of the bands below 700 Hz and of those above 4 kHz, relative to the decaying maximum of the loudest
    /// band.
    var level: Float = 0
    var lowLevel: Float = 0
    var highLevel: Float = 0
    /// Whether every band of the frame is below −90 dBFS.
    var isSilent = true
}
