internal import Hemiola
public import HemiolaSignal
internal import Synchronization

extension ControlType {
    /// Switches all lights off, or on again.
    public static let blackout = ControlType(
        "blackout", "Switches all lights of the pipeline off, or on again.",
        fields: [.boolean("on", default: .boolean(true), "True: dark; false: light again.")])
}

/// Whether the lights are off. Set on the analysis thread, read on every thread that sends.
final class BlackoutSwitch: Sendable {
    private let flag = Atomic<Bool>(false)

    var isOn: Bool {
        get { flag.load(ordering: .acquiring) }
        set { flag.store(newValue, ordering: .releasing) }
    }
}

/// Handles the control `blackout`.
final class BlackoutDirector: Director, ControlHandler {
    private let setBlackout: @Sendable (Bool) -> Void

    init(_ setBlackout: @escaping @Sendable (Bool) -> Void) {
        self.setBlackout = setBlackout
    }

    func prepare(_ stream: StreamHeader) {}

    func direct(_ moment: BatchMoment, _ row: borrowing FeatureRow, into events: inout EventList) {}

    func handle(_ control: StampedControl) -> ControlReply {
        setBlackout(control.control["on"].flag ?? true)
        return .done
    }
}
