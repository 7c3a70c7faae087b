internal import HemiolaRecords
internal import NIOCore

// The messages of calls, imports and windows, as Hemiola sends them.

extension PageCalls {
    static func callLine(_ number: Int, _ function: String, _ arguments: [UInt8]) -> ByteBuffer {
        line(arguments.count + function.utf8.count) {
            $0.append(#"{"type":"call","call":"#)
            $0.append(integer: number)
            $0.append(#","function":"#)
            $0.append(string: function)
            $0.append(#","arguments":"#)
            $0.append(bytes: arguments)
        }
    }

    static func importLine(_ number: Int, name: String, size: Int) -> ByteBuffer {
        line(name.utf8.count) {
            $0.append(#"{"type":"import","call":"#)
            $0.append(integer: number)
            $0.append(#","name":"#)
            $0.append(string: name)
            $0.append(#","size":"#)
            $0.append(integer: size)
        }
    }

    static func dataLine(_ number: Int, _ data: ClientMessage.ImportData) -> ByteBuffer {
        line(data.base64.utf8.count) {
            $0.append(#"{"type":"importData","call":"#)
            $0.append(integer: number)
            $0.append(#","data":""#)
            $0.append(bytes: Array(data.base64.utf8))
            $0.append("\"")
        }
    }

    static func windowLine(_ number: Int, _ action: ClientMessage.WindowAction) -> ByteBuffer {
        line(ClientMessage.longestText) {
            $0.append(#"{"type":"window","call":"#)
            $0.append(integer: number)
            $0.append(#","action":"#)
            $0.append(string: action.name)
            $0.append(#","value":"#)
            switch action {
            case .fullScreen(let flag?): $0.append(bytes: Array(flag.description.utf8))
            case .tab(let name): $0.append(string: name)
            case .fullScreen(nil), .reload, .snapshot: $0.append("null")
            }
        }
    }

    static func tabsLine(_ tabs: ClientMessage.Tabs) -> ByteBuffer {
        line(256 * tabs.tabs.count) {
            $0.append(#"{"type":"tabs","active":"#)
            $0.appendText(tabs.active)
            $0.append(#","tabs":["#)
            for (index, tab) in tabs.tabs.enumerated() {
                if index > 0 { $0.append(",") }
                $0.append(#"{"id":"#)
                $0.append(string: tab.id)
                $0.append(#","title":"#)
                $0.append(string: tab.title)
                $0.append(#","icon":"#)
                $0.appendText(tab.icon)
                $0.append(#","path":"#)
                $0.append(string: tab.path)
                $0.append(#","deprecated":"#)
                $0.append(bytes: Array(tab.isDeprecated.description.utf8))
                $0.append(#","replaces":"#)
                $0.appendText(tab.replaces)
                $0.append("}")
            }
            $0.append("]")
        }
    }

    static func cancelLine(_ number: Int) -> ByteBuffer {
        line(0) {
            $0.append(#"{"type":"cancel","call":"#)
            $0.append(integer: number)
        }
    }

    static func progressLine(_ id: ClientMessage.ID, _ value: [UInt8]) -> ByteBuffer {
        line(value.count) {
            $0.append(#"{"type":"progress","id":"#)
            id.append(to: &$0)
            $0.append(#","value":"#)
            $0.append(bytes: value)
        }
    }

    static func replyLine(_ id: ClientMessage.ID, _ answer: ClientMessage.PageAnswer) -> ByteBuffer {
        switch answer {
        case .value(let value), .progress(let value):
            line(value.count) {
                $0.append(#"{"type":"reply","id":"#)
                id.append(to: &$0)
                $0.append(#","ok":true,"error":null,"value":"#)
                $0.append(bytes: value)
            }
        case .error(let text):
            line(text.utf8.count) {
                $0.append(#"{"type":"reply","id":"#)
                id.append(to: &$0)
                $0.append(#","ok":false,"error":"#)
                $0.append(string: text)
            }
        case .importReady:
            preconditionFailure("importReady does not end a call")
        }
    }

    /// A message without its closing brace and newline, which are appended. Each has its own buffer: a shared one would keep the size of
    /// the largest message.
    private static func line(_ byteCount: Int, _ write: (inout JSONBuffer) -> Void) -> ByteBuffer {
        var buffer = JSONBuffer(capacity: byteCount + 1024)
        write(&buffer)
        buffer.append("}\n")
        return buffer.bytes
    }
}
