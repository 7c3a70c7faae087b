internal import Hemiola

/// Handles the control `blackout`.
final class BlackoutDirector: Director, ControlHandler {
    private let setDark: (Bool) -> Void

    /// - Parameter setDark: Switches the lights. Called on the analysis thread.
    init(_ setDark: @escaping (Bool) -> Void) {
        self.setDark = setDark
    }

    func prepare(_ stream: StreamHeader) {}

    func direct(_ moment: BatchMoment, _ row: borrowing FeatureRow, into events: inout EventList) {}

    func handle(_ control: StampedControl) -> ControlReply {
        guard control.control.type == .blackout else { return .unknown(control.control) }
        setDark(control.control["on"].flag ?? true)
        return .done
    }
}
