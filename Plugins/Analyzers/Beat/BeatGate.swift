/// Combines the evidence that detected beats are beats of music.
enum BeatGate {
    /// The score of the confidence gate, 0…1: the music score, or the score of a machine-like regular pulse if that is higher.
    ///
    /// A regular pulse passes without being classified as music (metronome, synthetic drums): its agreement must be above 0.60
    /// (full score at 0.75) and its prediction error below 30 ms (full score at 15 ms).
    ///
    /// - Parameters:
    ///   - musicScore: Output of the speech/music discriminator, 0…1.
    ///   - agreement: Beat-onset agreement above chance, 0…1.
    ///   - predictionError: Mean distance between predicted beats and their onsets, in seconds.
    static func score(musicScore: Float, agreement: Double, predictionError: Double) -> Double {
        let agreementScore = min(1, max(0, (agreement - 0.60) / 0.15))
        let regularityScore = min(1, max(0, (0.03 - predictionError) / 0.015))
        return max(Double(musicScore), agreementScore * regularityScore)
    }
}
