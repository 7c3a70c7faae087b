public import HemiolaRecords

/// Does the work on a control whose cost depends on what the client sent, such as looking a name up in a list, before the control
/// reaches the analysis thread.
///
/// The engine calls `prepare` on a thread beside the analysis thread, for one control at a time, in the order in which the director
/// will handle them.
public protocol ControlPreparer: Sendable {
    /// Whether a control needs preparation. Constant cost: called on the thread that submits the control.
    func isNeeded(for control: Control) -> Bool
    /// Computes what the director needs to handle the control at a constant cost.
    ///
    /// - Parameters:
    ///   - control: The control.
    ///   - origin: The client that sent it, as in a `StampedControl`.
    func prepare(_ control: Control, from origin: String) -> any Sendable
}

/// A director whose controls are prepared before they reach it.
public protocol PreparedDirector: Director, ControlHandler {
    /// Prepares its controls. Read once per run.
    var preparer: any ControlPreparer { get }
    /// Handles a control that was prepared, at a constant cost. A control that is replayed comes without preparation, by `handle(_:)`.
    ///
    /// - Parameters:
    ///   - control: The control, with the batch that it takes effect in.
    ///   - preparation: What `preparer` computed for this control.
    /// - Returns: As `handle(_:)`.
    func handle(_ control: StampedControl, preparation: any Sendable) -> ControlReply
}
