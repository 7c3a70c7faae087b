extension FixedWidthInteger {
    /// The whole part of a number; the smallest or the largest integer for a number outside of the type's range, and 0 for NaN.
    ///
    /// For numbers of recordings, networks and other programs, which can be any: a plain conversion ends the program where the number is
    /// NaN or out of range.
    @inlinable
    public init<Number: BinaryFloatingPoint>(clamping number: Number) {
        if number >= Number(Self.max) {
            self = .max
        } else if number <= Number(Self.min) {
            self = .min
        } else {
            self = number.isNaN ? 0 : Self(number)
        }
    }
}
