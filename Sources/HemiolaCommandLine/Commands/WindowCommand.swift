internal import ArgumentParser
internal import Hemiola

/// `hemiola window [PAGE …]`: starts `hemiola-window`, a program of its own, because this one links no GUI library.
struct WindowCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "window",
        abstract: "Show visualizer pages in a window of their own, with the audio of a running hemiola.",
        usage: "hemiola window [<options>] [<page> ...]",
        discussion: """
            Opens a window with a visualizer page: a folder with an index.html, an HTML file, or an http(s) address. Several pages are \
            tabs; a tab that is not visible keeps its picture and its state. Without <page>, the pages of the last start are shown, \
            at the first start the page of the sink web.

            The audio is that of a running hemiola with the sink socket. Where none runs, the window starts "hemiola listen --sink \
            socket --sink presets:bars=8", which "hemiola send" reaches, and ends it again.

            Examples:
              hemiola window
              hemiola window visualizer/ lyrics.html --fullscreen --monitor 2
              hemiola send window tab scope
              hemiola send nextPreset

            Keys: F11 fills the screen, Escape leaves it; Ctrl+Page Down and Ctrl+Page Up change the tab; Ctrl+plus, Ctrl+minus and \
            Ctrl+0 zoom; F12 opens the inspector.

            The window is the program hemiola-window, which needs GTK 4 and WebKitGTK 6.0: "make install PRODUCT=window" installs it. It is searched \
            beside hemiola, in ../libexec/hemiola and in PATH; HEMIOLA_WINDOW names another one.

            Exit codes: 0 the window was closed; 1 hemiola-window is not installed, the display, a page or the pipeline failed, or the \
            user is root; 2 invalid arguments.
            """)

    @Argument(
        help: ArgumentHelp("Folder with index.html, HTML file, or http(s) address; several: one tab each.", valueName: "page"),
        completion: .file())
    var pages: [String] = []

    @Option(
        help: ArgumentHelp("Path of the socket. Default: the default path of the socket sink.", valueName: "path"),
        completion: .file())
    var socket: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Monitor for the full screen, 1...16. Default: that of the window.", valueName: "number"))
    var monitor: Int?

    @Flag(help: "Fill the screen.")
    var fullscreen = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Size of the window in pixels, such as 1280x720. Default: that of the last start.", valueName: "WxH"))
    var size: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Memory that a page may use, in MB, 256...65536. Default: 4096.", valueName: "MB"))
    var memoryLimit: Int?

    @Flag(help: "Open the inspector of the page.")
    var inspect = false

    @Flag(help: "Do not restore pages, history and full screen. They are those of the last start.")
    var noRestore = false

    /// The name of the program that shows the window.
    static let program = "hemiola-window"
    /// The variable with its path.
    static let variable = "HEMIOLA_WINDOW"

    func validate() throws {
        if socket == "" { throw ValidationError("--socket: the path is empty; is a variable of the shell unset?") }
        if pages.contains("") { throw ValidationError("the path of a page is empty; is a variable of the shell unset?") }
    }

    /// The arguments of the program: as given, and the path of this program. Values are checked by the program.
    func arguments(hemiola: String?) -> [String] {
        let given = [
            hemiola.map { ["--hemiola", $0] }, socket.map { ["--socket", $0] }, monitor.map { ["--monitor", "\($0)"] },
            fullscreen ? ["--fullscreen"] : nil, size.map { ["--size", $0] }, memoryLimit.map { ["--memory-limit", "\($0)"] },
            inspect ? ["--inspect"] : nil, noRestore ? ["--no-restore"] : nil,
        ]
        let arguments = given.compactMap { $0 }.flatMap { $0 }
        return pages.isEmpty ? arguments : arguments + ["--"] + pages
    }

    func run(with registry: PluginRegistry, on console: Console) throws(Failure) -> CommandStatus {
        let path = try Self.path()
        console.finish()
        do {
            try CurrentProcess.execute(path, arguments(hemiola: Self.programPath))
        } catch {
            throw Failure("\(path): cannot execute the window: \(error)", status: .windowFailed)
        }
    }

    /// The path of this program; nil where the system does not report it.
    private static var programPath: String? { FileSystem.realPath("/proc/self/exe") }

    /// The path of `hemiola-window`; nil: not installed.
    static var installedPath: String? { try? path() }

    private static func path() throws(Failure) -> String {
        try path(named: EnvironmentVariable.value(variable), search: EnvironmentVariable.value("PATH"), hemiola: programPath)
    }

    /// The path of `hemiola-window`.
    ///
    /// - Parameters:
    ///   - name: The path that the user has set; nil: none.
    ///   - search: The folders of `PATH`, separated by colons.
    ///   - hemiola: The path of this program.
    static func path(named name: String?, search: String?, hemiola: String?) throws(Failure) -> String {
        if let name {
            if FileSystem.isExecutable(name) { return name }
            throw Failure("\(variable): \(name) is not an executable file; correct or unset the variable", status: .windowFailed)
        }
        var folders: [String] = []
        if let hemiola, let slash = hemiola.lastIndex(of: "/") {
            let folder = hemiola[..<slash]
            folders += [String(folder), "\(folder)/../libexec/hemiola"]
        }
        // A relative folder would be another one in each working directory.
        folders += (search ?? "").split(separator: ":").filter { $0.hasPrefix("/") }.map(String.init)
        for folder in folders where FileSystem.isExecutable("\(folder)/\(program)") { return "\(folder)/\(program)" }
        throw Failure(
            "\(program) is not installed; install the package or run \"make install PRODUCT=window\" (docs/install.md), or set \(variable) to its path",
            status: .windowFailed)
    }
}
