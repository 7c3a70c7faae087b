public import Hemiola
import Testing

/// What a plugin submits and reports. Every control is done.
public final class SubmittedControls: Sendable {
    private struct State {
        var controls: [Control] = []
        var information: [String] = []
        var warnings: [String] = []
    }

    private let state = Watched(State())

    public init() {}

    public var controls: [Control] { state.value.controls }
    public var names: [String] { controls.map(\.description) }
    public var information: [String] { state.value.information }
    public var warnings: [String] { state.value.warnings }

    /// - Parameter types: The controls that the program declares.
    public func context(_ name: String, controls types: [ControlType] = [], clock: any MonotonicClock = .system) -> SinkContext {
        SinkContext(
            name: name, records: RecordChoice(catalog: RecordCatalog(controls: types)), timing: SinkTiming(isLive: true, clock: clock),
            controls: ControlPort(
                submit: { control, _, reply in
                    self.state.change { $0.controls.append(control) }
                    reply?(.done)
                }, report: { _ in }),
            messages: SinkMessages(
                warn: { text in self.state.change { $0.warnings.append(text) } },
                inform: { text, _ in self.state.change { $0.information.append(text) } }))
    }

    /// Waits for a control or a message after which a condition holds.
    public func wait(until condition: () -> Bool) throws {
        try #require(state.wait { _ in condition() }, "\(controls) \(warnings)")
    }
}
