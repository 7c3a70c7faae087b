internal import Glibc
internal import Hemiola

/// How the bands of a spectrum are spaced.
enum BandScale: String, CaseIterable {
    /// Equal steps of log frequency.
    case log
    /// Equal steps of frequency.
    case linear
    /// Triangles on Slaney's mel scale: linear to 1 kHz, logarithmic above (Auditory Toolbox, 1998), of unit area.
    case melSlaney = "mel-slaney"
    /// Triangles on the mel scale of HTK and O'Shaughnessy (1987), of unit area.
    case melHTK = "mel-htk"

    var isMel: Bool { self == .melSlaney || self == .melHTK }

    /// Edges in hertz: `bands + 1`, or for the overlapping mel triangles `bands + 2`.
    func edges(bands: Int, from low: Double, to high: Double) -> [Double] {
        let count = bands + (isMel ? 2 : 1)
        guard bands > 0 else { return [] }
        let start = position(of: low)
        let step = (position(of: high) - start) / Double(count - 1)
        return (0..<count).map { index in
            // The outer edges are exactly those of the settings, without the rounding of two conversions.
            index == 0 ? low : index == count - 1 ? high : frequency(at: start + step * Double(index))
        }
    }

    private func position(of hertz: Double) -> Double {
        switch self {
        case .log: Glibc.log(hertz)
        case .linear: hertz
        case .melSlaney: hertz < 1000 ? hertz * 3 / 200 : 15 + 27 * Glibc.log(hertz / 1000) / Glibc.log(6.4)
        case .melHTK: 2595 * log10(1 + hertz / 700)
        }
    }

    private func frequency(at position: Double) -> Double {
        switch self {
        case .log: exp(position)
        case .linear: position
        case .melSlaney: position < 15 ? position * 200 / 3 : 1000 * exp((position - 15) * Glibc.log(6.4) / 27)
        case .melHTK: 700 * (pow(10, position / 2595) - 1)
        }
    }
}
