/// Properties with which the capture of an output does not influence PipeWire's graph: it neither keeps the output running, nor has an
/// influence on the output's sample rate. PulseAudio ignores them.
///
/// PipeWire changes the sample rate of an output to that of the music only while the output is idle, that is while nothing plays and no
/// capture requests audio.
struct GraphProperties: Sendable, Hashable {
    /// Properties with which the stream is created.
    var atCreation: [String: String] = [:]
    /// Properties that are set once the stream is open, because pipewire-pulse replaces them when it creates the stream.
    var whenOpen: [String: String] = [:]

    /// - Parameter version: The version of PipeWire, as 0, 3, 65.
    init(pipeWire version: [Int]) {
        // Since 1.7 a link with "true" is not used at all, and "in-follow" has its meaning.
        atCreation["node.passive"] = version.lexicographicallyPrecedes([1, 7]) ? "true" : "in-follow"
        // Before 1.0 the lowest rate of all streams applies, also that of a passive one. A rate of 0 is never selected.
        if version.lexicographicallyPrecedes([1]) { whenOpen["node.rate"] = "0/1" }
    }

    /// No properties.
    init() {}
}
