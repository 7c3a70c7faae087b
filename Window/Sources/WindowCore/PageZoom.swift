/// The zoom of a page.
public enum PageZoom {
    /// The factor of one step of a key or of the wheel.
    public static let step = 1.1
    /// The zooms of a pinch are multiples of this one: each change lays the page out again.
    private static let pinchUnit = 0.05

    /// The zoom after it was multiplied.
    ///
    /// - Returns: A value in ``SavedState/zooms``. Ten steps up and ten steps down end at 1 exactly.
    public static func multiplied(_ zoom: Double, by factor: Double) -> Double {
        let product = limited(zoom * factor)
        return (product * 1000).rounded() / 1000
    }

    /// The zoom during a pinch.
    ///
    /// - Parameters:
    ///   - start: The zoom at the beginning of the pinch.
    ///   - scale: The distance of the fingers, relative to that at the beginning.
    /// - Returns: A value in ``SavedState/zooms``.
    public static func pinched(_ start: Double, scale: Double) -> Double {
        // Until the fingers have moved by half a unit, the zoom stays the one that keys have set.
        guard scale.isFinite, scale > 0, abs(start * scale - start) >= pinchUnit / 2 else { return limited(start) }
        return limited((start * scale / pinchUnit).rounded() * pinchUnit)
    }

    private static func limited(_ zoom: Double) -> Double {
        min(max(zoom, SavedState.zooms.lowerBound), SavedState.zooms.upperBound)
    }
}
