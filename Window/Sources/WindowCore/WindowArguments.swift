public import HemiolaSystem

/// The arguments of `hemiola-window`, which `hemiola window` starts with its own arguments.
public struct WindowArguments: Sendable, Hashable {
    /// Folders, HTML files or http(s) addresses; empty: the page of the sink web.
    public var pages: [String] = []
    /// The Unix socket of a running hemiola; nil: the default path, and without a running hemiola a pipeline of the window's own.
    public var socket: String?
    /// The program that runs a pipeline of the window's own; nil: `hemiola` in PATH.
    public var hemiola: String?
    /// The number of the monitor for the full screen, from 1; nil: that of the window.
    public var monitor: Int?
    /// Whether the window fills the screen at the start.
    public var isFullScreen = false
    /// Whether the inspector of the page opens at the start.
    public var inspects = false
    /// The size of the window in logical pixels; nil: the last one.
    public var size: WindowSize?
    /// Web processes that use more memory than this are ended, in MB; nil: the limit of the window.
    public var memoryLimit: Int?
    /// Whether the tabs, history and full screen of the last start are restored when no page is given.
    public var restores = true
    /// Whether only the text of `--help` is requested.
    public var showsHelp = false

    /// The text of `--help`.
    public static let help = """
        Usage: hemiola-window [<options>] [<page> ...]

        Shows visualizer pages in a window of its own, with the audio of a running hemiola or of one that it starts. "hemiola window"
        starts this program.

          <page>               A folder with an index.html, an HTML file, or an http(s) address; several: one tab each.
                               Default: the pages of the last start, else the page of the sink web.
          --socket <path>      The socket of a running hemiola. Default: that of the sink socket.
          --hemiola <path>     The program that is started where none runs. Default: hemiola in PATH.
          --monitor <number>   The monitor for the full screen, 1...16.
          --fullscreen         Fill the screen; F11 and Escape leave it.
          --inspect            Open the inspector of the page, also F12.
          --size <WxH>         Size of the window in pixels, such as 1280x720. Default: that of the last start.
          --memory-limit <MB>  Memory that a page may use, 256...65536. Default: 4096.
          --no-restore         Do not restore the pages, history and full screen of the last start.
          --help               Print this text.

        Exit codes: 0 the window was closed; 1 the display, a page or the pipeline failed, or the user is root; 2 invalid arguments.
        """

    /// Parses arguments.
    ///
    /// - Parameter arguments: Without the name of the program. A value follows its option as the next argument or after `=`; all arguments
    ///   after `--` are pages.
    /// - Throws: The first fault.
    public init(_ arguments: [String] = []) throws(Problem) {
        var rest = arguments[...]
        while !showsHelp, let argument = rest.popFirst() {
            if argument == "--" {
                pages += rest
                rest = []
            } else if argument.hasPrefix("-") {
                try read(argument, &rest)
            } else {
                pages.append(argument)
            }
        }
        if pages.contains("") { throw Problem("the path of a page is empty; is a variable of the shell unset?") }
        guard pages.count <= TabDirective.tabLimit else { throw Problem("more than \(TabDirective.tabLimit) pages") }
    }

    private mutating func read(_ argument: String, _ rest: inout ArraySlice<String>) throws(Problem) {
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let name = parts[0]
        func flag() throws(Problem) -> Bool {
            if parts.count == 2 { throw Problem("\(name) has no value; see hemiola window --help") }
            return true
        }
        func value() throws(Problem) -> String {
            guard let value = parts.count == 2 ? parts[1] : rest.popFirst() else {
                throw Problem("missing value for '\(name)'; see hemiola window --help")
            }
            return value
        }
        func path() throws(Problem) -> String {
            let path = try value()
            if path.isEmpty { throw Problem("\(name): the path is empty; is a variable of the shell unset?") }
            return path
        }
        func number(_ range: ClosedRange<Int>) throws(Problem) -> Int {
            let text = try value()
            guard let number = Int(text), range.contains(number) else {
                throw Problem("\(name): \(text) is not a whole number in \(range.lowerBound)...\(range.upperBound)")
            }
            return number
        }
        switch name {
        case "--fullscreen": isFullScreen = try flag()
        case "--inspect": inspects = try flag()
        case "--no-restore": restores = try !flag()
        case "--help", "-h": showsHelp = try flag()
        case "--socket": socket = try path()
        case "--hemiola": hemiola = try path()
        case "--monitor": monitor = try number(1...16)
        case "--memory-limit": memoryLimit = try number(256...65_536)
        case "--size":
            let text = try value()
            size = WindowSize(text)
            if size == nil { throw Problem("--size: \(text) is not a size such as 1280x720") }
        default: throw Problem("unknown option '\(name)'; see hemiola window --help")
        }
    }
}

/// The size of a window in logical pixels.
public struct WindowSize: Sendable, Hashable, Codable {
    /// The width.
    public var width: Int
    /// The height.
    public var height: Int

    /// A size.
    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// The size of a text such as `1280x720`; nil: it is none that a window can have.
    init?(_ text: String) {
        let sides = text.split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
        guard sides.count == 2, let width = sides[0], let height = sides[1] else { return nil }
        self.init(width: width, height: height)
        if !isPossible { return nil }
    }

    /// Whether a window can have the size.
    var isPossible: Bool { (64...16_384).contains(width) && (64...16_384).contains(height) }
}

extension WindowArguments {
    /// The tabs of several pages, with ids that are not those of a server, and the titles of their documents.
    public var tabs: [Tab] {
        pages.enumerated().map { Tab(id: "argument:\($0.offset + 1)", title: "", path: $0.element) }
    }

    /// The title of a page's tab: the name of its file without suffix, of its folder, or the address.
    public static func title(of page: String) -> String {
        if page.contains("://") { return page }
        let names = page.split(separator: "/").filter { $0 != "." }
        guard let last = names.last else { return page }
        for suffix in [".html", ".htm"] where last.hasSuffix(suffix) && last.count > suffix.count {
            let name = last.dropLast(suffix.count)
            return name == "index" && names.count > 1 ? String(names[names.count - 2]) : String(name)
        }
        return String(last)
    }
}
