import Hemiola
import HemiolaPlugins
import NIOCore

@testable import HemiolaBridge
@testable import HemiolaRecords
@testable import HemiolaSystem

extension Fuzzer {
    /// Any bytes from a client: the lines do not depend on the size of the pieces, each line is a message or has a reason why it is none, the name of a
    /// control can be written, and a reply is one line.
    func tryClient(_ bytes: [UInt8]) {
        let catalog = PluginRegistry.standard.catalog
        let lines = split(bytes, by: max(bytes.count, 1))
        let size = 1 + Int(bytes.last ?? 0) % 7
        require(split(bytes, by: size) == lines, "other lines in pieces of \(size)")
        for line in lines.filter({ !$0.isCut }).map(\.bytes) {
            require(!line.contains(UInt8(ascii: "\n")), "a line contains a newline")
            let message = ClientMessage(line, catalog)
            switch message.body {
            case .control(let control):
                require(catalog.control(control.name) == control.type, "unknown control \(control.name)")
                require(written { $0.append(string: control.name) }.count == control.name.utf8.count + 2, "a name is quoted")
            case .invalid(let reason):
                require(!reason.isEmpty, "an invalid message has no reason")
                let count = ByteBuffer.error(reason, count: 1).readableBytesView.count { $0 == UInt8(ascii: "\n") }
                require(count == 1, "an error has \(count) lines")
            default: checkPageMessage(message.body)
            }
            guard let id = message.id else { continue }
            let reply = ByteBuffer.reply(to: id, .done).readableBytesView.dropLast()
            // The id in a reply is valid JSON and equal to that of the request.
            let echo = Array("{\"type\":\"tap\",\"id\":\(id)}".utf8)
            let again = ClientMessage(echo, catalog)
            if case .invalid(let reason) = again.body {
                require(false, "\(String(decoding: echo, as: UTF8.self)) is no message: \(reason)")
            }
            require(again.id == id, "\(String(decoding: reply, as: UTF8.self)) has another id")
        }
    }

    /// The values of calls are valid JSON on one line, which is written into other lines; files have absolute paths.
    private func checkPageMessage(_ body: ClientMessage.Body) {
        switch body {
        case .request(let request):
            require(request.timeLimit > 0 && request.timeLimit <= 600, "a time limit of \(request.timeLimit) s")
            checkValue(Array("{\(request.members)}".utf8))
            if let path = request.path { require(path.hasPrefix("/"), "the file \(path)") }
        case .tabs(let members): checkValue(Array("{\(members)}".utf8))
        case .answer(.outcome(.value(let value)), _), .answer(.progress(let value), _): checkValue(Array(value.utf8))
        case .pageError(let error):
            require(error.utf8.count <= 2 * ClientMessage.longestText + 32, "an error of \(error.utf8.count) bytes")
        case .answer, .control, .subscribe, .status, .clock, .close, .windowReady, .pageConnection, .wait, .invalid: break
        }
    }

    private func checkValue(_ value: [UInt8]) {
        require((try? JSONValue(message: value)) != nil, "invalid JSON: \(String(decoding: value, as: UTF8.self))")
        require(!value.contains(UInt8(ascii: "\n")), "a value on several lines")
    }

    private func split(_ bytes: [UInt8], by size: Int) -> [LineSplitter.Line] {
        var splitter = LineSplitter(limit: ClientMessage.longestMessage)
        var lines: [LineSplitter.Line] = []
        for start in stride(from: 0, to: bytes.count, by: size) {
            splitter.append(bytes[start..<min(start + size, bytes.count)])
            while let line = splitter.next() { lines.append(line) }
        }
        if let last = splitter.finish() { lines.append(last) }
        return lines.filter { !$0.isBlank }
    }

    private func written(_ body: (inout JSONBuffer) -> Void) -> [UInt8] {
        var buffer = JSONBuffer(capacity: 256)
        body(&buffer)
        return buffer.withUnsafeBytes { Array($0) }
    }
}
