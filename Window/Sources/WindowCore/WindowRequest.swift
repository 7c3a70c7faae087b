public import FoundationEssentials

/// A request to the window: `{"type":"window","call":7,"action":"fullscreen","value":true}`.
public struct WindowRequest: Sendable, Hashable {
    /// What the window does.
    public enum Action: Sendable, Hashable {
        /// Fills the screen or not; nil: changes between the two.
        case fullScreen(Bool?)
        /// Makes the tab with this id or title visible.
        case tab(String)
        /// Loads the visible page again.
        case reload
        /// Writes a picture of the visible page; the answer is the path of the PNG file.
        case snapshot
    }

    /// The number of the request, which the answer repeats.
    public var call: Int
    /// What the window does; nil: it does not support the request.
    public var action: Action?

    /// A request.
    public init(call: Int, action: Action?) {
        self.call = call
        self.action = action
    }

    /// The line that answers the request with its result.
    ///
    /// - Parameter value: nil: the request has no result.
    public func result(_ value: String? = nil) -> String {
        #"{"type":"result","call":\#(call),"value":\#(value.map(Self.quoted) ?? "null")}"#
    }

    /// The line that answers the request with the reason why it has failed.
    public func failure(_ reason: String) -> String {
        Self.failure(call: call, reason)
    }

    /// The line that answers the request of that number with the reason why it has failed.
    public static func failure(call: Int, _ reason: String) -> String {
        #"{"type":"result","call":\#(call),"error":\#(quoted(reason))}"#
    }

    /// A text as a string of JSON. All texts can be encoded.
    private static func quoted(_ text: String) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        return (try? encoder.encode(text)).map { String(decoding: $0, as: UTF8.self) } ?? "null"
    }
}

/// A message to the window's control connection.
public enum WindowMessage: Sendable, Hashable {
    /// The tabs have changed.
    case tabs(TabDirective)
    /// A request.
    case request(WindowRequest)
    /// The server has refused the connection or a message, or has sent one that cannot be read.
    case error(String)
    /// Any other message.
    case other

    /// The lines that make a connection the control connection of a window: it gets no samples.
    public static let greeting = [
        #"{"type":"subscribe","streams":[],"payload":"json"}"#, #"{"type":"windowReady","id":1}"#,
    ]

    private struct Fields: Decodable {
        enum Value: Decodable {
            case boolean(Bool)
            case text(String)
            case other

            init(from decoder: any Decoder) throws {
                let value = try decoder.singleValueContainer()
                self = (try? .boolean(value.decode(Bool.self))) ?? (try? .text(value.decode(String.self))) ?? .other
            }
        }

        var type: String
        var call: Int?
        var action: String?
        var value: Value?
        var ok: Bool?
        var error: String?
    }

    /// Parses a line.
    ///
    /// - Parameter line: Without the newline.
    /// - Complexity: O(bytes).
    public init(_ line: Data) {
        let fields = try? JSONDecoder().decode(Fields.self, from: line)
        self = .other
        switch (fields?.type, fields?.call) {
        case ("tabs", _):
            self = (try? JSONDecoder().decode(TabDirective.self, from: line)).map { .tabs($0) } ?? .error("the list of tabs is not valid")
        case ("window", let call?):
            self = .request(WindowRequest(call: call, action: Self.action(fields?.action, fields?.value)))
        case ("error", _): self = .error(fields?.error ?? "refused")
        case ("reply", _) where fields?.ok == false: self = .error(fields?.error ?? "refused")
        default: break
        }
    }

    private static func action(_ name: String?, _ value: Fields.Value?) -> WindowRequest.Action? {
        switch (name, value) {
        case ("fullscreen", nil): .fullScreen(nil)
        case ("fullscreen", .boolean(let flag)?): .fullScreen(flag)
        case ("tab", .text(let name)?): .tab(name)
        case ("reload", nil): .reload
        case ("snapshot", nil): .snapshot
        default: nil
        }
    }
}
