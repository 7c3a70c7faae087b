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
    /// Seconds for a call, and for each part of a file. The running program checks it too, and replies then.
    let timeLimit: Double
    /// Whether progress messages are printed, as they are received.
    let printsProgress: Bool
    let console: Console

    /// Sends a request and prints the value of the answer.
    func send(_ request: PageRequest) throws(Failure) -> CommandStatus {
        var file: ImportFile?
        if case .importFile(let path, let name) = request.task { file = try ImportFile(path, name: name) }
        let answer = try answer(to: request, file)
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

    /// Sends a request with its file, if it has one, and waits for the answer.
    private func answer(to request: PageRequest, _ file: ImportFile?) throws(Failure) -> Reply {
        let line = try request.line(file, timeLimit: timeLimit)
        let progress = RequestProgress(request.title, on: printsProgress ? nil : console)
        defer { progress.end() }
        let end = Deadline(after: timeLimit)
        let client = try SocketClient(path, until: end, waits: request.task == .wait)
        try client.write(ControlMessage.quiet + line, until: end)
        let limit = timeLimit + Self.margin
        if let file {
            for start in file.starts {
                progress.show(fraction: Double(start) / Double(file.bytes.count))
                // The page can fail, or have left, before it has the whole file.
                while client.hasInput {
                    let message = try client.next(until: Deadline(after: limit))
                    if let reply = Reply(message) { return reply }
                    try printProgress(message)
                }
                try client.write(file.line(from: start), until: Deadline(after: limit))
            }
            progress.show(fraction: 1)
        }
        // All parts of a file can still wait for the page. The running program has no time limit for `wait`.
        let deadline =
            request.task == .wait ? end : Deadline(after: limit * Double(1 + (file.map { Array($0.starts).count } ?? 0)))
        while true {
            let message = try client.next(until: deadline)
            if let reply = Reply(message) { return reply }
            if message.isAnswer("progress") { progress.show(message.value["value"]) }
            try printProgress(message)
        }
    }

    private func printProgress(_ message: SocketMessage) throws(Failure) {
        if printsProgress, message.isAnswer("progress") { _ = try Root.print(message.text) }
    }
}
