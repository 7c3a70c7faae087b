public import HemiolaRecords

/// Submits control messages to the pipeline. Thread-safe; never blocks.
///
/// Once per batch the engine empties the inbox, stamps each control with that batch's first frame, calls the analyzers and directors
/// whose plugins declare it, and adds a `control` record to the batch when it has taken effect. While the source pauses, it does so without
/// a batch, at most 0.1 s later.
public struct ControlPort: Sendable {
    /// Receives the reply to a control.
    public typealias Reply = @Sendable (ControlReply) -> Void
    /// Adds a control to the inbox, with its sender and an optional reply.
    public typealias Submit = @Sendable (Control, _ origin: String, _ reply: Reply?) -> Void
    /// Reports that a client of this sink lost batches.
    public typealias Report = @Sendable (DropReport) -> Void

    /// A port without a pipeline: it refuses every control.
    public static let closed = ControlPort(
        submit: { _, _, reply in reply?(.refused("no pipeline is running")) }, report: { _ in })

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
    ///   - reply: Called once. When the control was handled: on the sink's thread, after the batch with the effect was written. When it was
    ///     refused before: on any thread. Not called when the sink has failed.
    public func submit(_ control: Control, from origin: String, reply: Reply? = nil) {
        if let fault = control.fault {
            reply?(.refused(fault))
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
