internal import FoundationEssentials
package import HemiolaSignal
internal import HemiolaWire

/// A message from a client.
package struct ClientMessage: Sendable, Hashable {
    /// The type of the message and its fields.
    package enum Body: Sendable, Hashable {
        /// A control, or the report of a visualizer.
        case control(Control)
        /// Changes the subscription; nil: unchanged.
        case subscribe(streams: [String]?, payload: String?)
        /// Requests a `status` message.
        case status
        /// The visualizer has closed.
        case close
    }

    /// The client's identifier of a request. The reply repeats it.
    package enum ID: Sendable, Hashable {
        case text(String)
        case integer(Int64)
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
    package struct Fault: Error, Sendable, Hashable {
        /// The error message.
        package var text: String
        /// The id of the message, if it could be read.
        package var id: ID?
    }

    package var id: ID?
    package var body: Body

    init(id: ID?, body: Body) {
        self.id = id
        self.body = body
    }

    /// The `type` of every message.
    package static let names = ["subscribe", "status", "closeViz"] + ControlFields.controlNames

    /// Maximum length of an id in bytes.
    private static let longestID = 256
    /// Maximum length of any other text in bytes.
    package static let longestText = 1024
    /// Maximum number of texts in a list.
    package static let longestList = 10_000

    /// Parses a line, which may hold any bytes.
    ///
    /// - Complexity: O(bytes).
    package init(_ line: [UInt8]) throws(Fault) {
        // Without this check the JSON parser would try other encodings.
        guard String(validating: line, as: UTF8.self) != nil else { throw Fault(text: "invalid UTF-8") }
        guard StrictJSON.isValid(line) else { throw Fault(text: "invalid JSON") }
        let fields: MessageFields
        do {
            fields = try JSONDecoder().decode(MessageFields.self, from: Data(line))
        } catch let error as DecodingError {
            throw Fault(text: Self.text(error), id: Self.id(in: line))
        } catch {
            throw Fault(text: "not a JSON object")
        }
        if case .text(let text)? = fields.id, text.utf8.count > Self.longestID {
            throw Fault(text: "\"id\" is longer than \(Self.longestID) bytes")
        }
        id = fields.id
        if let excess = fields.excess { throw Fault(text: excess, id: fields.id) }
        do throws(ControlFault) {
            body = try fields.body()
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

private struct MessageFields: Decodable {
    var type: String
    var id: ClientMessage.ID?
    var streams: [String]?
    var payload: String?
    var fields: ControlFields

    private enum CodingKeys: String, CodingKey {
        case type, id, streams, payload
    }

    init(from decoder: any Decoder) throws {
        let message = try decoder.container(keyedBy: CodingKeys.self)
        type = try message.decode(String.self, forKey: .type)
        id = try message.decodeIfPresent(ClientMessage.ID.self, forKey: .id)
        streams = try message.decodeIfPresent([String].self, forKey: .streams)
        payload = try message.decodeIfPresent(String.self, forKey: .payload)
        fields = try ControlFields(from: decoder)
    }

    /// The error if a text or list is too long; nil if none is.
    var excess: String? {
        let texts: [(key: String, text: String?)] = [
            ("type", type), ("payload", payload), ("name", fields.name), ("key", fields.key), ("event", fields.event),
        ]
        for (key, text) in texts where text.map({ $0.utf8.count > ClientMessage.longestText }) == true {
            return "\"\(key)\" is longer than \(ClientMessage.longestText) bytes"
        }
        for (key, list) in [("streams", streams), ("presets", fields.presets), ("names", fields.names)] {
            guard let list else { continue }
            if list.count > ClientMessage.longestList { return "\"\(key)\" has more than \(ClientMessage.longestList) names" }
            if list.contains(where: { $0.utf8.count > ClientMessage.longestText }) {
                return "a name in \"\(key)\" is longer than \(ClientMessage.longestText) bytes"
            }
        }
        return nil
    }

    func body() throws(ControlFault) -> ClientMessage.Body {
        switch type {
        case "subscribe":
            return .subscribe(streams: streams, payload: payload)
        case "status":
            return .status
        case "closeViz":
            return .close
        case "ready":
            // Without `presets` the page is sent `getPresetNames`.
            return .control(.ready(presets: fields.presets ?? []))
        case "keyHandler":
            var fields = fields
            if fields.note == nil { fields.note = fields.key.flatMap(KeyStroke.note) }
            return .control(try fields.control(type))
        default:
            guard ClientMessage.names.contains(type) else {
                throw ControlFault(message: "unknown message type \"\(type.prefix(64))\"")
            }
            return .control(try fields.control(type))
        }
    }
}

extension ClientMessage.ID: Decodable {
    package init(from decoder: any Decoder) throws {
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
