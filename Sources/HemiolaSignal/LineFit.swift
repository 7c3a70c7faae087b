/// The line of least squares through points, which are added one after the other. Its memory does not grow with their number.
public struct LineFit: Sendable {
    /// The number of points.
    public private(set) var count = 0
    private var meanX = 0.0
    private var meanY = 0.0
    /// The sums of the products and squares of the distances from the means.
    private(set) var products = 0.0
    private(set) var squares = 0.0

    /// A line through no point.
    public init() {}

    /// Adds a point.
    public mutating func add(_ x: Double, _ y: Double) {
        count += 1
        let distance = x - meanX
        meanX += distance / Double(count)
        meanY += (y - meanY) / Double(count)
        products += distance * (y - meanY)
        squares += distance * (x - meanX)
    }

    /// The slope of the line; NaN for fewer than two different x.
    public var slope: Double { products / squares }

    /// The value of the line at a place; NaN for fewer than two different x.
    public func value(at x: Double) -> Double { meanY + slope * (x - meanX) }
}
