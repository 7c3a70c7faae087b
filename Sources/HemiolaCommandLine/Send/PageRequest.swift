internal import Hemiola

/// The request of `hemiola send call`, `import`, `tabs`, `wait` or `window`.
struct PageRequest: Equatable {
    /// The messages to pages and windows.
    static let types = ["call", "import", "tabs", "wait", "window"]
    static let windowRequests = ["fullscreen", "tab", "reload", "snapshot"]

    enum Task: Equatable {
        /// The arguments are the JSON text of a list.
        case call(function: String, arguments: String)
        /// The name is nil if it is that of the file.
        case importFile(path: String, name: String?)
        /// The list of tabs is in the file.
        case tabs(path: String)
        /// Waits for a running program, and until one of its pages is ready.
        case wait
        /// One of the requests of a window, and its value.
        case window(String, JSONValue)
        /// The window writes its picture, which becomes the file of this path.
        case snapshot(path: String)
    }

    var task: Task
    /// nil: the page that was the last to send `ready`.
    var page: String?

    /// - Parameters:
    ///   - type: `call`, `import`, `tabs`, `wait` or `window`.
    ///   - fields: `key=value`; the first field may be given by its value alone. `ready`, and the request of a window and its value, are
    ///     values alone.
    init(_ type: String, _ fields: [String]) throws(Failure) {
        if type == "window" {
            task = try Self.window(fields)
            return
        }
        if type == "wait" {
            guard fields == ["ready"] else { throw Failure("wait has one value: hemiola send wait ready") }
            task = .wait
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
        default: throw Failure("window has no request \"\(name)\"; \(name.suggestion(among: windowRequests, "requests"))")
        }
    }

    /// `call getPresetNames`, `import flower.milk`: for messages.
    var title: String {
        switch task {
        case .call(let function, _): "call \(function)"
        case .importFile(let path, _): "import \(CommandInput.title(of: path))"
        case .tabs(let path): "tabs \(CommandInput.title(of: path))"
        case .wait: "wait ready"
        case .window(let name, _): "window \(name)"
        case .snapshot: "window snapshot"
        }
    }

    /// The message as a line.
    ///
    /// - Parameter timeLimit: Seconds after which the running program replies that the limit was reached.
    func line(timeLimit: Double) throws(Failure) -> [UInt8] {
        var members = "\"id\":\"\(ControlMessage.id)\",\"timeout_s\":\(timeLimit)"
        if let page { members += ",\"page\":\(JSONValue.quoted(page))" }
        switch task {
        case .call(let function, let arguments):
            members += ",\"type\":\"call\",\"function\":\(JSONValue.quoted(function)),\"arguments\":\(arguments)"
        case .importFile(let path, let name):
            let file = try ImportFile(path, name: name)
            members += ",\"type\":\"import\",\"name\":\(JSONValue.quoted(file.name)),\"path\":\(JSONValue.quoted(file.path))"
        case .tabs(let path): members += ",\"type\":\"tabs\"" + Self.text(try TabsFile(path).members)
        case .wait: members += ",\"type\":\"wait\",\"for\":\"ready\""
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
