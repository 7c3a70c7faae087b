internal import Hemiola
public import HemiolaRecords
internal import HemiolaSignal
internal import Synchronization

extension ControlType {
    /// Switches all lights off, or on again.
    public static let blackout = ControlType(
        "blackout", "Switches all lights of the pipeline off, or on again.",
        fields: [.boolean("on", default: .boolean(true), "True: dark; false: light again.")])
}

/// Whether the lights are off. Switched on the analysis thread, read by the thread that sends.
final class BlackoutSwitch: Sendable {
    private let flag = Atomic<Bool>(false)
    private let sender = Mutex<(@Sendable () -> Void)?>(nil)

    var isOn: Bool { flag.load(ordering: .acquiring) }

    /// Switches, and requests a frame: while the source pauses there is no batch, and a blackout is not to wait for one.
    func set(_ isOn: Bool) {
        flag.store(isOn, ordering: .releasing)
        sender.withLock { $0 }?()
    }

    /// Sets the function that requests a frame.
    func whenSwitched(_ requestFrame: @escaping @Sendable () -> Void) {
        sender.withLock { $0 = requestFrame }
    }
}

/// Handles the control `blackout`.
final class BlackoutDirector: Director, ControlHandler {
    private let blackout: BlackoutSwitch

    init(_ blackout: BlackoutSwitch) {
        self.blackout = blackout
    }

    func prepare(_ stream: StreamHeader) {}

    func direct(_ moment: BatchMoment, _ row: borrowing FeatureRow, into events: inout EventList) {}

    func handle(_ control: StampedControl) -> ControlReply {
        guard control.control.type == .blackout else { return .unknown(control.control) }
        blackout.set(control.control["on"].flag ?? true)
        return .done
    }
}
