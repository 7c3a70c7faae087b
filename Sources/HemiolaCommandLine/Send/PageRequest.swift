internal import Hemiola
internal import HemiolaRecords
internal import HemiolaSystem

/// The request of `hemiola send call`, `import`, `tabs` or `window`.
struct PageRequest: Equatable {
    /// The messages to pages and windows.
    static let types = ["call", "import", "tabs", "window"]
    static let windowRequests = ["fullscreen", "tab", "reload", "snapshot"]

    enum Task: Equatable {
        /// The arguments are the JSON text of a list.
        case call(function: String, arguments: String)
        /// The name is nil if it is that of the file.
        case importFile(path: String, name: String?)
        /// The list of tabs is in the file.
        case tabs(path: String)
        /// One of the requests of a window, and its value.
        case window(String, JSONValue)
        /// The window writes its picture, which becomes the file of this path.
        case snapshot(path: String)
    }

    var task: Task
    /// nil: the page that was the last to send `ready`.
    var page: String?

    /// - Parameters:
    ///   - type: `call`, `import`, `tabs` or `window`.
    ///   - fields: `key=value`; the first field may be given by its value alone. The request of a window and its value are values alone.
    init(_ type: String, _ fields: [String]) throws(Failure) {
        if type == "window" {
            task = try Self.window(fields)
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
        switch type {
        case "tabs": task = .tabs(path: value)
        case "call":
            let arguments = (values["arguments"] ?? "[]").replacing("\n", with: " ")
            guard (try? JSONValue(message: Array(arguments.utf8)))?.elements != nil else {
                throw Failure("arguments is not a JSON list; example: arguments='[1,\"text\"]'")
            }
            task = .call(function: value, arguments: arguments)
        default:
            if value == "-", values["name"] == nil { throw Failure("import: standard input has no name; add name=NAME") }
            task = .importFile(path: value, name: values["name"])
        }
    }

    private static func window(_ fields: [String]) throws(Failure) -> Task {
        guard let name = fields.first else { throw Failure("window needs a request: \(windowRequests.joined(separator: ", "))") }
        guard fields.count <= 2 else { throw Failure("\"\(fields[2])\" is too much: window has a request and its value") }
        if fields.contains("") { throw Failure("window: a value is empty") }
        switch (name, fields.dropFirst().first) {
        case ("fullscreen", nil), ("reload", nil): return .window(name, .null)
        case ("fullscreen", "true"): return .window(name, .boolean(true))
        case ("fullscreen", "false"): return .window(name, .boolean(false))
        case ("fullscreen", let value?): throw Failure("window fullscreen is true or false, not \"\(value)\"")
        case ("reload", _?): throw Failure("window reload has no value")
        case ("tab", let tab?): return .window(name, .text(tab))
        case ("tab", nil): throw Failure("window tab needs the id or title of a tab; see hemiola send --help")
        case ("snapshot", let path?): return .snapshot(path: path)
        case ("snapshot", nil): throw Failure("window snapshot needs a file; see hemiola send --help")
        default:
            let hint =
                name.nearest(in: windowRequests).map { "did you mean \($0)?" } ?? "requests: \(windowRequests.joined(separator: ", "))"
            throw Failure("window has no request \"\(name)\"; \(hint)")
        }
    }

    /// `call getPresetNames`, `import flower.milk`: for messages.
    var title: String {
        switch task {
        case .call(let function, _): "call \(function)"
        case .importFile(let path, _): "import \(System.title(of: path))"
        case .tabs(let path): "tabs \(System.title(of: path))"
        case .window(let name, _): "window \(name)"
        case .snapshot: "window snapshot"
        }
    }

    /// The message as a line.
    ///
    /// - Parameters:
    ///   - file: The file of an import.
    ///   - timeLimit: Seconds after which the running program replies that the limit was reached.
    func line(_ file: ImportFile?, timeLimit: Double) throws(Failure) -> [UInt8] {
        var members = "\"id\":\"\(ControlMessage.id)\",\"timeout_s\":\(timeLimit)"
        if let page { members += ",\"page\":\(JSONValue.quoted(page))" }
        switch task {
        case .call(let function, let arguments):
            members += ",\"type\":\"call\",\"function\":\(JSONValue.quoted(function)),\"arguments\":\(arguments)"
        case .importFile:
            members += ",\"type\":\"import\",\"name\":\(JSONValue.quoted(file?.name ?? "")),\"size\":\(file?.bytes.count ?? 0)"
        case .tabs(let path): members += ",\"type\":\"tabs\"" + Self.text(try TabsFile(path).members)
        case .window(let name, let value): members += Self.text(window: name, value)
        case .snapshot: members += Self.text(window: "snapshot", .null)
        }
        return Array("{\(members)}\n".utf8)
    }

    private static func text(window name: String, _ value: JSONValue) -> String {
        ",\"type\":\"window\"" + text([.init("action", .text(name)), .init("value", value)])
    }

    /// `,"key":value` for each member.
    private static func text(_ members: [JSONValue.Member]) -> String {
        members.isEmpty ? "" : ",\(JSONValue.object(members).line.dropFirst().dropLast(2))"
    }
}

/// A file that is passed to a page.
struct ImportFile {
    /// As the bridge limits it.
    private static let limit = 32 << 20
    /// Bytes per message: at most 64 KiB, and a multiple of three, so that only the last message has padding.
    private static let chunk = 65_535

    let name: String
    let bytes: [UInt8]

    init(_ path: String, name: String?) throws(Failure) {
        bytes = try Self.bytes(of: path, atMost: Self.limit, "the file is larger than 32 MiB, the limit of an import")
        self.name = name ?? path.split(separator: "/").last.map(String.init) ?? path
    }

    /// - Parameter excess: The error of a file with more bytes.
    static func bytes(of path: String, atMost limit: Int, _ excess: String) throws(Failure) -> [UInt8] {
        let bytes: [UInt8]
        do {
            bytes = try System.contents(of: path, atMost: limit + 1)
        } catch {
            throw Failure("\(System.title(of: path)): \(error)", status: .inputFailed)
        }
        guard bytes.count <= limit else { throw Failure("\(System.title(of: path)): \(excess)", status: .inputFailed) }
        return bytes
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
    /// Maximum number of parts of a file between this program and the page.
    private static let waitingParts = 10

    /// Sends a request to a page and prints the value of its answer.
    func sendToPage(_ request: PageRequest, _ path: String, timeLimit: Double, on console: Console) throws(Failure) -> CommandStatus {
        var file: ImportFile?
        if case .importFile(let path, let name) = request.task { file = try ImportFile(path, name: name) }
        let answer = try answer(to: request, file, path, timeLimit: timeLimit, on: console)
        guard answer.ok else { throw Failure("\(request.title): \(answer.error)", status: .refused) }
        switch request.task {
        case .snapshot(let path):
            try Snapshot.move(answer.value, to: path)
            return try Root.print(JSONValue.quoted(path))
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
    ///
    /// - Parameter timeLimit: Seconds for a call, and for each part of a file. The running program checks it too, and replies then.
    private func answer(
        to request: PageRequest, _ file: ImportFile?, _ path: String, timeLimit: Double, on console: Console
    ) throws(Failure) -> Reply {
        let line = try request.line(file, timeLimit: timeLimit)
        let progress = RequestProgress(request.title, on: console)
        defer { progress.end() }
        let client = try SocketClient(path, until: MonotonicTime.now + timeLimit)
        try client.write(ControlMessage.quiet + line, until: MonotonicTime.now + timeLimit)
        let limit = timeLimit + Self.margin
        // The last parts of a file can still wait for the page.
        var parts = 1
        if let file {
            parts = Self.waitingParts
            for start in file.starts {
                progress.show(fraction: Double(start) / Double(file.bytes.count))
                // The page can fail, or have left, before it has the whole file.
                while client.hasInput {
                    let message = try client.next(until: MonotonicTime.now + limit)
                    if let reply = Reply(message) { return reply }
                }
                try client.write(file.line(from: start), until: MonotonicTime.now + limit)
            }
            progress.show(fraction: 1)
        }
        let deadline = MonotonicTime.now + limit * Double(parts)
        while true {
            let message = try client.next(until: deadline)
            if let reply = Reply(message) { return reply }
            if message.isAnswer("progress") { progress.show(message.value["value"]) }
        }
    }
}

/// The progress of a request on standard error, if that is a terminal.
private final class RequestProgress {
    private let title: String
    private let console: Console?
    private var isShown = false

    init(_ title: String, on console: Console) {
        self.title = title
        let fits =
            System.destination(of: System.standardError) == .terminal && ProgressLine.canMoveCursor(EnvironmentVariable.value("TERM"))
        self.console = fits ? console : nil
    }

    /// Shows the progress that a page reports: a number from 0 to 1, or a text.
    func show(_ value: JSONValue?) {
        if let number = value?.double, (0...1).contains(number) { return show(fraction: number) }
        guard let text = value?.string else { return }
        show { "\(title): \(text)".onOneLine.shortened(to: $0 - 1, $1) }
    }

    func show(fraction: Double) {
        show { ProgressLine(name: title, fraction: fraction, seconds: 0).rendered(width: $0, style: $1) }
    }

    private func show(_ text: (_ width: Int, ProgressLine.Style) -> String) {
        guard let console else { return }
        isShown = true
        let width = System.columns(of: System.standardError) ?? 80
        console.show(bar: text(width, ProgressLine.Style(environment: EnvironmentVariable.value)))
    }

    /// Removes the line before the result is printed.
    func end() {
        guard let console, isShown else { return }
        console.endBar()
        console.finish()
    }
}
