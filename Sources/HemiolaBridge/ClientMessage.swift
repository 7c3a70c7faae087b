internal import FoundationEssentials
package import HemiolaSignal
internal import HemiolaWire

/// What a client may send, typed.
package struct ClientMessage: Sendable, Hashable {
    /// What it is about.
    package enum Body: Sendable, Hashable {
        /// A wish, or what a visualizer reports.
        case control(Control)
        /// What the client wants to get; nil: as it was.
        case subscribe(streams: [String]?, payload: String?)
        /// How things stand.
        case status
        /// The visualizer is gone.
        case close
    }

    /// By which the client knows the answer.
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

    /// Why a line is no message.
    package struct Fault: Error, Sendable, Hashable {
        /// In words.
        package var text: String
        /// Of the message, where as much could be read.
        package var id: ID?
    }

    package var id: ID?
    package var body: Body

    init(id: ID?, body: Body) {
        self.id = id
        self.body = body
    }

    /// The types of all messages, by their names.
    package static let names = ["subscribe", "status", "closeViz"] + ControlFields.controlNames

    /// Bytes that an id may have: it is sent back.
    private static let longestID = 256
    /// Bytes that any other text may have.
    package static let longestText = 1024
    /// Texts that a list may have.
    package static let longestList = 10_000

    /// Reads a line. Whatever the bytes are, it ends with a message or a fault.
    ///
    /// - Complexity: O(bytes).
    package init(_ line: [UInt8]) throws(Fault) {
        // The parser would take other encodings for what is no UTF-8.
        guard String(validating: line, as: UTF8.self) != nil else { throw Fault(text: "this is no UTF-8") }
        guard StrictJSON.isValid(line) else { throw Fault(text: "this is no JSON") }
        let fields: MessageFields
        do {
            fields = try JSONDecoder().decode(MessageFields.self, from: Data(line))
        } catch let error as DecodingError {
            throw Fault(text: Self.text(error), id: Self.id(in: line))
        } catch {
            throw Fault(text: "this is no JSON object")
        }
        if case .text(let text)? = fields.id, text.utf8.count > Self.longestID {
            throw Fault(text: "an id has \(Self.longestID) bytes at most")
        }
        id = fields.id
        if let excess = fields.excess { throw Fault(text: excess, id: fields.id) }
        do throws(ControlFault) {
            body = try fields.body()
        } catch {
            throw Fault(text: error.message, id: fields.id)
        }
    }

    /// A message that is well-formed but for a field can be answered.
    private static func id(in line: [UInt8]) -> ID? {
        guard let id = try? JSONDecoder().decode(IDOnly.self, from: Data(line)).id else { return nil }
        if case .text(let text) = id, text.utf8.count > longestID { return nil }
        return id
    }

    private static func text(_ error: DecodingError) -> String {
        switch error {
        case .keyNotFound(let key, _): "the message has no \"\(key.stringValue)\""
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            context.codingPath.isEmpty ? "this is no JSON object" : "\"\(path(context.codingPath))\" has another type"
        // A number that is out of range ends here too.
        case .dataCorrupted(let context):
            context.codingPath.isEmpty ? "this is no JSON" : "\"\(path(context.codingPath))\" cannot be read"
        @unknown default: "this is no JSON"
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

    /// What is longer than the limits; nil when nothing is.
    var excess: String? {
        let texts: [(key: String, text: String?)] = [
            ("type", type), ("payload", payload), ("name", fields.name), ("key", fields.key), ("event", fields.event),
        ]
        for (key, text) in texts where text.map({ $0.utf8.count > ClientMessage.longestText }) == true {
            return "\"\(key)\" has \(ClientMessage.longestText) bytes at most"
        }
        for (key, list) in [("streams", streams), ("presets", fields.presets), ("names", fields.names)] {
            guard let list else { continue }
            if list.count > ClientMessage.longestList { return "\"\(key)\" has \(ClientMessage.longestList) names at most" }
            if list.contains(where: { $0.utf8.count > ClientMessage.longestText }) {
                return "a name in \"\(key)\" has \(ClientMessage.longestText) bytes at most"
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
            // A page that does not say what it has is asked.
            return .control(.ready(presets: fields.presets ?? []))
        case "keyHandler":
            var fields = fields
            if fields.note == nil { fields.note = fields.key.flatMap(KeyStroke.note) }
            return .control(try fields.control(type))
        default:
            guard ClientMessage.names.contains(type) else {
                throw ControlFault(message: "there is no message of type \"\(type.prefix(64))\"")
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
