package import Hemiola
package import HemiolaSignal

/// Lets what pages and clients say be heard where no show is directed: a preset that was loaded, a speed, a key.
///
/// It steps in only for what nobody else in the pipeline obeys. What it decides rides as an event to every sink, and the bridges
/// bring it to the other pages.
package final class PageDirector: Director, Understudy {
    /// Seconds from one picture to the next when somebody asks for a preset: as the cycler's.
    private static let blend = 1.0

    private static let speedFault = "a speed is a number from 0.1 to 1"

    private var outbox: [Event.Payload] = []

    package init() {}

    package func prepare(_ stream: StreamHeader) {}

    package func direct(_ moment: BatchMoment, _ row: borrowing FeatureRow, into events: inout EventList) {
        if outbox.isEmpty { return }
        for payload in outbox { events.append(payload, at: moment.end) }
        outbox.removeAll(keepingCapacity: true)
    }

    package func obey(_ control: StampedControl) -> ControlReply? {
        switch control.control {
        case .ready, .presetNames, .presetRefused:
            break
        case .key(let stroke):
            outbox.append(.key(stroke))
        case .setSpeed(let speed):
            guard (0.1...1).contains(speed) else { return .refused(Self.speedFault) }
            outbox.append(.speed(speed))
        case .speedChanged(let speed):
            guard speed.isFinite else { return .refused(Self.speedFault) }
            outbox.append(.speed(min(1, max(0.1, speed))))
        case .loadPreset(let name):
            outbox.append(.preset(PresetChange(name: name, cut: .soft, blend: Self.blend, reason: .request)))
        case .presetChanged(let name):
            outbox.append(.preset(PresetChange(name: name, cut: .hard, blend: 0, reason: .page)))
        default:
            return nil
        }
        return .done
    }
}
