public import Hemiola

/// Relays preset, speed and key messages from pages and clients if the pipeline has no preset cycler, and always the messages of pages to
/// handlers that Hemiola does not have.
///
/// Each becomes an event for every sink; the bridges send it to the other pages.
public final class PageDirector: Director, ControlHandler {
    /// The controls that it handles: fallback controls, which a preset cycler handles if there is one.
    public static let controls: [ControlType] = [
        .loadPreset, .setSpeed, .ready, .presetNames, .presetHandler, .presetRefused, .pageClosed, .speedHandler,
        .keyHandler, .pageMessage, .blackout,
    ]

    /// Duration of the transition to a requested preset in seconds: the same as the cycler's.
    private static let blend = 1.0

    private let presets: PagePresets?
    /// The events of the next batch, without their time.
    private var pending: [Event] = []
    /// Stream time of the end of the last batch.
    private var end = 0.0

    /// A director for pages with these presets; nil: there are no pages.
    public init(_ presets: PagePresets?) {
        self.presets = presets
    }

    public func prepare(_ stream: StreamHeader) { end = 0 }

    public func direct(_ moment: BatchMoment, _ row: borrowing FeatureRow, into events: inout EventList) {
        end = moment.end
        directPause(into: &events)
    }

    public func directPause(into events: inout EventList) {
        if pending.isEmpty { return }
        for var event in pending {
            event.time = end
            events.append(event)
        }
        pending.removeAll(keepingCapacity: true)
    }

    public func handle(_ control: StampedControl) -> ControlReply {
        let control = control.control
        switch control.type {
        case .keyHandler:
            if let stroke = KeyStroke(control) { add(stroke) }
        case .pageMessage:
            if let message = PageMessage(control) { add(message) }
        case .setSpeed, .speedHandler:
            guard let change = SpeedChange(limiting: control["speed"].number) else { return .refused("the speed is not finite") }
            add(change)
        case .loadPreset:
            let name = control["name"].string ?? ""
            if presets?.lack(name) == true { return .refused("no page has the preset \"\(name)\"; nothing changed") }
            add(PresetChange(name: name, cut: .soft, blend: Self.blend, reason: .request))
        case .presetHandler:
            add(PresetChange(name: control["name"].string ?? "", cut: .hard, blend: 0, reason: .page))
        // The bridge has read them.
        case .ready, .presetNames, .pageClosed, .presetRefused: break
        // Pages read its record.
        case .blackout: break
        default: return .unknown(control)
        }
        return .done
    }

    private func add(_ record: some EventRecord) {
        pending.append(Event(at: 0, record))
    }
}
