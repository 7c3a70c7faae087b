internal import HemiolaRecords
internal import HemiolaSystem

extension SendCommand {
    /// Seconds for a request, unless the user says otherwise.
    private static let standardRequestTime = 30.0
    /// Seconds that the running program has to report that a time limit was reached.
    private static let margin = 2.0

    /// Sends a request to a page or a window, and prints the value of the answer.
    func send(_ request: PageRequest, on console: Console) throws(Failure) -> CommandStatus {
        let answer = try answer(to: request, on: console)
        guard answer.ok else { throw Failure("\(request.title): \(answer.error)", status: .refused) }
        switch request.task {
        case .snapshot(let path):
            try Snapshot.move(answer.result, to: path)
            return try Root.print(JSONValue.quoted(path))
        case .wait: return .success
        case .window where answer.result == "null":
            // The request has no result.
            return .success
        case .tabs where answer.result == "0":
            console.warning("no window is connected; a window that connects later shows the tabs")
        default: break
        }
        return try Root.print(answer.result)
    }

    /// Sends a request, and waits for the answer. The progress is printed as it is received, or shown on a terminal.
    private func answer(to request: PageRequest, on console: Console) throws(Failure) -> SocketMessage {
        // The running program checks the limit too, and replies then.
        let timeLimit = timeout ?? Self.standardRequestTime
        let line = try request.line(timeLimit: timeLimit)
        defer {
            // Before the result is printed.
            console.endBar()
            console.finish()
        }
        let end = Deadline(after: timeLimit)
        let client = try SocketClient(path, until: end, waits: request.task == .wait)
        try client.write(ControlMessage.quiet + line, until: end)
        // The running program has no time limit for `wait`.
        let deadline = request.task == .wait ? end : Deadline(after: timeLimit + Self.margin)
        return try client.reply(until: deadline) { message throws(Failure) in
            guard message.isAnswer("progress") else { return }
            if follow { _ = try Root.print(message.text) } else { Self.show(message.value["value"], of: request.title, on: console) }
        }
    }

    /// Shows the progress that a page reports, a number from 0 to 1 or a text, on standard error, if that is a terminal.
    private static func show(_ value: JSONValue?, of title: String, on console: Console) {
        guard FileDescriptor.standardError.isScreen else { return }
        let width = FileDescriptor.standardError.columns
        let style = TerminalStyle(environment: EnvironmentVariable.value)
        if let number = value?.double, (0...1).contains(number) {
            console.show(bar: ProgressLine(name: title, fraction: number, seconds: 0).rendered(width: width, style: style))
        } else if let text = value?.string {
            console.show(bar: "\(title): \(text)".onOneLine.shortened(to: width - 1, style))
        }
    }
}
