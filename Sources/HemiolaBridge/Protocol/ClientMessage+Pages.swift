internal import HemiolaRecords
internal import HemiolaSystem

// The messages of calls, imports and page errors.

extension ClientMessage {
    /// Requests a page to call a function or to import a file, or a window to do something.
    public struct PageRequest: Sendable, Hashable {
        /// What the page or the window does.
        public enum Task: Sendable, Hashable {
            /// Calls `window.function(…arguments)`. The arguments are the JSON text of an array.
            case call(function: String, arguments: [UInt8])
            /// Calls `window.importFile(name, base64)` with a file of `size` bytes, which follow as ``ClientMessage/Body/importData(_:)``.
            case importFile(name: String, size: Int)
            /// Requests an action of the window that was the last to send `windowReady`.
            case window(WindowAction)
        }

        /// What the page or the window does.
        public var task: Task
        /// The name or number of the page; nil: the page that was the last to send `ready`.
        public var page: String?
        /// Seconds until the request fails, above 0 up to 600.
        public var timeLimit: Double
    }

    /// The next bytes of a file to import.
    public struct ImportData: Sendable, Hashable {
        /// Valid Base64.
        public var base64: String
        /// The number of bytes that it encodes, 1…65 536.
        public var byteCount: Int
    }

    /// The answer of a page to a call.
    public enum PageAnswer: Sendable, Hashable {
        /// The function returned this value, as JSON text.
        case value([UInt8])
        /// The function failed.
        case error(String)
        /// The state of the work so far, as JSON text.
        case progress([UInt8])
        /// The page can receive the next bytes of the file.
        case importReady
    }

    /// An error in a page's scripts.
    public struct PageError: Sendable, Hashable {
        /// The error, at most 1024 bytes of it.
        public var message: String
        /// The script, at most 1024 bytes of its name.
        public var source: String?
        /// The line in the script.
        public var line: Int?
    }

    /// Seconds until a request fails, unless it says otherwise.
    static let defaultTimeLimit = 30.0
    /// Maximum time limit in seconds.
    static let longestTimeLimit = 600.0
    /// Maximum number of bytes of an imported file.
    public static let largestImport = 32 << 20
    /// Maximum number of bytes in one `importData` message.
    public static let largestChunk = 64 << 10
    /// Maximum length of the name of an imported file, in bytes.
    public static let longestFileName = 255
}

/// Reads the fields of these messages.
struct PageFields {
    private let message: JSONValue
    /// The bytes of the message.
    private let line: [UInt8]

    init(_ message: JSONValue, line: [UInt8]) {
        self.message = message
        self.line = line
    }

    func body(of type: String, hasID: Bool) throws(Problem) -> ClientMessage.Body {
        switch type {
        case "call":
            let function = try text("function")
            if function.isEmpty { throw Problem("\"function\" is empty") }
            return .request(try request(.call(function: function, arguments: try arguments())))
        case "import":
            guard hasID else { throw Problem("an import needs an \"id\"") }
            return .request(try request(.importFile(name: try fileName(), size: try fileSize())))
        case "importData":
            guard hasID else { throw Problem("importData needs the \"id\" of its import") }
            return .importData(try importData())
        case "tabs":
            var tabs: [ClientMessage.Tab] = []
            let active = try message.optionalText("active")
            for tab in try message.objects("tabs") { tabs.append(try ClientMessage.Tab(tab)) }
            return .tabs(try ClientMessage.Tabs(active: active, checking: tabs))
        case "window":
            return .request(try request(.window(try action())))
        case "pageError":
            return .pageError(
                ClientMessage.PageError(
                    message: Self.shortened(try message.text("message")), source: try message.optionalText("source").map(Self.shortened),
                    line: try message.optionalNumber("line").flatMap { Int(exactly: $0) }))
        default:
            return .answer(try answer(type), call: try message.integer("call"))
        }
    }

    private func request(_ task: ClientMessage.PageRequest.Task) throws(Problem) -> ClientMessage.PageRequest {
        let limit = try message.optionalNumber("timeout_s") ?? ClientMessage.defaultTimeLimit
        guard limit > 0, limit <= ClientMessage.longestTimeLimit else {
            throw Problem("\"timeout_s\" is more than 0 and at most \(Int(ClientMessage.longestTimeLimit))")
        }
        return ClientMessage.PageRequest(task: task, page: try page(), timeLimit: limit)
    }

    private func action() throws(Problem) -> ClientMessage.WindowAction {
        let name = try message.text("action")
        switch name {
        case "fullscreen": return .fullScreen(try message.optionalFlag("value"))
        case "tab": return .tab(try text("value"))
        case "reload", "snapshot":
            if message.has("value") { throw Problem("the action \(name) has no \"value\"") }
            return name == "reload" ? .reload : .snapshot
        default:
            throw Problem("unknown action \"\(name.prefix(64))\"; expected fullscreen, tab, reload or snapshot")
        }
    }

    /// A page is named by a text or a number.
    private func page() throws(Problem) -> String? {
        if let number = message["page"]?.integer { return "\(number)" }
        return message.has("page") ? try text("page") : nil
    }

    private func arguments() throws(Problem) -> [UInt8] {
        guard message["arguments"] != nil else { return Array("[]".utf8) }
        guard message["arguments"]?.elements != nil else { throw Problem("\"arguments\" is not a list") }
        return try source(of: "arguments")
    }

    private func answer(_ type: String) throws(Problem) -> ClientMessage.PageAnswer {
        if type == "importReady" { return .importReady }
        if type == "result", let error = try message.optionalText("error") { return .error(error) }
        let value = message["value"] == nil ? Array("null".utf8) : try source(of: "value")
        return type == "result" ? .value(value) : .progress(value)
    }

    /// The JSON text of a member as it was received, on one line.
    private func source(of key: String) throws(Problem) -> [UInt8] {
        let given = (message.members ?? []).filter { $0.key == key }
        guard given.count == 1 else { throw Problem("\"\(key)\" is given twice") }
        var text = Array(line[given[0].source])
        // In JSON, line breaks are only between tokens.
        for index in text.indices where text[index] == UInt8(ascii: "\n") || text[index] == UInt8(ascii: "\r") {
            text[index] = UInt8(ascii: " ")
        }
        return text
    }

    /// The name of a file, without folders: the page may use it as a name of its own.
    private func fileName() throws(Problem) -> String {
        let name = try message.text("name")
        guard name.utf8.count <= ClientMessage.longestFileName else {
            throw Problem("\"name\" is longer than \(ClientMessage.longestFileName) bytes")
        }
        let isPath = name.unicodeScalars.contains { $0 == "/" || $0 == "\\" || $0.value < 0x20 || $0.value == 0x7F }
        guard !isPath, !["", ".", ".."].contains(name) else {
            throw Problem("\"name\" is the name of a file, without folders and control characters")
        }
        return name
    }

    private func fileSize() throws(Problem) -> Int {
        let size = try message.integer("size")
        guard (0...ClientMessage.largestImport).contains(size) else {
            throw Problem("\"size\" is a number of bytes up to \(ClientMessage.largestImport) (32 MiB)")
        }
        return size
    }

    private func importData() throws(Problem) -> ClientMessage.ImportData {
        let text = try message.text("data")
        guard let count = Base64.byteCount(of: text) else { throw Problem("\"data\" is not Base64") }
        guard (1...ClientMessage.largestChunk).contains(count) else {
            throw Problem("\"data\" has \(count) bytes; the limit is \(ClientMessage.largestChunk), and it must not be empty")
        }
        return ClientMessage.ImportData(base64: text, byteCount: count)
    }

    private func text(_ key: String) throws(Problem) -> String {
        let text = try message.text(key)
        guard text.utf8.count <= ClientMessage.longestText else {
            throw Problem("\"\(key)\" is longer than \(ClientMessage.longestText) bytes")
        }
        return text
    }

    /// The text, cut to 1024 bytes.
    private static func shortened(_ text: String) -> String {
        guard text.utf8.count > ClientMessage.longestText else { return text }
        var length = 0
        return text.prefix { character in
            length += character.utf8.count
            return length <= ClientMessage.longestText - 3
        } + "…"
    }
}

private enum Base64 {
    /// The number of bytes that a text encodes; nil if it is not Base64 with padding (RFC 4648, section 4).
    static func byteCount(of text: String) -> Int? {
        var (count, padding) = (0, 0)
        for byte in text.utf8 {
            count += 1
            if byte == UInt8(ascii: "=") {
                padding += 1
            } else if padding > 0 || !isDigit(byte) {
                return nil
            }
        }
        return count % 4 == 0 && padding <= 2 ? count / 4 * 3 - padding : nil
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "+"), UInt8(ascii: "/"):
            true
        default: false
        }
    }
}
