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
    /// What the window does.
    public var action: Action

    /// A request.
    public init(call: Int, action: Action) {
        self.call = call
        self.action = action
    }

    /// The answer with the result.
    ///
    /// - Parameter value: nil: the request has no result.
    /// - Returns: A line, with its newline.
    public func result(_ value: String? = nil) -> String {
        Self.line(["type": .text("result"), "call": .number(call), "value": value.map { .text($0) } ?? .null])
    }

    /// The answer with the reason why the request has failed.
    ///
    /// - Returns: A line, with its newline.
    public func failure(_ reason: String) -> String {
        Self.failure(call: call, reason)
    }

    /// The answer to a request that is not valid.
    ///
    /// - Returns: A line, with its newline.
    public static func failure(call: Int, _ reason: String) -> String {
        line(["type": .text("result"), "call": .number(call), "error": .text(reason)])
    }

    private enum Member: Encodable {
        case text(String)
        case number(Int)
        case null

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .text(let text): try container.encode(text)
            case .number(let number): try container.encode(number)
            case .null: try container.encodeNil()
            }
        }
    }

    private static func line(_ members: [String: Member]) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Texts, whole numbers and null can always be encoded.
        let json = (try? encoder.encode(members)) ?? Data()
        return String(decoding: json, as: UTF8.self) + "\n"
    }
}

/// A message to the window's control connection.
public enum WindowMessage: Sendable, Hashable {
    /// The tabs have changed.
    case tabs(TabDirective)
    /// A list of tabs that is not valid, and the reason.
    case invalidTabs(String)
    /// A request.
    case request(WindowRequest)
    /// A request that is not valid: to be answered with the reason.
    case invalidRequest(call: Int, reason: String)
    /// Nothing waits any more for the answer to a request.
    case cancel(call: Int)
    /// The server has refused the connection or a message.
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
                if let flag = try? value.decode(Bool.self) {
                    self = .boolean(flag)
                } else if let text = try? value.decode(String.self) {
                    self = .text(text)
                } else {
                    self = .other
                }
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
        guard let fields = try? JSONDecoder().decode(Fields.self, from: line) else {
            self = .other
            return
        }
        switch fields.type {
        case "tabs":
            do throws(TabDirective.Fault) {
                self = .tabs(try TabDirective(json: line))
            } catch {
                self = .invalidTabs(error.message)
            }
        case "window":
            guard let call = fields.call else {
                self = .other
                return
            }
            if let action = Self.action(fields.action, fields.value) {
                self = .request(WindowRequest(call: call, action: action))
            } else {
                self = .invalidRequest(call: call, reason: "the window does not support this request")
            }
        case "cancel": self = fields.call.map { .cancel(call: $0) } ?? .other
        case "error": self = .error(fields.error ?? "refused")
        case "reply" where fields.ok == false: self = .error(fields.error ?? "refused")
        default: self = .other
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
