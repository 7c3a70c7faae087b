internal import Synchronization

/// What the clients want, all together: written on the event loop, read by the sink's thread before it encodes anything.
final class Demand: Sendable {
    struct Wishes: Sendable, Hashable {
        var streams: StreamSet = []
        /// Of those that want samples.
        var payloads: PayloadSet = []
        /// Whether there is any client.
        var hasClients = false
    }

    private let wishes = Mutex(Wishes())

    var now: Wishes { wishes.withLock { $0 } }

    func set(_ wishes: Wishes) {
        self.wishes.withLock { $0 = wishes }
    }
}
