import Hemiola
import HemiolaPlugins
import HemiolaSignal
import HemiolaWire

@testable import HemiolaBridge

extension Fuzzer {
    /// Any bytes from a client: the lines do not depend on the size of the pieces, each line is a message or a fault, the name of a
    /// control can be written, and a reply is one line.
    func tryClient(_ bytes: [UInt8]) {
        let catalog = PluginRegistry.standard.catalog
        let lines = split(bytes, by: max(bytes.count, 1))
        let size = 1 + Int(bytes.last ?? 0) % 7
        require(split(bytes, by: size) == lines, "other lines in pieces of \(size)")
        for case .line(let line) in lines {
            require(!line.contains(UInt8(ascii: "\n")), "a line contains a newline")
            let id: ClientMessage.ID?
            do throws(ClientMessage.Fault) {
                let message = try ClientMessage(line, catalog)
                if case .control(let control) = message.body {
                    require(catalog.control(control.name) == control.type, "unknown control \(control.name)")
                    require(written { $0.append(string: control.name) }.count == control.name.utf8.count + 2, "a name is quoted")
                }
                id = message.id
            } catch {
                require(!error.text.isEmpty, "a fault has no text")
                let count = written { $0.appendError(error.text, count: 1) }.count { $0 == UInt8(ascii: "\n") }
                require(count == 1, "an error has \(count) lines")
                id = error.id
            }
            guard let id else { continue }
            let reply = Array(written { $0.appendReply(to: id, error: nil) }.dropLast())
            // The id in a reply is valid JSON and equal to that of the request.
            let echo = written {
                $0.append(#"{"type":"tap","id":"#)
                id.append(to: &$0)
                $0.append("}")
            }
            require((try? ClientMessage(echo, catalog))?.id == id, "\(String(decoding: reply, as: UTF8.self)) has another id")
        }
    }

    private func split(_ bytes: [UInt8], by size: Int) -> [LineSplitter.Line] {
        var splitter = LineSplitter()
        var lines: [LineSplitter.Line] = []
        for start in stride(from: 0, to: bytes.count, by: size) { lines += splitter.add(bytes[start..<min(start + size, bytes.count)]) }
        if let last = splitter.finish() { lines.append(last) }
        return lines
    }

    private func written(_ body: (inout JSONBuffer) -> Void) -> [UInt8] {
        var buffer = JSONBuffer(capacity: 256)
        body(&buffer)
        return buffer.withUnsafeBytes { Array($0) }
    }
}
