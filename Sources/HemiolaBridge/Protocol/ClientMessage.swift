internal import HemiolaRecords
internal import HemiolaSystem
internal import HemiolaVisualizer

/// A message from a client. What only a page or a window understands stays JSON text.
struct ClientMessage: Sendable, Hashable {
    /// The type of the message and its fields.
    enum Body: Sendable, Hashable {
        /// A control, or the report of a visualizer.
        case control(Control)
        /// Changes the subscription; nil: unchanged.
        case subscribe(streams: [String]?, payload: String?)
        /// Requests a `status` message.
        case status
        /// Requests a reply as soon as a page is ready.
        case wait
        /// Requests the host's clock; the client's own time is returned with it.
        case clock(sent: Double)
        /// The visualizer has closed.
        case close
        /// Requests a page to call a function or to import a file, or a window to do something.
        case request(PageRequest)
        /// The answer of a page or a window to the call of that number.
        case answer(PageAnswer, call: Int)
        /// The client is a window, and can receive tabs and requests.
        case windowReady
        /// What follows is from a page, in a window that connects for it: messages that name files are refused from then on.
        case pageConnection
        /// Sets the tabs of all windows: the members of the message as JSON text.
        case tabs(String)
        /// An error in the page's scripts, with its place.
        case pageError(String)
        /// No message: the reason.
        case invalid(String)

        /// Why the message is not accepted of a client; nil: it is. Hemiola and its user's windows open any path that it names.
        ///
        /// - Parameters:
        ///   - user: The client's user; nil: a page of a browser.
        ///   - isPage: Whether the client is a page in a window.
        ///   - owner: The user that runs Hemiola.
        func refusal(of user: UInt32?, isPage: Bool, owner: UInt32) -> String? {
            let title: String
            var namesFiles = true
            switch self {
            case .request(let request) where request.path != nil: title = "imports"
            case .request(let request) where !request.isToWindow: return nil
            case .tabs: title = "messages of windows"
            case .windowReady, .request: (title, namesFiles) = ("messages of windows", false)
            default: return nil
            }
            guard let user else { return "\(title) are accepted on the sink socket only" }
            if isPage { return "\(title) are not accepted from pages" }
            if !namesFiles || user == owner || user == 0 { return nil }
            return "imports and tabs are accepted only from user \(owner), who runs Hemiola; send it as this user"
        }
    }

    /// Requests a page to call a function or to import a file, or a window to do something.
    struct PageRequest: Sendable, Hashable {
        /// The type of the message to the page or window: `call`, `import` or `window`.
        var type: String
        /// The members of this message, as JSON text.
        var members: String
        /// The absolute path of the file to import; nil: no file is imported.
        var path: String?
        /// The name or number of the page; nil: the page that was the last to send `ready`.
        var page: String?
        /// Seconds until the request fails, above 0 up to 600.
        var timeLimit: Double

        var isToWindow: Bool { type == "window" }
    }

    /// The answer of a page or a window.
    enum PageAnswer: Sendable, Hashable {
        /// The end of the call.
        case outcome(Outcome)
        /// The state of the work so far, as JSON text.
        case progress(String)
    }

    /// Maximum length of a message in bytes.
    static let longestMessage = 1 << 20
    /// Maximum length of an id in bytes.
    private static let longestID = 256
    /// Maximum length in bytes of any other text that is not passed on as it is.
    static let longestText = 1024
    /// Maximum number of items in a list.
    static let longestList = 10_000
    /// Seconds until a request fails, unless it says otherwise, and at most.
    private static let timeLimit = (standard: 30.0, longest: 600.0)
    /// Maximum length in bytes of the path of an imported file, and of its name.
    private static let (longestPath, longestFileName) = (4095, 255)

    /// The client's identifier of the request, a text or a number, as JSON text. The reply repeats it; nil: the client expects no reply, or
    /// it cannot be read.
    var id: String?
    /// The type of the message and its fields.
    var body: Body

    init(id: String?, body: Body) {
        self.id = id
        self.body = body
    }

    /// Parses a line. One that is no message is ``Body/invalid(_:)``, with the id that it has nevertheless.
    ///
    /// - Parameters:
    ///   - line: Any bytes, without the newline.
    ///   - catalog: The controls that the program declares.
    /// - Complexity: O(bytes).
    init(_ line: [UInt8], _ catalog: RecordCatalog) {
        do {
            let message = try JSONValue(message: line)
            // First, so that a message with any other invalid member has the id.
            if message.has("id") { id = try Self.id(message, line) }
            body = try Self.body(message, line, hasID: id != nil, catalog)
        } catch {
            body = .invalid(error.message)
        }
    }

    private static func id(_ message: JSONValue, _ line: [UInt8]) throws(Problem) -> String {
        let text = message["id"]?.string
        guard text != nil || message["id"]?.double != nil else { throw Problem("\"id\" is not a text or a number") }
        let id = try source("id", message, line)
        guard (text ?? id).utf8.count <= longestID else { throw Problem("\"id\" is longer than \(longestID) bytes") }
        return id
    }

    private static func body(
        _ message: JSONValue, _ line: [UInt8], hasID: Bool, _ catalog: RecordCatalog
    ) throws(Problem) -> Body {
        let type = try message.text("type")
        switch type {
        case "subscribe":
            let streams = message.has("streams") ? try message.texts("streams") : nil
            let payload = try message.optionalText("payload")
            try check(.texts(streams ?? []), "streams")
            try check(.optional(payload), "payload")
            return .subscribe(streams: streams, payload: payload)
        case "status": return .status
        case "wait":
            guard hasID else { throw Problem("wait needs an \"id\"") }
            let event = try message.text("for")
            try check(.text(event), "for")
            guard event == "ready" else { throw Problem("\"for\" is \"ready\", not \"\(event.prefix(64))\"") }
            return .wait
        case "clock": return .clock(sent: try message.number("sent"))
        case "closeViz": return .close
        case "windowReady": return .windowReady
        case "pageConnection": return .pageConnection
        case "call", "import", "window": return .request(try request(type, message, line, hasID: hasID))
        case "tabs":
            try TabList.check(message)
            return .tabs(try members(["active", "tabs"], message, line))
        case "result", "progress": return .answer(try answer(type, message, line), call: try message.integer("call"))
        case "pageError": return .pageError(try pageError(message))
        default:
            guard let declared = catalog.control(type) else {
                try check(.text(type), "type")
                throw Problem("unknown message type \"\(type.prefix(64))\"")
            }
            let control = try Control(declared, from: message)
            for (field, value) in zip(declared.fields, control.values) { try check(value, field.name) }
            return .control(try control.completed())
        }
    }

    /// Checks the lengths of a text or list.
    private static func check(_ value: ParameterValue, _ key: String) throws(Problem) {
        if let text = value.string, text.utf8.count > longestText {
            throw Problem("\"\(key)\" is longer than \(longestText) bytes")
        }
        guard let items = value.items else { return }
        if items.count > longestList { throw Problem("\"\(key)\" has more than \(longestList) items") }
        if items.contains(where: { ($0.string?.utf8.count ?? 0) > longestText }) {
            throw Problem("a text in \"\(key)\" is longer than \(longestText) bytes")
        }
    }

    // MARK: - Pages and windows

    private static func request(_ type: String, _ message: JSONValue, _ line: [UInt8], hasID: Bool) throws(Problem) -> PageRequest {
        let limit = try message.optionalNumber("timeout_s") ?? timeLimit.standard
        guard limit > 0, limit <= timeLimit.longest else {
            throw Problem("\"timeout_s\" is more than 0 and at most \(Int(timeLimit.longest))")
        }
        var request = PageRequest(type: type, members: "", timeLimit: limit)
        if let number = message["page"]?.integer {
            request.page = "\(number)"
        } else if let name = try message.optionalText("page") {
            try check(.text(name), "page")
            request.page = name
        }
        switch type {
        case "call":
            if try message.text("function").isEmpty { throw Problem("\"function\" is empty") }
            let hasArguments = message["arguments"] != nil
            if hasArguments, message["arguments"]?.elements == nil { throw Problem("\"arguments\" is not a list") }
            request.members = try members(["function", "arguments"], message, line, missing: "[]")
        case "import":
            guard hasID else { throw Problem("an import needs an \"id\"") }
            try checkFileName(try message.text("name"))
            let path = try message.text("path")
            guard path.hasPrefix("/"), path.utf8.count <= longestPath else {
                throw Problem("\"path\" is the absolute path of a file, of at most \(longestPath) bytes")
            }
            request.path = path
            request.members = try members(["name"], message, line)
        default:
            _ = try message.text("action")
            request.members = try members(["action", "value"], message, line)
        }
        return request
    }

    /// The name of a file has no folders: the page may use it as a name of its own.
    private static func checkFileName(_ name: String) throws(Problem) {
        guard name.utf8.count <= longestFileName else { throw Problem("\"name\" is longer than \(longestFileName) bytes") }
        let isPath = name.unicodeScalars.contains { $0 == "/" || $0 == "\\" || $0.value < 0x20 || $0.value == 0x7F }
        guard !isPath, !["", ".", ".."].contains(name) else {
            throw Problem("\"name\" is the name of a file, without folders and control characters")
        }
    }

    private static func answer(_ type: String, _ message: JSONValue, _ line: [UInt8]) throws(Problem) -> PageAnswer {
        if type == "result", let error = try message.optionalText("error") { return .outcome(.error(error)) }
        let value = try source("value", message, line)
        return type == "result" ? .outcome(.value(value)) : .progress(value)
    }

    private static func pageError(_ message: JSONValue) throws(Problem) -> String {
        let text = shortened(try message.text("message"))
        guard let script = try message.optionalText("source").map(shortened) else { return text }
        let number = try message.optionalNumber("line").flatMap { Int(exactly: $0) }
        return "\(script):\(number.map { "\($0):" } ?? "") \(text)"
    }

    /// The text, cut to 1024 bytes.
    private static func shortened(_ text: String) -> String {
        guard text.utf8.count > longestText else { return text }
        var length = 0
        return text.prefix { character in
            length += character.utf8.count
            return length <= longestText - 3
        } + "…"
    }

    // MARK: - JSON text

    /// The members with these keys as they were received, with commas between them.
    private static func members(
        _ keys: [String], _ message: JSONValue, _ line: [UInt8], missing: String = "null"
    ) throws(Problem) -> String {
        var members: [String] = []
        for key in keys { members.append("\"\(key)\":\(try source(key, message, line, missing: missing))") }
        return members.joined(separator: ",")
    }

    /// The value of a member as it was received, on one line.
    private static func source(_ key: String, _ message: JSONValue, _ line: [UInt8], missing: String = "null") throws(Problem) -> String {
        let given = (message.members ?? []).filter { $0.key == key }
        guard given.count <= 1 else { throw Problem("\"\(key)\" is given twice") }
        guard let member = given.first else { return missing }
        // In JSON, line breaks are only between tokens.
        let isBreak = { (byte: UInt8) in byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") }
        return String(decoding: line[member.source].lazy.map { isBreak($0) ? UInt8(ascii: " ") : $0 }, as: UTF8.self)
    }
}
