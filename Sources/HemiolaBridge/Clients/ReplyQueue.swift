/// Returns replies in the order of the requests, independent of the order in which they become available.
struct ReplyQueue<Reply: Sendable>: Sendable {
    private var replies: [Reply?] = []
    /// The number of the first request in `replies`.
    private var first = 0

    /// The number of requests whose reply has not been returned.
    var count: Int { replies.count }

    /// Adds a request.
    ///
    /// - Returns: Its number, for `resolve`.
    mutating func reserve() -> Int {
        replies.append(nil)
        return first + replies.count - 1
    }

    /// Sets the reply of a request.
    ///
    /// - Returns: The replies that can be sent now, in order.
    mutating func resolve(_ number: Int, _ reply: Reply) -> [Reply] {
        guard replies.indices.contains(number - first) else { return [] }
        replies[number - first] = reply
        let available = replies.prefix { $0 != nil }
        replies.removeFirst(available.count)
        first += available.count
        return available.map { $0! }
    }
}
