internal import Glibc

extension WindowShape {
    /// The values of the periodic window of this size, 0…1.
    ///
    /// Cosine sums as in F. J. Harris, "On the Use of Windows for Harmonic Analysis with the DFT", Proc. IEEE 66(1), 1978.
    public func values(size: Int) -> [Float] {
        (0..<size).map { Float(value(at: Double($0) / Double(size))) }
    }

    /// Σw: the value of bin 0 for a constant signal of 1. A sine of amplitude a at the frequency of a bin has the value a·Σw/2 there.
    public func sum(size: Int) -> Double {
        (0..<size).reduce(0) { $0 + Double(Float(value(at: Double($1) / Double(size)))) }
    }

    /// Σw²: the energy of the window.
    public func energy(size: Int) -> Double {
        (0..<size).reduce(0) {
            let w = Double(Float(value(at: Double($1) / Double(size))))
            return $0 + w * w
        }
    }

    private func value(at phase: Double) -> Double {
        let turn = 2 * Double.pi * phase
        switch self {
        case .hann: return 0.5 - 0.5 * cos(turn)
        case .hamming: return 0.54 - 0.46 * cos(turn)
        case .blackmanHarris:
            return 0.35875 - 0.48829 * cos(turn) + 0.14128 * cos(2 * turn) - 0.01168 * cos(3 * turn)
        case .rectangular: return 1
        }
    }
}
