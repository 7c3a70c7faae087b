internal import HemiolaRecords
internal import NIOCore

/// What has become of a request.
enum Outcome: Sendable, Hashable {
    /// A control or a change of the connection has taken effect.
    case done
    /// The value that a page or a window has answered, as JSON text.
    case value(String)
    /// The reason why it has failed.
    case error(String)
}

// Messages from Hemiola, as lines. Values of pages, windows and clients are written as they were received.
extension ByteBuffer {
    static let resumeAudio = ByteBuffer(string: "{\"type\":\"resumeAudio\"}\n")

    /// - Parameter id: The identifier of the request, as JSON text.
    static func reply(to id: String, _ outcome: Outcome) -> ByteBuffer {
        let members =
            switch outcome {
            case .done: #""ok":true,"error":null"#
            case .value(let value): #""ok":true,"error":null,"value":\#(value)"#
            case .error(let text): #""ok":false,"error":\#(JSONValue.quoted(text))"#
            }
        return line("reply", #""id":\#(id),\#(members)"#)
    }

    /// - Parameter count: The number of the client's errors so far, this one included.
    static func error(_ text: String, count: Int) -> ByteBuffer {
        line("error", #""error":\#(JSONValue.quoted(text)),"count":\#(count)"#)
    }

    /// A message of this type.
    ///
    /// - Parameter members: Its other members as JSON text.
    static func line(_ type: String, _ members: String) -> ByteBuffer {
        ByteBuffer(string: "{\"type\":\"\(type)\",\(members)}\n")
    }

    /// The `clock` message.
    ///
    /// - Parameters:
    ///   - sent: The client's own time, which is returned unchanged.
    ///   - now: The host's monotonic clock in seconds.
    static func clock(sent: Double, now: Double) -> ByteBuffer {
        json { buffer in
            buffer.append(#"{"type":"clock","sent":"#)
            buffer.append(.number(sent))
            buffer.append(#","host_ms":"#)
            buffer.append(fixed: now * 1000, decimals: 3)
            buffer.append("}\n")
        }
    }

    /// What a closure writes.
    static func json(_ write: (inout JSONBuffer) -> Void) -> ByteBuffer {
        var buffer = JSONBuffer(capacity: 4096)
        write(&buffer)
        return buffer.bytes
    }
}
