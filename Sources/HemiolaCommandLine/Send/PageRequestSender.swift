internal import HemiolaRecords
internal import HemiolaSystem

/// Sends requests to pages and windows, and prints their answers.
struct PageRequestSender {
    /// Seconds that the running program has to report that a time limit was reached.
    private static let margin = 2.0
    /// Seconds for a request, unless the user says otherwise.
    static let standardTimeLimit = 30.0

    /// The path of the socket.
    let path: SocketPath
    /// Seconds for a request. The running program checks it too, and replies then.
    let timeLimit: Double
    /// Whether progress messages are printed, as they are received.
    let printsProgress: Bool
    let console: Console

    /// Sends a request and prints the value of the answer.
    func send(_ request: PageRequest) throws(Failure) -> CommandStatus {
        let answer = try answer(to: request)
        guard answer.ok else { throw Failure("\(request.title): \(answer.error)", status: .refused) }
        switch request.task {
        case .snapshot(let path):
            try Snapshot.move(answer.value, to: path)
            return try Root.print(JSONValue.quoted(path))
        case .wait: return .success
        case .window where answer.value == "null":
            // The request has no result.
            return .success
        case .tabs where answer.value == "0":
            console.warning("no window is connected; a window that connects later shows the tabs")
        default: break
        }
        return try Root.print(answer.value)
    }

    /// Sends a request, and waits for the answer.
    private func answer(to request: PageRequest) throws(Failure) -> Reply {
        let line = try request.line(timeLimit: timeLimit)
        let progress = RequestProgress(request.title, on: printsProgress ? nil : console)
        defer { progress.end() }
        let end = Deadline(after: timeLimit)
        let client = try SocketClient(path, until: end, waits: request.task == .wait)
        try client.write(ControlMessage.quiet + line, until: end)
        // The running program has no time limit for `wait`.
        let deadline = request.task == .wait ? end : Deadline(after: timeLimit + Self.margin)
        while true {
            let message = try client.next(until: deadline)
            if let reply = Reply(message) { return reply }
            guard message.isAnswer("progress") else { continue }
            progress.show(message.value["value"])
            if printsProgress { _ = try Root.print(message.text) }
        }
    }
}
