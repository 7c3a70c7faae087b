public import HemiolaRecords

/// Submits control messages to the pipeline. Thread-safe; never blocks.
///
/// Once per batch the engine empties the inbox, stamps each control with that batch's first frame, calls the analyzers and directors
/// whose plugins declare it, and adds a `control` record to the batch when it has taken effect.
public struct ControlPort: Sendable {
    /// Receives the reply to a control, and the start of the batch with its effect; nil: no batch is being written, or none has the effect.
    public typealias Reply = @Sendable (ControlReply, _ effect: StreamPosition?) -> Void
    /// Adds a control to the inbox, with its sender and an optional reply.
    public typealias Submit = @Sendable (Control, _ origin: String, _ reply: Reply?) -> Void
    /// Reports that a client of this sink lost batches.
    public typealias Report = @Sendable (DropReport) -> Void

    /// A port without a pipeline: it refuses every control.
    public static let closed = ControlPort(
        submit: { _, _, reply in reply?(.refused("no pipeline is running"), nil) }, report: { _ in })

    private let submitToInbox: Submit
    private let reportDrop: Report

    /// A port with these two functions. The engine makes one for every sink; a test makes its own.
    public init(submit: @escaping Submit, report: @escaping Report) {
        submitToInbox = submit
        reportDrop = report
    }

    /// Submits a control. Never blocks. One with a value outside the declared range is refused: handlers need not check it.
    ///
    /// - Parameters:
    ///   - control: The control.
    ///   - origin: The sender: the `from` of the `control` record.
    ///   - reply: Called once, as soon as the control was handled, on any thread: before the batch with the effect has reached this sink.
    public func submit(_ control: Control, from origin: String, reply: Reply? = nil) {
        if let fault = control.fault {
            reply?(.refused(fault), nil)
        } else {
            submitToInbox(control, origin, reply)
        }
    }

    /// Reports that a client lost batches, which becomes a `dropped` record: with the next batch, or with the end of the losses if the
    /// report expects more.
    public func report(_ drop: DropReport) {
        reportDrop(drop)
    }
}
