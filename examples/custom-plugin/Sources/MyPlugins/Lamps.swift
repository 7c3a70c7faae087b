import Hemiola

extension SinkPlugin {
    /// A chaser light: the next lamp on every beat.
    public static let lamps = SinkPlugin(
        PluginDescription(
            "lamps", "Emits a lamp record on every beat.", primary: "count",
            declares: .init(records: [Lamps.lamp], controls: [Lamps.setLamp])),
        settings: LampSettings.self, needs: { _ in Needs(analyzers: [PluginSpec("beat")]) },
        make: { settings throws(Problem) in Lamps(count: settings.count) })
}

struct LampSettings: PluginSettings {
    var count: Int

    init(_ read: inout SettingReader) {
        count = read.integer("count", default: 4, in: 1...64, "The number of lamps.")
    }
}

final class Lamps: DirectingSink {
    static let lamp = RecordType("lamp", "A lamp is switched on.", fields: [.integer("lamp", in: 1...64, "The lamp's number.")])
    static let setLamp = ControlType("setLamp", "Switches a lamp on.", fields: [.integer("lamp", in: 1...64, "The lamp's number.")])

    private let count: Int
    init(count: Int) { self.count = count }

    func makeDirector() throws(Problem) -> sending any Director { LampDirector(count: count) }

    // The records go to the other sinks of the pipeline; this one writes nothing.
    func open(_ context: SinkContext) {}
    func begin(_ stream: StreamHeader) {}
    func write(_ batches: BatchBlock) {}
    func end(_ summary: StreamSummary) {}
    func close() {}
}

final class LampDirector: Director, ControlHandler {
    private let count: Int
    private var lamp = 0
    private var isRequested = false

    init(count: Int) { self.count = count }

    func prepare(_ stream: StreamHeader) { lamp = 0 }

    func direct(_ moment: BatchMoment, _ row: borrowing FeatureRow, into events: inout EventList) {
        if isRequested { events.append(Event(at: moment.start, Lamps.lamp, .integer(lamp))) }
        isRequested = false
        for index in 0..<events.count where events.events[index].type == .beat {
            lamp = lamp % count + 1
            events.append(Event(at: events.events[index].time, Lamps.lamp, .integer(lamp)))
        }
    }

    func handle(_ control: StampedControl) -> ControlReply {
        guard let lamp = control.control["lamp"].integer, (1...count).contains(lamp) else {
            return .refused("there are lamps 1 to \(count)")
        }
        (self.lamp, isRequested) = (lamp, true)
        return .done
    }
}
