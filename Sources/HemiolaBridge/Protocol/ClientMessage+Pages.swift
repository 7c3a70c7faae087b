internal import HemiolaSignal

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
    enum Key: String, CodingKey {
        case function, arguments, page, name, size, data, call, value, error, message, source, line, action, active, tabs
        case timeLimit = "timeout_s"
    }

    private let fields: KeyedDecodingContainer<Key>
    /// The whole message.
    private let line: [UInt8]

    init(_ fields: KeyedDecodingContainer<Key>, line: [UInt8]) {
        self.fields = fields
        self.line = line
    }

    /// - Throws: `ControlFault`, or `DecodingError` if a field has another JSON type.
    func body(of type: String, hasID: Bool) throws -> ClientMessage.Body {
        switch type {
        case "call":
            let function = try text(.function)
            if function.isEmpty { throw ControlFault(message: "\"function\" is empty") }
            return .request(try request(.call(function: function, arguments: try arguments())))
        case "import":
            guard hasID else { throw ControlFault(message: "an import needs an \"id\"") }
            return .request(try request(.importFile(name: try fileName(), size: try fileSize())))
        case "importData":
            guard hasID else { throw ControlFault(message: "importData needs the \"id\" of its import") }
            return .importData(try importData())
        case "tabs":
            return .tabs(
                try ClientMessage.Tabs(
                    active: try fields.decodeIfPresent(String.self, forKey: .active),
                    checking: try fields.decode([ClientMessage.Tab].self, forKey: .tabs)))
        case "window":
            return .request(try request(.window(try action())))
        case "pageError":
            return .pageError(
                ClientMessage.PageError(
                    message: Self.shortened(try fields.decode(String.self, forKey: .message)),
                    source: try fields.decodeIfPresent(String.self, forKey: .source).map(Self.shortened),
                    line: try fields.decodeIfPresent(Double.self, forKey: .line).flatMap { Int(exactly: $0) }))
        default:
            return .answer(try answer(type), call: try integer(.call))
        }
    }

    private func request(_ task: ClientMessage.PageRequest.Task) throws -> ClientMessage.PageRequest {
        let limit = try fields.decodeIfPresent(Double.self, forKey: .timeLimit) ?? ClientMessage.defaultTimeLimit
        guard limit > 0, limit <= ClientMessage.longestTimeLimit else {
            throw ControlFault(message: "\"timeout_s\" is more than 0 and at most \(Int(ClientMessage.longestTimeLimit))")
        }
        return ClientMessage.PageRequest(task: task, page: try page(), timeLimit: limit)
    }

    private func action() throws -> ClientMessage.WindowAction {
        let name = try fields.decode(String.self, forKey: .action)
        switch name {
        case "fullscreen": return .fullScreen(try fields.decodeIfPresent(Bool.self, forKey: .value))
        case "tab": return .tab(try text(.value))
        case "reload", "snapshot":
            let isNull = try !fields.contains(.value) || fields.decodeNil(forKey: .value)
            guard isNull else { throw ControlFault(message: "the action \(name) has no \"value\"") }
            return name == "reload" ? .reload : .snapshot
        default:
            throw ControlFault(message: "unknown action \"\(name.prefix(64))\"; expected fullscreen, tab, reload or snapshot")
        }
    }

    /// A page is named by a text or a number.
    private func page() throws -> String? {
        if let number = try? fields.decodeIfPresent(Int.self, forKey: .page) { return "\(number)" }
        return try fields.decodeIfPresent(String.self, forKey: .page).map { try checked($0, .page) }
    }

    private func arguments() throws -> [UInt8] {
        guard fields.contains(.arguments) else { return Array("[]".utf8) }
        guard let arguments = StrictJSON.member("arguments", of: line), arguments.first == UInt8(ascii: "[") else {
            throw ControlFault(message: "\"arguments\" is not one list")
        }
        return arguments
    }

    private func answer(_ type: String) throws -> ClientMessage.PageAnswer {
        if type == "importReady" { return .importReady }
        if type == "result", let error = try fields.decodeIfPresent(String.self, forKey: .error) { return .error(error) }
        guard fields.contains(.value) else { return type == "result" ? .value(Self.null) : .progress(Self.null) }
        guard let value = StrictJSON.member("value", of: line) else { throw ControlFault(message: "\"value\" is given twice") }
        return type == "result" ? .value(value) : .progress(value)
    }

    private static let null = Array("null".utf8)

    /// The name of a file, without folders: the page may use it as a name of its own.
    private func fileName() throws -> String {
        let name = try fields.decode(String.self, forKey: .name)
        guard name.utf8.count <= ClientMessage.longestFileName else {
            throw ControlFault(message: "\"name\" is longer than \(ClientMessage.longestFileName) bytes")
        }
        let isPath = name.unicodeScalars.contains { $0 == "/" || $0 == "\\" || $0.value < 0x20 || $0.value == 0x7F }
        guard !isPath, !["", ".", ".."].contains(name) else {
            throw ControlFault(message: "\"name\" is the name of a file, without folders and control characters")
        }
        return name
    }

    private func fileSize() throws -> Int {
        let size = try integer(.size)
        guard (0...ClientMessage.largestImport).contains(size) else {
            throw ControlFault(message: "\"size\" is a number of bytes up to \(ClientMessage.largestImport) (32 MiB)")
        }
        return size
    }

    private func importData() throws -> ClientMessage.ImportData {
        let text = try fields.decode(String.self, forKey: .data)
        guard let count = Base64.byteCount(of: text) else { throw ControlFault(message: "\"data\" is not Base64") }
        guard (1...ClientMessage.largestChunk).contains(count) else {
            throw ControlFault(message: "\"data\" has \(count) bytes; the limit is \(ClientMessage.largestChunk), and it must not be empty")
        }
        return ClientMessage.ImportData(base64: text, byteCount: count)
    }

    /// Foundation's error for a number with a fraction does not name the field.
    private func integer(_ key: Key) throws -> Int {
        let number = try fields.decode(Double.self, forKey: key)
        guard let integer = Int(exactly: number) else { throw ControlFault(message: "\"\(key.rawValue)\" is not a whole number") }
        return integer
    }

    private func text(_ key: Key) throws -> String {
        try checked(try fields.decode(String.self, forKey: key), key)
    }

    private func checked(_ text: String, _ key: Key) throws -> String {
        guard text.utf8.count <= ClientMessage.longestText else {
            throw ControlFault(message: "\"\(key.rawValue)\" is longer than \(ClientMessage.longestText) bytes")
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
