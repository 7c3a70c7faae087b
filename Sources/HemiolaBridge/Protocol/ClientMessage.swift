public import HemiolaRecords
internal import HemiolaSystem

/// A message from a client.
public struct ClientMessage: Sendable, Hashable {
    /// The type of the message and its fields.
    public enum Body: Sendable, Hashable {
        /// A control, or the report of a visualizer.
        case control(Control)
        /// Changes the subscription; nil: unchanged.
        case subscribe(streams: [String]?, payload: String?)
        /// Requests a `status` message.
        case status
        /// Requests the host's clock; the client's own time is returned with it.
        case clock(sent: Double)
        /// The visualizer has closed.
        case close
        /// Requests a page to call a function or to import a file, or a window to do something.
        case request(PageRequest)
        /// The client is a window, and can receive tabs and requests.
        case windowReady
        /// What follows is from a page, in a window that connects for it: messages of windows are refused from then on.
        case pageConnection
        /// Sets the tabs of all windows.
        case tabs(Tabs)
        /// The next bytes of a file to import.
        case importData(ImportData)
        /// The answer of a page to the call of that number.
        case answer(PageAnswer, call: Int)
        /// An error in the page's scripts.
        case pageError(PageError)
        /// No message: the reason.
        case invalid(String)
    }

    /// The client's identifier of a request. The reply repeats it.
    public enum ID: Sendable, Hashable {
        /// A JSON string of at most 256 bytes.
        case text(String)
        /// A JSON number without fraction.
        case integer(Int64)
        /// Any other JSON number.
        case number(Double)

        func append(to buffer: inout JSONBuffer) {
            switch self {
            case .text(let text): buffer.append(string: text)
            case .integer(let number): buffer.append(integer: number)
            case .number(let number): buffer.append(bytes: Array(number.description.utf8))
            }
        }
    }

    /// The identifier of the request; nil: the client expects no reply, or it cannot be read.
    public var id: ID?
    /// The type of the message and its fields.
    public var body: Body

    init(id: ID?, body: Body) {
        self.id = id
        self.body = body
    }

    /// Maximum length of an id in bytes.
    fileprivate static let longestID = 256
    /// Maximum length of any other text in bytes.
    public static let longestText = 1024
    /// Maximum number of items in a list.
    public static let longestList = 10_000

    /// Parses a line. One that is no message is ``Body/invalid(_:)``, with the id that it has nevertheless.
    ///
    /// - Parameters:
    ///   - line: Any bytes, without the newline.
    ///   - catalog: The controls that the program declares.
    /// - Complexity: O(bytes).
    public init(_ line: [UInt8], _ catalog: RecordCatalog) {
        do throws(Problem) {
            let message = try JSONValue(message: line)
            // First, so that a message with any other invalid member has the id.
            if message.has("id") { id = try ID(message) }
            body = try Self.body(of: try message.text("type"), message, line, hasID: id != nil, catalog)
        } catch {
            body = .invalid(error.message)
        }
    }

    private static func body(
        of type: String, _ message: JSONValue, _ line: [UInt8], hasID: Bool, _ catalog: RecordCatalog
    ) throws(Problem) -> Body {
        switch type {
        case "subscribe":
            let streams = message.has("streams") ? try message.texts("streams") : nil
            let payload = try message.optionalText("payload")
            try check(.texts(streams ?? []), "streams")
            try check(.optional(payload), "payload")
            return .subscribe(streams: streams, payload: payload)
        case "status": return .status
        case "clock": return .clock(sent: try message.number("sent"))
        case "closeViz": return .close
        case "windowReady": return .windowReady
        case "pageConnection": return .pageConnection
        case "call", "import", "importData", "importReady", "result", "progress", "pageError", "tabs", "window":
            return try PageFields(message, line: line).body(of: type, hasID: hasID)
        default:
            guard let declared = catalog.control(type) else {
                try check(.text(type), "type")
                throw Problem("unknown message type \"\(type.prefix(64))\"")
            }
            return .control(try checked(Control(declared, from: message)))
        }
    }

    /// Checks the lengths of a control's values, and adds the note of a key.
    private static func checked(_ control: Control) throws(Problem) -> Control {
        for (field, value) in zip(control.type.fields, control.values) { try check(value, field.name) }
        if control.type == .pageMessage, (try? JSONValue(message: Array((control["body"].string ?? "").utf8))) == nil {
            throw Problem("\"body\" is not JSON text")
        }
        var control = control
        if control.type == .keyHandler, control["note"] == .none, let key = control["key"].string {
            control["note"] = .optional(KeyStroke.note(of: key))
        }
        return control
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
}

extension ClientMessage.ID {
    /// The member `id` of a message.
    fileprivate init(_ message: JSONValue) throws(Problem) {
        if let number = message["id"]?.integer {
            self = .integer(Int64(number))
        } else if let number = message["id"]?.double {
            self = .number(number)
        } else {
            guard let text = message["id"]?.string else { throw Problem("\"id\" is not a text or a number") }
            guard text.utf8.count <= ClientMessage.longestID else {
                throw Problem("\"id\" is longer than \(ClientMessage.longestID) bytes")
            }
            self = .text(text)
        }
    }
}
