public import HemiolaRecords

/// Controls of an earlier run, applied again: each in the batch that contains its frame, before the controls of clients.
///
/// Same input, same controls, same bytes.
public struct ControlReplay: Sendable, Hashable {
    private struct Entry: Hashable {
        var control: StampedControl
        /// The name of the only input that it is for; nil: for every one.
        var file: String?
    }

    private var entries: [Entry] = []

    /// A replay of these controls for every input.
    public init(_ controls: [StampedControl] = []) {
        for control in controls { add(control) }
    }

    /// Adds a control.
    ///
    /// - Parameters:
    ///   - control: The control, with the first frame of the batch in which it takes effect.
    ///   - file: The name of the input that it is for, as the records of several inputs bear it; nil: every input.
    public mutating func add(_ control: StampedControl, file: String? = nil) {
        entries.append(Entry(control: control, file: file))
    }

    /// Whether there is nothing to replay.
    public var isEmpty: Bool { entries.isEmpty }
    /// Controls to replay, of all inputs.
    public var count: Int { entries.count }

    /// The controls for an input, ordered by frame and then by arrival.
    func controls(for file: String) -> [StampedControl] {
        let mine = entries.filter { $0.file == nil || $0.file == file }.map(\.control)
        return mine.indices.sorted { (mine[$0].frame, $0) < (mine[$1].frame, $1) }.map { mine[$0] }
    }
}
