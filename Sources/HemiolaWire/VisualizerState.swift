/// How the visualizers of a run stand, as far as it is known.
public struct VisualizerState: Sendable, Hashable {
    /// The preset that is shown.
    public var preset: String?
    /// 0.1…1.0.
    public var speed: Double?
    /// Whether presets change by themselves.
    public var isCycling: Bool?
    /// Seconds until time alone changes the preset.
    public var nextIn: Double?

    /// Nothing is known, but for what is named.
    public init(preset: String? = nil, speed: Double? = nil, isCycling: Bool? = nil, nextIn: Double? = nil) {
        self.preset = preset
        self.speed = speed
        self.isCycling = isCycling
        self.nextIn = nextIn
    }
}
