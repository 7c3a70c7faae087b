internal import ArgumentParser
internal import FoundationEssentials
internal import Hemiola
internal import HemiolaBridge

/// `hemiola send TYPE [key=value …]`
struct SendCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "send",
        abstract: "Send a running hemiola one wish, and print its answer.",
        usage: "hemiola send <type> [<key=value> ...] [--socket <path>]",
        discussion: """
            Speaks with the sink "socket" of another hemiola. The answer comes when the wish has taken effect.

            Examples:
              hemiola send nextPreset
              hemiola send loadPreset name="Flexi - mindblob"
              hemiola send setSpeed speed=0.5
              hemiola send lockTempo bpm=128
              hemiola send tap --socket /tmp/show.sock

            Wishes: nextPreset, previousPreset, randomPreset, loadPreset (name), lockPreset (locked), toggleCycle, \
            setSpeed (speed), tap, lockTempo (bpm; without it unlocks), halveTempo, doubleTempo, setDownbeat, resetTempo, \
            closeViz. What a visualizer tells can be sent too: ready (presets), presetNames (names), presetHandler (name), \
            presetRefused (name), speedHandler (speed), keyHandler (key, event).

            Exit codes: 0 it has taken effect; 1 it was refused, or nobody answers; 2 the command line is wrong.
            """)

    @Argument(help: ArgumentHelp("What is wished.", valueName: "type"), completion: Completions.control)
    var type: String

    @Argument(
        help: ArgumentHelp("What it needs: numbers, true, false, null or text; a list is joined with +.", valueName: "key=value"),
        completion: Completions.controlField)
    var fields: [String] = []

    @Option(
        help: ArgumentHelp("Where the other one listens; else where the sink does when it is given no path.", valueName: "path"),
        completion: .file())
    var socket: String?

    @Option(help: ArgumentHelp("How long to wait for the answer.", valueName: "seconds"))
    var timeout = 5.0

    func validate() throws {
        if !(timeout > 0 && timeout <= 3600) { throw ValidationError("--timeout: \(timeout) is outside 0...3600 seconds") }
        if socket == "" { throw ValidationError("--socket: the path is empty; is a variable of the shell unset?") }
    }

    func run(with registry: PluginRegistry, on console: Console) async throws(Failure) -> CommandStatus {
        let wish = try WishText(type, fields)
        let path = socket ?? SocketPath.standard().path
        let reply: Reply
        do throws(System.CallError) {
            let connection = try System.UnixConnection(to: path)
            try connection.write(WishText.quiet + wish.line)
            reply = try answer(from: connection)
        } catch {
            throw Failure(Self.text(error, path), status: .refused)
        }
        if reply.isRefusal { throw Failure("\(path): \(reply.error ?? "refused")", status: .refused) }
        _ = try Root.print(reply.line)
        return reply.ok ? .success : .refused
    }

    private func answer(from connection: System.UnixConnection) throws(System.CallError) -> Reply {
        let deadline = System.now + timeout
        while let line = try connection.readLine(until: deadline) {
            if let reply = Reply(line) { return reply }
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
        for field in fields {
            let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2 else { throw Failure("\"\(field)\" is no key=value") }
            members.append((parts[0], try Self.value(parts[1], of: parts[0])))
        }
        line = Array(JSONTree.object(members).line.utf8)
        do throws(ClientMessage.Fault) {
            _ = try ClientMessage(line.dropLast())
        } catch {
            throw Failure(error.text)
        }
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
