internal import ArgumentParser
internal import Hemiola

/// `hemiola send TYPE [VALUE] [key=value …]`: a control, or a ``PageRequest``.
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
                  hemiola send tempoRange 90 180
                  hemiola send status
                  hemiola send call function=setText arguments='["Hello",2]'
                  hemiola send window snapshot picture.png

                nextPreset, previousPreset, randomPreset, lockPreset, toggleCycle and setFavourites require the sink presets in the \
                run, which web adds: "hemiola listen --sink socket --sink presets".

                Controls, with their fields:
                \(controlList)
                  closeViz

                A running hemiola with additional plugins accepts their controls too.

                status prints the preset, speed, tempo, device and number of pages: as text on a terminal, else as JSON.

                call calls a function of the page that was the last to send ready, and prints its value as JSON. Fields: function; \
                arguments, a JSON list (default: []); page, a client's name or number as in control records.

                The message import passes a file of at most 32 MiB to the page's function importFile(name, base64), and prints its \
                value. Fields: file (- for standard input); name (default: that of the file); page.

                wait ready waits until a page is ready in the running hemiola, which may start later: in scripts, before anything else \
                is sent.

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
            type.fields.isEmpty ? "  \(type.name)" : "  \(type.name) (\(type.fields.map(\.helpText).joined(separator: ", ")))"
        }.joined(separator: "\n")
    }

    @Argument(help: ArgumentHelp("The type of the message.", valueName: "type"), completion: Completions.control)
    var type: String

    @Argument(
        help: ArgumentHelp(
            "Fields of the message, as key=value or as values alone in their order. Values: numbers, true, false, null or text; join the items of a list with +.",
            valueName: "key=value"), completion: Completions.controlField)
    var fields: [String] = []

    @Option(
        help: ArgumentHelp("Path of the socket. Default: the default path of the socket sink.", valueName: "path"),
        completion: .file())
    var socket: String?

    @Option(
        help: ArgumentHelp(
            "Time limit of connection and reply, in seconds. It is above 0 and at most 3600; default: 5. For call, import, tabs, wait and window: at most 600, default 30.",
            valueName: "seconds"))
    var timeout: Double?

    @Flag(help: "Print the status as JSON, also on a terminal.")
    var json = false

    @Flag(help: "Print each progress message of a call or import as a line of JSON, before the value.")
    var follow = false

    func validate() throws {
        let longest = PageRequest.types.contains(type) ? 600.0 : 3600
        if let timeout, !(timeout > 0 && timeout <= longest) {
            throw ValidationError("--timeout: \(timeout) is not above 0 and at most \(Int(longest)) seconds")
        }
        if follow, !["call", "import"].contains(type) {
            throw ValidationError("--follow: \(type) has no progress; it is for call and import")
        }
        if socket == "" { throw ValidationError("--socket: the path is empty; is a variable of the shell unset?") }
    }

    func run(with registry: PluginRegistry, on console: Console) throws(Failure) -> CommandStatus {
        if PageRequest.types.contains(type) { return try send(PageRequest(type, fields), on: console) }
        return try sendControl(registry.catalog, on: console)
    }

    /// The path of the socket.
    var path: SocketPath { socket.map { SocketPath(path: $0) } ?? .standard() }
}

extension Field {
    /// `speed, 0.1 to 1`: as in a list of fields.
    fileprivate var helpText: String {
        switch (minimum, maximum) {
        case (let low?, let high?): "\(name), \(ParameterValue.number(low).text) to \(ParameterValue.number(high).text)"
        default: name
        }
    }
}
