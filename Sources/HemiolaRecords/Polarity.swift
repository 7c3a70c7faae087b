public import HemiolaSignal

/// The polarity of the right channel of a stereo stream, relative to the left channel.
///
/// Channels of opposite polarity, left = −right, are a common fault of wiring. They are loud, but their sum is silence; the mono mix is
/// then half of their difference, see `PolarityDetector`.
public enum Polarity: String, EventRecord, Hashable, CaseIterable {
    /// The channels have the same polarity.
    case normal
    /// One channel is inverted.
    case opposite

    public init?(_ event: Event) {
        guard event.type == .polarity, let state = event[0].string.flatMap(Self.init(rawValue:)) else { return nil }
        self = state
    }

    public func event(at time: Double) -> Event {
        Event(at: time, .polarity, .text(rawValue))
    }
}

extension RecordType {
    /// The channels of a stereo stream have another relative polarity from here on: ``Polarity``.
    public static let polarity = RecordType(
        "polarity", "The two channels have opposite polarity, or no longer: from this frame on the mono mix is another.",
        fields: [
            .frame,
            .choice(
                "state", of: Polarity.allCases.map(\.rawValue),
                "opposite: the mono mix is half the difference of the channels; normal: half their sum."),
        ])
}

extension PolarityDetector {
    /// The current polarity.
    public var polarity: Polarity { isOpposite ? .opposite : .normal }
}
