/// Limits how often lights flash: at most three times in any second, which is the limit for photosensitive people (WCAG 2.2, success
/// criterion 2.3.1; ITU-R BT.1702).
///
/// A flash is a rise of the brightness by ``threshold`` or more: the largest of red, green and blue, which is stricter than the relative
/// luminance, because saturated red and blue have little of that. A fourth rise within a second is limited to less, until the first is a
/// second ago. Falls are never limited. Each light is limited by itself, because the area that one covers is not known.
///
/// Cost: a few comparisons per light and frame.
struct FlashLimiter {
    /// Flashes within a second.
    static let count = 3
    /// Seconds.
    static let interval = 1.0
    /// The difference of the brightness that is a flash.
    static let threshold: Float = 0.1

    private struct Light {
        /// The lowest brightness since the last flash began to fall.
        var low: Float = 0
        var isRising = false
        /// The highest brightness of the flash.
        var high: Float = 0
        /// The starts of the last flashes, oldest first.
        var starts: (Double, Double, Double) = (-.infinity, -.infinity, -.infinity)

        mutating func limited(_ brightness: Float, at time: Double) -> Float {
            if isRising {
                if brightness > high {
                    high = brightness
                } else if brightness <= high - FlashLimiter.threshold {
                    (isRising, low) = (false, brightness)
                }
                return brightness
            }
            if brightness < low {
                low = brightness
                return brightness
            }
            guard brightness >= low + FlashLimiter.threshold else { return brightness }
            guard time - starts.0 >= FlashLimiter.interval else { return low + FlashLimiter.threshold * 0.99 }
            starts = (starts.1, starts.2, time)
            (isRising, high) = (true, brightness)
            return brightness
        }
    }

    private var lights: [Light]

    /// A limiter for so many lights, which are dark.
    init(count: Int) {
        lights = [Light](repeating: Light(), count: count)
    }

    /// The brightness that a light may have.
    ///
    /// - Parameters:
    ///   - brightness: What it should have, 0…1.
    ///   - light: Its number.
    ///   - time: Seconds; never less than before.
    mutating func limited(_ brightness: Float, of light: Int, at time: Double) -> Float {
        lights[light].limited(brightness, at: time)
    }
}
