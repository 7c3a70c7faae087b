internal import FoundationEssentials
public import HemiolaSignal
internal import HemiolaVisualizer
internal import HemiolaWire

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

    /// Why a line is not a valid message.
    public struct Fault: Error, Sendable, Hashable {
        /// The error message.
        public var text: String
        /// The id of the message, if it could be read.
        public var id: ID?
    }

    /// The identifier of the request; nil: the client expects no reply.
    public var id: ID?
    /// The type of the message and its fields.
    public var body: Body

    init(id: ID?, body: Body) {
        self.id = id
        self.body = body
    }

    /// Maximum length of an id in bytes.
    private static let longestID = 256
    /// Maximum length of any other text in bytes.
    public static let longestText = 1024
    /// Maximum number of items in a list.
    public static let longestList = 10_000

    /// Parses a line.
    ///
    /// - Parameters:
    ///   - line: Any bytes, without the newline.
    ///   - catalog: The controls that the program declares.
    /// - Throws: The error message of a line that is not a valid message.
    /// - Complexity: O(bytes).
    public init(_ line: [UInt8], _ catalog: RecordCatalog) throws(Fault) {
        // Without this check the JSON parser would try other encodings.
        guard String(validating: line, as: UTF8.self) != nil else { throw Fault(text: "invalid UTF-8") }
        guard StrictJSON.isValid(line) else { throw Fault(text: "invalid JSON") }
        let fields: MessageFields
        do {
            fields = try JSONDecoder().decode(MessageFields.self, from: Data(line), configuration: .init(catalog: catalog, line: line))
        } catch let error as DecodingError {
            throw Fault(text: Self.text(error), id: Self.id(in: line))
        } catch {
            throw Fault(text: "not a JSON object")
        }
        if case .text(let text)? = fields.id, text.utf8.count > Self.longestID {
            throw Fault(text: "\"id\" is longer than \(Self.longestID) bytes")
        }
        id = fields.id
        do throws(ControlFault) {
            body = try fields.body.get()
        } catch {
            throw Fault(text: error.message, id: fields.id)
        }
    }

    /// The id of a message whose other fields are invalid.
    private static func id(in line: [UInt8]) -> ID? {
        guard let id = try? JSONDecoder().decode(IDOnly.self, from: Data(line)).id else { return nil }
        if case .text(let text) = id, text.utf8.count > longestID { return nil }
        return id
    }

    private static func text(_ error: DecodingError) -> String {
        switch error {
        case .keyNotFound(let key, _): "missing \"\(key.stringValue)\""
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            context.codingPath.isEmpty ? "not a JSON object" : "\"\(path(context.codingPath))\" has the wrong type"
        // Also thrown for a number out of range.
        case .dataCorrupted(let context):
            context.codingPath.isEmpty ? "invalid JSON" : "\"\(path(context.codingPath))\" has an invalid value"
        @unknown default: "invalid JSON"
        }
    }

    private static func path(_ keys: [any CodingKey]) -> String {
        keys.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: ".")
    }
}

private struct IDOnly: Decodable {
    var id: ClientMessage.ID?
}

private struct MessageFields: DecodableWithConfiguration {
    var id: ClientMessage.ID?
    var body: Result<ClientMessage.Body, ControlFault>

    private enum CodingKeys: String, CodingKey {
        case type, id, streams, payload, sent
    }

    struct Configuration {
        var catalog: RecordCatalog
        /// The message, from which values of any type are copied.
        var line: [UInt8]
    }

    /// - Throws: `DecodingError` if a field has another JSON type than declared.
    init(from decoder: any Decoder, configuration: Configuration) throws {
        let message = try decoder.container(keyedBy: CodingKeys.self)
        let type = try message.decode(String.self, forKey: .type)
        id = try message.decodeIfPresent(ClientMessage.ID.self, forKey: .id)
        switch type {
        case "subscribe":
            let streams = try message.decodeIfPresent([String].self, forKey: .streams)
            let payload = try message.decodeIfPresent(String.self, forKey: .payload)
            let error = Self.error(of: .texts(streams ?? []), "streams") ?? Self.error(of: .optional(payload), "payload")
            body = error.map { .failure($0) } ?? .success(.subscribe(streams: streams, payload: payload))
        case "status":
            body = .success(.status)
        case "clock":
            body = .success(.clock(sent: try message.decode(Double.self, forKey: .sent)))
        case "closeViz":
            body = .success(.close)
        case "windowReady":
            body = .success(.windowReady)
        case "pageConnection":
            body = .success(.pageConnection)
        case "call", "import", "importData", "importReady", "result", "progress", "pageError", "tabs", "window":
            let fields = PageFields(try decoder.container(keyedBy: PageFields.Key.self), line: configuration.line)
            do {
                body = .success(try fields.body(of: type, hasID: id != nil))
            } catch let fault as ControlFault {
                body = .failure(fault)
            }
        default:
            guard let control = configuration.catalog.control(type) else {
                body = .failure(
                    Self.error(of: .text(type), "type") ?? ControlFault(message: "unknown message type \"\(type.prefix(64))\""))
                return
            }
            body = try ControlDecoder.control(control, from: decoder).flatMap(Self.checked)
        }
    }

    /// Checks the lengths of a control's values, and adds the note of a key.
    private static func checked(_ control: Control) -> Result<ClientMessage.Body, ControlFault> {
        for (field, value) in zip(control.type.fields, control.values) {
            if let error = error(of: value, field.name) { return .failure(error) }
        }
        var control = control
        if control.type == .pageMessage, !StrictJSON.isValid(Array((control["body"].string ?? "").utf8)) {
            return .failure(ControlFault(message: "\"body\" is not JSON text"))
        }
        if control.type == .keyHandler, control["note"] == .none, let key = control["key"].string {
            control["note"] = .optional(KeyStroke.note(of: key))
        }
        return .success(.control(control))
    }

    /// The error if a text or list is too long; nil if it is not.
    private static func error(of value: ParameterValue, _ key: String) -> ControlFault? {
        if let text = value.string, text.utf8.count > ClientMessage.longestText {
            return ControlFault(message: "\"\(key)\" is longer than \(ClientMessage.longestText) bytes")
        }
        guard let items = value.items else { return nil }
        if items.count > ClientMessage.longestList {
            return ControlFault(message: "\"\(key)\" has more than \(ClientMessage.longestList) items")
        }
        guard items.contains(where: { ($0.string?.utf8.count ?? 0) > ClientMessage.longestText }) else { return nil }
        return ControlFault(message: "a text in \"\(key)\" is longer than \(ClientMessage.longestText) bytes")
    }
}

extension ClientMessage.ID: Decodable {
    public init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if let number = try? value.decode(Int64.self) {
            self = .integer(number)
        } else if let number = try? value.decode(Double.self) {
            self = .number(number)
        } else {
            self = .text(try value.decode(String.self))
        }
    }
}
