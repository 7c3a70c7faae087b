package import Hemiola
package import HemiolaSignal

/// Relays preset, speed and key messages from pages and clients if the pipeline has no preset cycler.
///
/// It handles only the controls that nothing else in the pipeline handles. Each becomes an event for every sink; the bridges send it to
/// the other pages.
package final class PageDirector: Director, Understudy {
    /// Duration of the transition to a requested preset in seconds: the same as the cycler's.
    private static let blend = 1.0

    private static let speedFault = "a speed is a number from 0.1 to 1"

    private var pending: [Event.Payload] = []

    package init() {}

    package func prepare(_ stream: StreamHeader) {}

    package func direct(_ moment: BatchMoment, _ row: borrowing FeatureRow, into events: inout EventList) {
        if pending.isEmpty { return }
        for payload in pending { events.append(payload, at: moment.end) }
        pending.removeAll(keepingCapacity: true)
    }

    package func obey(_ control: StampedControl) -> ControlReply? {
        switch control.control {
        case .ready, .presetNames, .presetRefused:
            break
        case .key(let stroke):
            pending.append(.key(stroke))
        case .setSpeed(let speed):
            guard (0.1...1).contains(speed) else { return .refused(Self.speedFault) }
            pending.append(.speed(speed))
        case .speedChanged(let speed):
            guard speed.isFinite else { return .refused(Self.speedFault) }
            pending.append(.speed(min(1, max(0.1, speed))))
        case .loadPreset(let name):
            pending.append(.preset(PresetChange(name: name, cut: .soft, blend: Self.blend, reason: .request)))
        case .presetChanged(let name):
            pending.append(.preset(PresetChange(name: name, cut: .hard, blend: 0, reason: .page)))
        default:
            return nil
        }
        return .done
    }
}
