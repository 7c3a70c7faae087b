internal import HemiolaRecords
internal import HemiolaSystem

/// The request of `hemiola send call`, `import`, `tabs` or `window`.
struct PageRequest: Equatable {
    enum Task: Equatable {
        /// The arguments are the JSON text of a list.
        case call(function: String, arguments: String)
        /// The name is nil if it is that of the file.
        case importFile(path: String, name: String?)
        /// The list of tabs is in the file.
        case tabs(path: String)
        case window(WindowRequest)
    }

    var task: Task
    /// nil: the page that was the last to send `ready`.
    var page: String?

    /// - Parameters:
    ///   - type: `call`, `import`, `tabs` or `window`.
    ///   - fields: `key=value`; the first field may be given by its value alone. The request of a window and its value are values alone.
    init(_ type: String, _ fields: [String]) throws(Failure) {
        if type == "window" {
            guard let name = fields.first else { throw Failure("window needs a request: \(WindowRequest.names.joined(separator: ", "))") }
            guard fields.count <= 2 else { throw Failure("\"\(fields[2])\" is too much: window has a request and its value") }
            if fields.contains("") { throw Failure("window: a value is empty") }
            task = .window(try WindowRequest(name, fields.dropFirst().first))
            return
        }
        let main = type == "call" ? "function" : "file"
        let keys = ["call": [main, "arguments", "page"], "import": [main, "name", "page"]][type] ?? [main]
        var values: [String: String] = [:]
        for (index, text) in fields.enumerated() {
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let isField = parts.count == 2 && keys.contains(parts[0])
            guard isField || index == 0 else {
                throw Failure("\"\(text)\" is not a field of \(type); fields: \(keys.map { "\($0)=" }.joined(separator: ", "))")
            }
            let (key, value) = isField ? (parts[0], parts[1]) : (main, text)
            guard values.updateValue(value, forKey: key) == nil else { throw Failure("\"\(key)\" is given twice") }
            if value.isEmpty { throw Failure("\(type): \(key) is empty") }
        }
        guard let value = values[main] else { throw Failure("\(type) needs \(main)=; see hemiola send --help") }
        page = values["page"]
        if type == "tabs" {
            task = .tabs(path: value)
        } else if type == "call" {
            let arguments = (values["arguments"] ?? "[]").replacing("\n", with: " ")
            guard (try? JSONValue(message: Array(arguments.utf8)))?.elements != nil else {
                throw Failure("arguments is not a JSON list; example: arguments='[1,\"text\"]'")
            }
            task = .call(function: value, arguments: arguments)
        } else {
            if value == "-", values["name"] == nil { throw Failure("import: standard input has no name; add name=NAME") }
            task = .importFile(path: value, name: values["name"])
        }
    }

    /// `call getPresetNames`, `import flower.milk`: for messages.
    var title: String {
        switch task {
        case .call(let function, _): "call \(function)"
        case .importFile(let path, _): "import \(System.title(of: path))"
        case .tabs(let path): "tabs \(System.title(of: path))"
        case .window(let request): "window \(request.name)"
        }
    }
}

/// A file that is passed to a page.
private struct ImportFile {
    /// As the bridge limits it.
    static let limit = 32 << 20
    /// Bytes per message: at most 64 KiB, and a multiple of three, so that only the last message has padding.
    static let chunk = 65_535

    let name: String
    let bytes: [UInt8]

    init(_ path: String, name: String?) throws(Failure) {
        do {
            bytes = try System.contents(of: path, atMost: Self.limit + 1)
        } catch {
            throw Failure("\(System.title(of: path)): \(error)", status: .inputFailed)
        }
        guard bytes.count <= Self.limit else {
            throw Failure("\(System.title(of: path)): the file is larger than 32 MiB, the limit of an import", status: .inputFailed)
        }
        self.name = name ?? path.split(separator: "/").last.map(String.init) ?? path
    }

    var starts: StrideTo<Int> { stride(from: 0, to: bytes.count, by: Self.chunk) }

    /// The message with the bytes from an index on.
    func line(from start: Int) -> [UInt8] {
        let data = Array(bytes[start..<min(start + Self.chunk, bytes.count)]).base64
        return Array("{\"type\":\"importData\",\"id\":\"\(ControlMessage.id)\",\"data\":\"\(data)\"}\n".utf8)
    }
}

extension SendCommand {
    /// Seconds that the running program has to report that a time limit was reached.
    private static let margin = 2.0

    /// Sends a request to a page and prints the value of its answer.
    func sendToPage(_ request: PageRequest, _ path: String, timeLimit: Double, on console: Console) throws(Failure) -> CommandStatus {
        var file: ImportFile?
        if case .importFile(let path, let name) = request.task { file = try ImportFile(path, name: name) }
        let line = try Self.line(request, file, timeLimit: timeLimit)
        let progress = PageProgress(request.title, on: console)
        let answer: PageAnswer
        do throws(SystemCallError) {
            let connection = try UnixConnection(to: path, until: MonotonicTime.now + timeLimit)
            try connection.write(ControlMessage.quiet + line, until: MonotonicTime.now + timeLimit)
            answer = try Self.answer(from: connection, file, timeLimit: timeLimit + Self.margin, progress)
        } catch {
            progress.end()
            throw Failure(Self.text(error, path), status: .refused)
        }
        progress.end()
        switch answer {
        case .value(let text): return try finish(request, text, on: console)
        case .error(let text), .refusal(let text): throw Failure("\(request.title): \(text)", status: .refused)
        case .closed, .progress: throw Failure("\(path): \(Self.closed)", status: .refused)
        }
    }

    /// Prints the value of an answer, after a snapshot was moved.
    private func finish(_ request: PageRequest, _ value: String, on console: Console) throws(Failure) -> CommandStatus {
        switch request.task {
        case .window(.snapshot(let path)):
            try Snapshot.move(value, to: path)
            return try Root.print(JSONValue.quoted(path))
        case .window where value == "null":
            // The request has no result.
            return .success
        case .tabs where value == "0":
            console.warning("no window is connected; a window that connects later shows the tabs")
        default: break
        }
        return try Root.print(value)
    }

    private static func line(_ request: PageRequest, _ file: ImportFile?, timeLimit: Double) throws(Failure) -> [UInt8] {
        var members = "\"id\":\"\(ControlMessage.id)\",\"timeout_s\":\(timeLimit)"
        if let page = request.page { members += ",\"page\":\(JSONValue.quoted(page))" }
        switch request.task {
        case .call(let function, let arguments):
            members += ",\"type\":\"call\",\"function\":\(JSONValue.quoted(function)),\"arguments\":\(arguments)"
        case .importFile:
            members += ",\"type\":\"import\",\"name\":\(JSONValue.quoted(file?.name ?? "")),\"size\":\(file?.bytes.count ?? 0)"
        case .tabs(let path):
            members += ",\"type\":\"tabs\"" + Self.text(try TabsFile(path).members)
        case .window(let window):
            members += ",\"type\":\"window\"" + Self.text(window.members)
        }
        return Array("{\(members)}\n".utf8)
    }

    /// `,"key":value` for each member.
    private static func text(_ members: [JSONValue.Member]) -> String {
        members.isEmpty ? "" : ",\(JSONValue.object(members).line.dropFirst().dropLast(2))"
    }

    /// Sends the file, if there is one, and waits for the answer.
    ///
    /// - Parameter timeLimit: Seconds for a call, and for each part of a file. The running program checks it too, and replies then.
    private static func answer(
        from connection: UnixConnection, _ file: ImportFile?, timeLimit: Double, _ progress: PageProgress
    ) throws(SystemCallError) -> PageAnswer {
        if let file {
            for start in file.starts {
                progress.show(.fraction(Double(start) / Double(file.bytes.count)))
                // The page can fail, or have left, before it has the whole file.
                while connection.hasInput {
                    guard let line = try connection.readLine(until: MonotonicTime.now + timeLimit) else { return .closed }
                    if let answer = PageAnswer(line), !answer.isProgress { return answer }
                }
                try connection.write(file.line(from: start), until: MonotonicTime.now + timeLimit)
            }
            progress.show(.fraction(1))
        }
        // The last parts of a file can still wait for the page.
        let deadline = MonotonicTime.now + timeLimit * (file == nil ? 1 : Double(waitingParts))
        while let line = try connection.readLine(until: deadline) {
            guard let answer = PageAnswer(line) else { continue }
            guard case .progress(let value) = answer else { return answer }
            progress.show(value)
        }
        return .closed
    }

    /// Maximum number of parts of a file between this program and the page.
    private static let waitingParts = 10
    private static let closed = "the connection was closed without a reply"
}

/// A line that answers a request.
private enum PageAnswer {
    /// The value as JSON text.
    case value(String)
    case progress(PageProgress.State)
    /// The page has reported an error, or there is no page.
    case error(String)
    /// The program has refused the connection or the message.
    case refusal(String)
    /// The connection has ended.
    case closed

    /// - Returns: nil for any other line.
    init?(_ line: [UInt8]) {
        guard let message = try? JSONValue(message: line) else { return nil }
        let text = message["error"]?.string ?? "refused"
        let isReply = message["id"]?.string == ControlMessage.id
        switch message["type"]?.string {
        case "error": self = .refusal(text)
        case "progress" where isReply:
            guard let state = PageProgress.State(message["value"]) else { return nil }
            self = .progress(state)
        case "reply" where isReply && message["ok"]?.flag == true:
            // The bytes of the value, so that numbers keep their digits.
            let source = message.members?.first { $0.key == "value" }?.source
            self = .value(source.map { String(decoding: line[$0], as: UTF8.self) } ?? "null")
        case "reply" where isReply: self = .error(text)
        default: return nil
        }
    }

    var isProgress: Bool { if case .progress = self { true } else { false } }
}

/// The progress of a request on standard error, if that is a terminal.
private final class PageProgress {
    enum State {
        /// 0…1
        case fraction(Double)
        case text(String)

        /// - Returns: nil for any other value.
        init?(_ value: JSONValue?) {
            if let number = value?.double, (0...1).contains(number) {
                self = .fraction(number)
            } else if let text = value?.string {
                self = .text(text)
            } else {
                return nil
            }
        }
    }

    private let title: String
    private let console: Console?
    private var isShown = false

    init(_ title: String, on console: Console) {
        self.title = title
        let fits =
            System.destination(of: System.standardError) == .terminal && ProgressLine.canMoveCursor(EnvironmentVariable.value("TERM"))
        self.console = fits ? console : nil
    }

    func show(_ state: State) {
        guard let console else { return }
        isShown = true
        let width = System.columns(of: System.standardError) ?? 80
        let style = ProgressLine.Style(environment: EnvironmentVariable.value)
        switch state {
        case .fraction(let fraction):
            console.show(bar: ProgressLine(name: title, fraction: fraction, seconds: 0).rendered(width: width, style: style))
        case .text(let text):
            console.show(bar: "\(title): \(text)".onOneLine.shortened(to: width - 1, style))
        }
    }

    /// Removes the line before the result is printed.
    func end() {
        guard let console, isShown else { return }
        console.endBar()
        console.finish()
    }
}
