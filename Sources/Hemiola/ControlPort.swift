public import HemiolaSignal

/// The door by which wishes enter: a sink that hears the world posts them here, from any thread, without waiting.
///
/// Once per batch the engine empties the inbox behind it, stamps each wish with that batch's first frame, hands it to the
/// analyzers and directors that obey controls, and lets it ride as a record in that batch.
public struct ControlPort: Sendable {
    /// Carries a wish to the inbox, with its origin and an optional reply.
    public typealias Post = @Sendable (Control, _ origin: String, _ reply: (@Sendable (ControlReply) -> Void)?) -> Void
    /// Tells that a client of this sink lost batches.
    public typealias Report = @Sendable (Loss) -> Void

    /// A door that nobody stands behind: every wish is refused.
    public static let closed = ControlPort(
        post: { _, _, reply in reply?(.refused("no pipeline is running")) }, report: { _ in })

    private let postToInbox: Post
    private let reportLoss: Report

    /// A door with these two behind it. The engine makes one for every sink; a test makes its own.
    public init(post: @escaping Post, report: @escaping Report) {
        postToInbox = post
        reportLoss = report
    }

    /// Posts a wish. Never waits.
    ///
    /// - Parameters:
    ///   - control: The wish.
    ///   - origin: Who wishes: goes into the `control` record's `from`.
    ///   - reply: Called once: when the batch with the effect has reached this sink, or with `busy` as soon as it is known that no
    ///     batch will take it. While the device is lost it is called without a batch, and the effect is in the first batch after that.
    public func post(_ control: Control, from origin: String, reply: (@Sendable (ControlReply) -> Void)? = nil) {
        postToInbox(control, origin, reply)
    }

    /// Tells that a client fell behind. It becomes a `dropped` record.
    public func report(_ loss: Loss) {
        reportLoss(loss)
    }
}
