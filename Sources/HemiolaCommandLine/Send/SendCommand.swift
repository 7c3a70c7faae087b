internal import ArgumentParser
internal import Hemiola
internal import HemiolaRecords
internal import HemiolaSystem

/// `hemiola send TYPE [VALUE] [key=value …]`: a control; a call of a page's function, an import, or a message to a window:
/// `SendCommand+Pages.swift`.
struct SendCommand: Command {
    /// The help lists the controls that the plugins of this program declare.
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "send",
            abstract: "Send one control message to a running hemiola, its page or its window, and print the reply.",
            usage: "hemiola send <type> [<value>] [<key=value> ...] [--socket <path>]",
            discussion: """
                Connects to the socket sink of a running hemiola ("hemiola listen --sink socket"). The reply is printed when the \
                control has taken effect.

                Examples:
                  hemiola send loadPreset "Flexi - mindblob"
                  hemiola send setSpeed 0.5 --socket /tmp/show.sock
                  hemiola send status
                  hemiola send call function=setText arguments='["Hello",2]'
                  hemiola send window snapshot picture.png

                nextPreset, previousPreset, randomPreset, lockPreset and toggleCycle require the sink presets in the run: "hemiola \
                listen --sink socket --sink presets".

                Controls, with their fields: \(controlList), closeViz. A running hemiola with additional plugins accepts their \
                controls too.

                status prints the preset, speed, tempo, device and number of pages: as text on a terminal, else as JSON.

                call calls a function of the page that was the last to send ready, and prints its value as JSON. Fields: function; \
                arguments, a JSON list (default: []); page, a client's name or number as in control records.

                The message import passes a file of at most 32 MiB to the page's function importFile(name, base64), and prints its \
                value. Fields: file (- for standard input); name (default: that of the file); page.

                window passes a request to the window that "hemiola window" has opened: fullscreen, fullscreen true, fullscreen false, \
                tab NAME (the id or title of a tab), reload, or snapshot FILE (writes the visible page as PNG, and prints FILE). \
                tabs FILE sets the tabs of all windows, also of those that connect later, and prints the number of windows. The file \
                is JSON: {"active":ID,"tabs":[{"id":ID,"title":TEXT,"path":PAGE}, …]}, with at least two tabs, or none for a window \
                without tabs. Relative paths are relative to the folder of the file.

                Exit codes: 0 the control took effect, or the page has answered; 1 the control was refused, the page reported an \
                error, no page, window or reply was received, or the file cannot be read or is too large; 2 invalid arguments; 3 the \
                snapshot could not be written.
                """)
    }

    private static var controlList: String {
        Completions.catalog.controls.map { type in
            type.fields.isEmpty ? type.name : "\(type.name) (\(type.fields.map(\.helpText).joined(separator: ", ")))"
        }.joined(separator: ", ")
    }

    @Argument(help: ArgumentHelp("The type of the message.", valueName: "type"), completion: Completions.control)
    var type: String

    @Argument(
        help: ArgumentHelp(
            "Fields of the message. The first field may be given by its value alone. Values: numbers, true, false, null or text; join the items of a list with +.",
            valueName: "key=value"), completion: Completions.controlField)
    var fields: [String] = []

    @Option(
        help: ArgumentHelp("Path of the socket. Default: the default path of the socket sink.", valueName: "path"),
        completion: .file())
    var socket: String?

    @Option(
        help: ArgumentHelp(
            "Time limit for the connection and the reply, in seconds, above 0, at most 3600. Default: 5. For call, import, tabs and window: at most 600, default 30; an import fails when it makes no progress for this time.",
            valueName: "seconds"))
    var timeout: Double?

    @Flag(help: "Print the status as JSON, also on a terminal.")
    var json = false

    func validate() throws {
        let longest = ControlMessage.pageRequests.contains(type) ? 600.0 : 3600
        if let timeout, !(timeout > 0 && timeout <= longest) {
            throw ValidationError("--timeout: \(timeout) is not above 0 and at most \(Int(longest)) seconds")
        }
        if socket == "" { throw ValidationError("--socket: the path is empty; is a variable of the shell unset?") }
    }

    private static let timeLimit = 5.0
    private static let pageTimeLimit = 30.0

    /// Seconds to wait for the declarations of the running program, when this program does not declare the control.
    private static let helloTime = 1.0

    func run(with registry: PluginRegistry, on console: Console) throws(Failure) -> CommandStatus {
        let path = socket ?? SocketPath.standard().path
        if ControlMessage.pageRequests.contains(type) {
            return try sendToPage(PageRequest(type, fields), path, timeLimit: timeout ?? Self.pageTimeLimit, on: console)
        }
        let deadline = MonotonicTime.now + (timeout ?? Self.timeLimit)
        let isKnown = ControlMessage.isKnown(type, registry.catalog)
        var message = isKnown ? try ControlMessage(type, fields, registry.catalog) : nil
        let connection: UnixConnection
        do throws(SystemCallError) {
            connection = try UnixConnection(to: path, until: deadline)
        } catch {
            throw isKnown ? Failure(Self.text(error, path), status: .refused) : ControlMessage.unknown(type, registry.catalog)
        }
        if message == nil {
            let declared = try Self.declarations(from: connection, path, until: min(deadline, MonotonicTime.now + Self.helloTime))
            message = try ControlMessage(type, fields, declared ?? registry.catalog)
        }
        let reply: Reply
        // A control of the pages has no visible effect without a page: the status has their number.
        let needsPage = ControlType.pageControls.contains { $0.name == type }
        do throws(SystemCallError) {
            let status = needsPage ? ControlMessage.status : []
            try connection.write(ControlMessage.quiet + status + (message?.line ?? []), until: deadline)
            reply = try self.reply(from: connection, until: deadline)
        } catch {
            throw Failure(Self.text(error, path), status: .refused)
        }
        if reply.isRefusal { throw Failure("\(path): \(reply.error ?? "refused")", status: .refused) }
        if needsPage, reply.ok, reply.status?.pageCount == 0 {
            console.warning("no page is connected; \(type) takes effect in a page that connects later")
        }
        if type == "status", let status = reply.status {
            _ = try Root.print(json || System.destination(of: System.standardOutput) != .terminal ? status.line : status.text)
            if reply.ok { return .success }
        }
        _ = try Root.print(reply.line)
        return reply.ok ? .success : .refused
    }

    /// The controls that the running program declares in its first line; nil when it has not started a stream.
    ///
    /// - Throws: The server has refused the connection.
    private static func declarations(
        from connection: UnixConnection, _ path: String, until deadline: Double
    ) throws(Failure) -> RecordCatalog? {
        // Where clients get bare samples by default, the subscription requests lines; a refused connection may be closed already.
        try? connection.write(ControlMessage.quiet, until: deadline)
        while let line = try? connection.readLine(until: deadline) {
            guard let message = try? JSONValue(message: line) else { continue }
            if message["type"]?.string == "hello", let catalog = try? RecordCatalog(hello: message) { return catalog }
            if let reply = Reply(message, line: line), reply.isRefusal {
                throw Failure("\(path): \(reply.error ?? "refused")", status: .refused)
            }
        }
        return nil
    }

    private func reply(from connection: UnixConnection, until deadline: Double) throws(SystemCallError) -> Reply {
        var status: StatusReport?
        while let line = try connection.readLine(until: deadline) {
            guard let message = try? JSONValue(message: line) else { continue }
            if let report = StatusReport(message, line: line) { status = report }
            if var reply = Reply(message, line: line) {
                reply.status = status
                return reply
            }
        }
        return .none
    }

    static func text(_ error: SystemCallError, _ path: String) -> String {
        error.isUnreachable
            ? "\(path): no running hemiola accepts connections; start one: hemiola listen --sink socket" : "\(path): \(error)"
    }
}

/// A message of the visualizer protocol, as a line.
struct ControlMessage: Equatable {
    /// Sent before it: the client subscribes to replies only.
    static let quiet = Array("{\"type\":\"subscribe\",\"streams\":[],\"payload\":\"json\"}\n".utf8)
    /// Requests a `status` message, without a reply.
    static let status = Array("{\"type\":\"status\"}\n".utf8)
    static let id = "send"
    /// Messages that are not controls, and have no fields.
    private static let others = ["status", "closeViz"]
    /// Messages to pages and windows: ``PageRequest``.
    static let pageRequests = ["call", "import", "tabs", "window"]

    let line: [UInt8]

    /// The types that can be sent.
    static func types(_ catalog: RecordCatalog) -> [String] { others + pageRequests + catalog.controls.map(\.name) }

    static func isKnown(_ type: String, _ catalog: RecordCatalog) -> Bool { types(catalog).contains(type) }

    static func unknown(_ type: String, _ catalog: RecordCatalog) -> Failure {
        let types = types(catalog)
        let hint = type.nearest(in: types).map { "; did you mean \($0)?" } ?? "; messages: \(types.joined(separator: ", "))"
        return Failure("unknown message \"\(type)\"\(hint)")
    }

    /// - Parameter fields: `key=value`; the first may be the value of the first declared field alone.
    /// - Throws: The first invalid field. Nothing has been sent then.
    init(_ type: String, _ fields: [String], _ catalog: RecordCatalog) throws(Failure) {
        guard Self.isKnown(type, catalog) else { throw Self.unknown(type, catalog) }
        let declared = catalog.control(type)?.fields ?? []
        var members: [JSONValue.Member] = [.init("type", .text(type)), .init("id", .text(Self.id))]
        var values: [String: ParameterValue] = [:]
        for (index, text) in fields.enumerated() {
            let (field, value) = try Self.field(text, isFirst: index == 0, of: type, declared)
            guard values.updateValue(value, forKey: field.name) == nil else {
                throw Failure("\"\(field.name)\" is given twice")
            }
            members.append(.init(field.name, value.json))
        }
        if let control = catalog.control(type) {
            do throws(ControlFault) {
                _ = try Control(control) { values[$0.name] }
            } catch {
                throw Failure(error.message)
            }
        }
        line = Array(JSONValue.object(members).line.utf8)
    }

    private static func field(
        _ text: String, isFirst: Bool, of type: String, _ declared: [Field]
    ) throws(Failure) -> (field: Field, value: ParameterValue) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let names = declared.map(\.name)
        if parts.count == 2, let field = declared.first(where: { $0.name == parts[0] }) { return (field, try value(parts[1], of: field)) }
        // A preset's name may contain an equals sign: only a text that begins like a misspelt field is refused.
        let looksLikeName = parts.count == 2 && parts[0].allSatisfy { $0.isLetter } && parts[0].nearest(in: names) != nil
        if isFirst, let main = declared.first, !looksLikeName { return (main, try value(text, of: main)) }
        guard let key = parts.count == 2 ? parts[0] : nil else {
            throw Failure(
                "\"\(text)\" is not key=value" + (names.isEmpty ? "; \(type) has no field" : "; write key=value, or the value alone first"))
        }
        let hint =
            names.isEmpty
            ? "it has none" : key.nearest(in: names).map { "did you mean \($0)?" } ?? "fields: \(names.joined(separator: ", "))"
        throw Failure("\(type) has no field \"\(key)\"; \(hint)")
    }

    private static func value(_ text: String, of field: Field) throws(Failure) -> ParameterValue {
        if text == "null", field.isNullable { return .none }
        let value: ParameterValue? =
            switch field.kind {
            case .integer: Int(text).map { .integer($0) }
            case .number: Double(text).flatMap { $0.isFinite ? .number($0) : nil }
            case .boolean: ["true": .boolean(true), "false": .boolean(false)][text]
            case .text: .text(text)
            case .choice(let choices): choices.contains(text) ? .text(text) : nil
            case .texts: .texts(text.split(separator: "+").map(String.init))
            case .numbers: Self.numbers(text)
            }
        guard let value else { throw Failure("\(field.name) is \(field.kindText), not \"\(text)\"") }
        return value
    }

    private static func numbers(_ text: String) -> ParameterValue? {
        let numbers = text.split(separator: "+").map { Double($0) }
        return numbers.contains { $0?.isFinite != true } ? nil : .numbers(numbers.compactMap(\.self))
    }
}

extension ControlType {
    /// The controls that change what pages show.
    fileprivate static let pageControls: [ControlType] = [.nextPreset, .previousPreset, .randomPreset, .loadPreset, .setSpeed]
}

extension Field {
    /// `speed, 0.1 to 1`: as in a list of fields.
    fileprivate var helpText: String {
        switch (minimum, maximum) {
        case (let low?, let high?): "\(name), \(ParameterValue.number(low).text) to \(ParameterValue.number(high).text)"
        default: name
        }
    }

    /// The type of a value, for messages.
    fileprivate var kindText: String {
        switch kind {
        case .integer: "a whole number"
        case .number: "a number"
        case .boolean: "true or false"
        case .text: "text"
        case .choice(let choices): "one of \(choices.joined(separator: ", "))"
        case .texts: "a list of names, joined with +"
        case .numbers: "a list of numbers, joined with +"
        }
    }
}

extension ParameterValue {
    /// The value in a message, where whole numbers have no point.
    fileprivate var json: JSONValue {
        switch self {
        case .number(let number) where number == number.rounded() && abs(number) < 1e15: .integer(Int(number))
        case .list(let items): .list(items.map(\.json))
        default: JSONValue(self)
        }
    }
}

extension RecordCatalog {
    /// The controls that a running program declares in its `hello`.
    fileprivate init(hello: JSONValue) throws(Problem) {
        var controls: [ControlType] = []
        for control in try hello.objects("controls") {
            var fields: [Field] = []
            // A name is used once, whatever the other program sends.
            for declaration in try control.objects("fields") {
                guard let field = try Field(declaration), !fields.contains(where: { $0.name == field.name }) else { continue }
                fields.append(field)
            }
            controls.append(ControlType(try control.text("name"), try control.text("description"), fields: fields))
        }
        self.init(controls: controls)
    }
}

extension Field {
    /// The field that an object declares; nil for a type that this program does not support.
    fileprivate init?(_ declaration: JSONValue) throws(Problem) {
        let name = try declaration.text("name")
        let description = try declaration.text("description")
        let isRequired = try declaration.flag("required")
        let isNullable = try declaration.flag("nullable") || !isRequired
        let choices = declaration.has("choices") ? try declaration.texts("choices") : []
        let fallback: ParameterValue? = isRequired ? nil : ParameterValue.none
        switch try declaration.text("type") {
        case "integer": self = .integer(name, nullable: isNullable, default: fallback, description)
        case "number": self = .number(name, nullable: isNullable, default: fallback, description)
        case "boolean": self = .boolean(name, default: isRequired ? nil : .boolean(false), description)
        case "text": self = .text(name, nullable: isNullable, default: fallback, description)
        case "choice": self = .choice(name, of: choices, default: isRequired ? nil : .text(choices.first ?? ""), description)
        case "texts": self = .texts(name, default: isRequired ? nil : .list([]), description)
        case "numbers": self = .numbers(name, description)
        default: return nil
        }
    }
}

/// The reply to a message, or the refusal of the connection.
private struct Reply {
    /// The connection was closed before a reply.
    static let none = Reply(line: "", ok: false, error: "the connection was closed without a reply", isRefusal: true)

    let line: String
    let ok: Bool
    let error: String?
    let isRefusal: Bool
    /// The `status` message that precedes the reply to `status`.
    var status: StatusReport?

    private init(line: String, ok: Bool, error: String?, isRefusal: Bool) {
        self.line = line
        self.ok = ok
        self.error = error
        self.isRefusal = isRefusal
    }

    /// - Returns: nil for a message that is neither the reply nor an error.
    init?(_ message: JSONValue, line: [UInt8]) {
        isRefusal = message["type"]?.string == "error"
        guard isRefusal || message["type"]?.string == "reply" && message["id"]?.string == ControlMessage.id else { return nil }
        self.line = String(decoding: line, as: UTF8.self)
        ok = message["ok"]?.flag ?? false
        error = message["error"]?.string
    }
}
