internal import HemiolaRecords
internal import HemiolaVisualizer
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
    static let getPresetNames = ByteBuffer(string: "{\"type\":\"getPresetNames\"}\n")

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
}

extension JSONBuffer {
    /// The message that loads a preset.
    ///
    /// - Parameter blend: Duration of the transition in seconds; 0: hard cut.
    mutating func appendLoadPreset(_ name: String, blend: Double) {
        append(#"{"type":"loadPresetByName","name":"#)
        append(string: name)
        append(#","blend_s":"#)
        append(fixed: blend, decimals: 6)
        append("}\n")
    }

    /// The message that sets the speed.
    mutating func appendSetSpeed(_ speed: Double) {
        append(#"{"type":"setSpeed","speed":"#)
        append(significant: speed)
        append("}\n")
    }

    /// The `clock` message.
    ///
    /// - Parameters:
    ///   - sent: The client's own time, which is returned unchanged.
    ///   - now: The host's monotonic clock in seconds.
    mutating func appendClock(sent: Double, now: Double) {
        append(#"{"type":"clock","sent":"#)
        append(bytes: Array(sent.description.utf8))
        append(#","host_ms":"#)
        append(fixed: now * 1000, decimals: 3)
        append("}\n")
    }

    /// The `status` message.
    ///
    /// - Parameters:
    ///   - time: Stream time in seconds.
    ///   - source: The name of the stream's source; nil before the first stream.
    ///   - pages: Number of pages that have sent `ready`.
    mutating func appendStatus(_ state: VisualizerState, at time: Double, source: String?, pages: Int) {
        append(#"{"type":"status","#)
        appendMembers(of: state, at: time)
        append(#","bpm":"#)
        append(fixed: state.tempo(at: time) ?? .nan, decimals: 2)
        append(#","source":"#)
        appendText(source)
        append(#","device":"#)
        if let device = state.device {
            append(#"{"name":"#)
            append(string: device.name)
            append(#","description":"#)
            append(string: device.summary)
            append(#","state":"#)
            append(string: device.state.rawValue)
            append("}")
        } else {
            append("null")
        }
        append(#","pages":"#)
        append(integer: pages)
        append("}\n")
    }

    /// The members `preset`, `speed`, `cycling`, `next_in_s` and `favourites` at a stream time. Unknown values are null.
    mutating func appendMembers(of state: VisualizerState, at time: Double) {
        append(#""preset":"#)
        appendText(state.preset)
        append(#","speed":"#)
        append(significant: state.speed ?? .nan)
        append(#","cycling":"#)
        append(state.isCycling.map { $0 ? "true" : "false" } ?? "null")
        append(#","next_in_s":"#)
        append(fixed: state.nextIn(from: time) ?? .nan, decimals: 6)
        append(#","favourites":"#)
        append(JSONValue.list(state.favourites.map { .text($0) }))
    }

    /// A string, or null.
    mutating func appendText(_ text: String?) {
        if let text { append(string: text) } else { append("null") }
    }
}
