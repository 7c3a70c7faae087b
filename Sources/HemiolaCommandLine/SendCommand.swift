internal import ArgumentParser
internal import FoundationEssentials
internal import Hemiola
internal import HemiolaBridge

/// `hemiola send TYPE [VALUE] [key=value …]`
struct SendCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "send",
        abstract: "Send one control message to a running hemiola and print the reply.",
        usage: "hemiola send <type> [<value>] [<key=value> ...] [--socket <path>]",
        discussion: """
            Connects to the sink "socket" of another hemiola. The reply comes when the control has taken effect.

            Examples:
              hemiola send nextPreset
              hemiola send loadPreset "Flexi - mindblob"
              hemiola send setSpeed 0.5
              hemiola send status
              hemiola send tap --socket /tmp/show.sock

            Controls: nextPreset, previousPreset, randomPreset, loadPreset (name), lockPreset (locked), toggleCycle, \
            setSpeed (speed, 0.1 to 1), tap, lockTempo (bpm; without it unlocks), halveTempo, doubleTempo, setDownbeat, \
            resetTempo, closeViz. Reports of visualizers can be sent too: ready (presets), presetNames (names), \
            presetHandler (name), presetRefused (name), speedHandler (speed), keyHandler (key, event).

            status prints the preset, speed, tempo and device: as text on a terminal, else as JSON.

            Exit codes: 0 it has taken effect; 1 it was refused, or there was no reply; 2 the command line is wrong.
            """)

    @Argument(help: ArgumentHelp("The type of the message.", valueName: "type"), completion: Completions.control)
    var type: String

    @Argument(
        help: ArgumentHelp(
            "Its first field by value alone, others by name: numbers, true, false, null or text; a list is joined with +.",
            valueName: "key=value"), completion: Completions.controlField)
    var fields: [String] = []

    @Option(
        help: ArgumentHelp("The socket. Default: the path that the sink uses when it is given none.", valueName: "path"),
        completion: .file())
    var socket: String?

    @Option(help: ArgumentHelp("The time limit for the whole exchange, in seconds.", valueName: "seconds"))
    var timeout = 5.0

    @Flag(help: "Print the status as JSON on a terminal too.")
    var json = false

    func validate() throws {
        if !(timeout > 0 && timeout <= 3600) { throw ValidationError("--timeout: \(timeout) is outside 0...3600 seconds") }
        if socket == "" { throw ValidationError("--socket: the path is empty; is a variable of the shell unset?") }
    }

    func run(with registry: PluginRegistry, on console: Console) async throws(Failure) -> CommandStatus {
        let deadline = System.now + timeout
        let message = try WishText(type, fields)
        let path = socket ?? SocketPath.standard().path
        let reply: Reply
        do throws(System.CallError) {
            let connection = try System.UnixConnection(to: path, until: deadline)
            try connection.write(WishText.quiet + message.line, until: deadline)
            reply = try self.reply(from: connection, until: deadline)
        } catch {
            throw Failure(Self.text(error, path), status: .refused)
        }
        if reply.isRefusal { throw Failure("\(path): \(reply.error ?? "refused")", status: .refused) }
        if let status = reply.status {
            _ = try Root.print(json || System.destination(of: System.standardOutput) != .terminal ? status.line : status.text)
            if reply.ok { return .success }
        }
        _ = try Root.print(reply.line)
        return reply.ok ? .success : .refused
    }

    private func reply(from connection: System.UnixConnection, until deadline: Double) throws(System.CallError) -> Reply {
        var status: StatusReport?
        while let line = try connection.readLine(until: deadline) {
            if type == "status", let report = StatusReport(line) { status = report }
            if var reply = Reply(line) {
                reply.status = status
                return reply
            }
        }
        return .none
    }

    private static func text(_ error: System.CallError, _ path: String) -> String {
        error.isNobodyThere
            ? "nobody listens at \(path); start one: hemiola listen --sink socket" : "\(path): \(error)"
    }
}

/// A wish as a line of the visualizer protocol.
struct WishText: Equatable {
    /// What goes before it: nothing but answers is wanted.
    static let quiet = Array("{\"type\":\"subscribe\",\"streams\":[],\"payload\":\"json\"}\n".utf8)
    static let id = "send"
    /// What can be sent.
    static let types = ClientMessage.names.filter { $0 != "subscribe" }

    private static let texts: Set = ["name", "key", "event"]
    private static let lists: Set = ["presets", "names"]
    private static let others: Set = ["bpm", "speed", "locked", "note"]
    /// The field that a value without a name is for, of each type that has a main one.
    private static let mainFields = [
        "loadPreset": "name", "lockPreset": "locked", "setSpeed": "speed", "lockTempo": "bpm", "ready": "presets",
        "presetNames": "names", "presetHandler": "name", "presetRefused": "name", "speedHandler": "speed", "keyHandler": "key",
    ]

    /// The keys of all messages.
    static let keys = texts.union(lists).union(others).sorted()

    let line: [UInt8]

    /// - Throws: What is wrong with it, before anything is sent.
    init(_ type: String, _ fields: [String]) throws(Failure) {
        guard Self.types.contains(type) else {
            let hint = type.nearest(in: Self.types).map { "; did you mean \($0)?" } ?? "; there are: \(Self.types.joined(separator: ", "))"
            throw Failure("there is no message \"\(type)\"\(hint)")
        }
        var members: [(key: String, value: JSONTree)] = [("type", .text(type)), ("id", .text(Self.id))]
        for (index, field) in fields.enumerated() {
            let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            // A preset's name may have an equals sign.
            if index == 0, let key = Self.mainFields[type], parts.count < 2 || !Self.isKey(parts[0]) {
                members.append((key, try Self.value(field, of: key)))
                continue
            }
            guard parts.count == 2 else {
                let hint = Self.mainFields[type] == nil ? "; \(type) has no field" : "; write key=value, or the value alone first"
                throw Failure("\"\(field)\" is no key=value\(hint)")
            }
            members.append((parts[0], try Self.value(parts[1], of: parts[0])))
        }
        line = Array(JSONTree.object(members).line.utf8)
        do throws(ClientMessage.Fault) {
            _ = try ClientMessage(line.dropLast())
        } catch {
            throw Failure(error.text)
        }
    }

    /// Whether a text looks like a field's name, even a misspelt one.
    private static func isKey(_ text: String) -> Bool {
        let keys = texts.union(lists).union(others)
        return keys.contains(text) || text.allSatisfy { $0.isLetter } && text.nearest(in: keys.sorted()) != nil
    }

    private static func value(_ text: String, of key: String) throws(Failure) -> JSONTree {
        if texts.contains(key) { return .text(text) }
        if lists.contains(key) { return .list(text.split(separator: "+").map { .text(String($0)) }) }
        guard others.contains(key) else {
            let hint = key.nearest(in: keys).map { "; did you mean \($0)?" } ?? "; there are: \(keys.joined(separator: ", "))"
            throw Failure("there is no key \"\(key)\"\(hint)")
        }
        if let number = Int(text) { return .integer(number) }
        if let number = Double(text), number.isFinite { return .number(number) }
        switch text {
        case "true": return .boolean(true)
        case "false": return .boolean(false)
        case "null": return .null
        default: return .text(text)
        }
    }
}

/// The answer to a wish, or why nobody was let in.
private struct Reply {
    private struct Fields: Decodable {
        var type: String
        var id: String?
        var ok: Bool?
        var error: String?
    }

    /// The other side hung up.
    static let none = Reply(line: "", ok: false, error: "the other side hung up without an answer", isRefusal: true)

    let line: String
    let ok: Bool
    let error: String?
    let isRefusal: Bool
    /// What came before it, in answer to `status`.
    var status: StatusReport?

    private init(line: String, ok: Bool, error: String?, isRefusal: Bool) {
        self.line = line
        self.ok = ok
        self.error = error
        self.isRefusal = isRefusal
    }

    /// - Returns: nil for a line that is something else.
    init?(_ line: [UInt8]) {
        guard let fields = try? JSONDecoder().decode(Fields.self, from: Data(line)),
            fields.type == "error" || fields.type == "reply" && fields.id == WishText.id
        else { return nil }
        self.line = String(decoding: line, as: UTF8.self)
        ok = fields.ok ?? false
        error = fields.error
        isRefusal = fields.type == "error"
    }
}
