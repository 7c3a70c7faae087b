internal import Hemiola
internal import HemiolaVisualizer

extension SendCommand {
    /// Seconds for the connection and the reply, unless the user says otherwise.
    private static let standardTimeLimit = 5.0
    /// Seconds to wait for the declarations of the running program, when this program does not declare the control.
    private static let helloTime = 1.0

    /// Sends a control or `status`, and prints the reply.
    ///
    /// - Parameter catalog: The controls that this program declares.
    func sendControl(_ catalog: RecordCatalog, on console: Console) throws(Failure) -> CommandStatus {
        let deadline = Deadline(after: timeout ?? Self.standardTimeLimit)
        let (client, message) = try connect(catalog, until: deadline)
        // A control of the pages has no visible effect without a page: the status has their number.
        let needsPage = ControlType.pageControls.contains { $0.name == type }
        try client.write(ControlMessage.quiet + (needsPage ? ControlMessage.status : []) + message.line, until: deadline)
        var status: SocketMessage?
        let reply = try client.reply(until: deadline) { message in
            if message.type == "status" { status = message }
        }
        if reply.isRefusal { throw client.failure(reply.error) }
        if needsPage, reply.ok, status?.value["pages"]?.integer == 0 {
            console.warning("no page is connected; \(type) takes effect in a page that connects later")
        }
        if type == "status", let status {
            _ = try Root.print(json || !FileDescriptor.standardOutput.isTerminal ? status.text : status.value.statusText)
            if reply.ok { return .success }
        }
        _ = try Root.print(reply.text)
        return reply.ok ? .success : .refused
    }

    /// Connects, and makes the message by the declarations of this program, or else by those of the running one.
    private func connect(_ catalog: RecordCatalog, until deadline: Deadline) throws(Failure) -> (SocketClient, ControlMessage) {
        if ControlMessage.isKnown(type, catalog) {
            let message = try ControlMessage(type, fields, catalog)
            return (try SocketClient(path, until: deadline), message)
        }
        guard let client = try? SocketClient(path, until: deadline) else { throw ControlMessage.unknown(type, catalog) }
        let declared = try Self.declarations(from: client, until: Deadline(after: min(deadline.rest, Self.helloTime)))
        return (client, try ControlMessage(type, fields, declared ?? catalog))
    }

    /// The controls that the running program declares in its first line; nil when it has not started a stream.
    ///
    /// - Throws: The server has refused the connection.
    private static func declarations(from client: SocketClient, until deadline: Deadline) throws(Failure) -> RecordCatalog? {
        // Where clients get bare samples by default, the subscription requests lines; a refused connection may be closed already.
        try? client.write(ControlMessage.quiet, until: deadline)
        while let message = try? client.next(until: deadline) {
            if message.type == "hello", let catalog = try? RecordCatalog(hello: message.value) { return catalog }
            if message.isRefusal { throw client.failure(message.error) }
        }
        return nil
    }
}

extension ControlType {
    /// The controls that change what pages show.
    fileprivate static let pageControls: [ControlType] = [.nextPreset, .previousPreset, .randomPreset, .loadPreset, .setSpeed]
}

extension JSONValue {
    /// A `status` message for a terminal: a line for each value, without a newline at the end. An older program may not report all of them.
    fileprivate var statusText: String {
        var preset = self["preset"]?.string ?? "unknown"
        if let seconds = self["next_in_s"]?.double { preset += " (next in \(Int(clamping: seconds.rounded())) s)" }
        if self["cycling"]?.flag == false { preset += " (automatic changes are off)" }
        let device = self["device"].flatMap { device in
            device["description"]?.string.map { "\($0) (\(device["state"]?.string ?? "unknown"))" }
        }
        return [
            "preset  \(preset)",
            "speed   \(self["speed"]?.double.map { "\($0)" } ?? "unknown")",
            "tempo   \(self["bpm"]?.double.map { "\($0) BPM" } ?? "unknown")",
            "device  \(device ?? self["source"]?.string ?? "none")",
            "pages   \(self["pages"]?.integer.map { "\($0)" } ?? "unknown")",
        ].joined(separator: "\n")
    }
}
