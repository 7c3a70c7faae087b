public import Hemiola
public import HemiolaRecords
import Synchronization
import Testing

/// What a plugin submits and reports. Every control is done.
public final class SubmittedControls: Sendable {
    private let list = Mutex<[Control]>([])
    private let texts = Mutex<(information: [String], warnings: [String])>(([], []))

    public init() {}

    public var controls: [Control] { list.withLock { $0 } }
    public var names: [String] { controls.map(\.description) }
    public var information: [String] { texts.withLock { $0.information } }
    public var warnings: [String] { texts.withLock { $0.warnings } }

    /// - Parameter types: The controls that the program declares.
    public func context(_ name: String, controls types: [ControlType] = []) -> SinkContext {
        SinkContext(
            name: name, catalog: RecordCatalog(controls: types), isLive: true,
            controls: ControlPort(
                submit: { control, _, reply in
                    self.list.withLock { $0.append(control) }
                    reply?(.done, nil)
                }, report: { _ in }),
            warn: { text in self.texts.withLock { $0.warnings.append(text) } },
            inform: { text, _ in self.texts.withLock { $0.information.append(text) } })
    }

    /// Waits up to 30 seconds.
    public func wait(until condition: () -> Bool) async throws {
        for _ in 0..<3000 where !condition() { try await Task.sleep(for: .milliseconds(10)) }
        try #require(condition(), "\(controls) \(warnings)")
    }
}
