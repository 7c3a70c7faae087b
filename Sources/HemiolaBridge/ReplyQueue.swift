/// Answers in the order of the requests, whatever the order in which they are known.
struct ReplyQueue<Answer: Sendable>: Sendable {
    private var answers: [Answer?] = []
    /// The number of the first one that waits.
    private var first = 0

    /// Requests that have no answer yet, or whose answer has to wait.
    var count: Int { answers.count }

    /// A request came in.
    ///
    /// - Returns: Its number, for `resolve`.
    mutating func expect() -> Int {
        answers.append(nil)
        return first + answers.count - 1
    }

    /// A request's answer is known.
    ///
    /// - Returns: The answers that can be given now, in order.
    mutating func resolve(_ number: Int, _ answer: Answer) -> [Answer] {
        guard answers.indices.contains(number - first) else { return [] }
        answers[number - first] = answer
        let due = answers.prefix { $0 != nil }
        answers.removeFirst(due.count)
        first += due.count
        return due.map { $0! }
    }
}
