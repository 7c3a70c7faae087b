/// The arguments of `hemiola-window`, which `hemiola window` starts with its own arguments.
public struct WindowArguments: Sendable, Hashable {
    /// Maximum number of pages.
    public static let pageLimit = TabDirective.tabLimit
    /// The range of `--monitor`.
    public static let monitors = 1...16
    /// The range of a side of `--size`, in logical pixels.
    public static let sides = 64...16_384

    /// The range of `--memory-limit`, in MB.
    public static let memoryLimits = 256...65_536

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

    /// The arguments are not valid.
    public struct Fault: Error, Sendable, Hashable {
        /// The error message, without the name of the program.
        public var message: String
    }

    /// What the arguments request.
    public enum Request: Sendable, Hashable {
        /// A window.
        case window(WindowArguments)
        /// The text of `--help`.
        case help
    }

    /// The arguments without any.
    public init() {}

    /// Parses arguments.
    ///
    /// - Parameter arguments: Without the name of the program. A value follows its option as the next argument or after `=`; all arguments
    ///   after `--` are pages.
    /// - Throws: The first fault.
    public static func parse(_ arguments: [String]) throws(Fault) -> Request {
        var parser = Parser(arguments)
        return try parser.parse()
    }

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

    private struct Parser {
        private var rest: ArraySlice<String>
        private var result = WindowArguments()

        init(_ arguments: [String]) {
            rest = arguments[...]
        }

        mutating func parse() throws(Fault) -> Request {
            while let argument = rest.popFirst() {
                if argument == "--" {
                    while let page = rest.popFirst() { try add(page) }
                } else if argument == "--help" || argument == "-h" {
                    return .help
                } else if argument.hasPrefix("-") {
                    try read(argument)
                } else {
                    try add(argument)
                }
            }
            return .window(result)
        }

        private mutating func add(_ page: String) throws(Fault) {
            if page.isEmpty { throw Fault(message: "the path of a page is empty; is a variable of the shell unset?") }
            guard result.pages.count < WindowArguments.pageLimit else {
                throw Fault(message: "more than \(WindowArguments.pageLimit) pages")
            }
            result.pages.append(page)
        }

        private mutating func read(_ argument: String) throws(Fault) {
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let (name, attached) = (parts[0], parts.count == 2 ? parts[1] : nil)
            switch name {
            case "--socket": result.socket = try path(name, attached)
            case "--hemiola": result.hemiola = try path(name, attached)
            case "--monitor": result.monitor = try number(name, attached, in: WindowArguments.monitors)
            case "--size": result.size = try size(name, attached)
            case "--memory-limit": result.memoryLimit = try number(name, attached, in: WindowArguments.memoryLimits)
            case "--fullscreen": result.isFullScreen = try flag(name, attached)
            case "--inspect": result.inspects = try flag(name, attached)
            case "--no-restore": result.restores = !(try flag(name, attached))
            default: throw Fault(message: "unknown option '\(name)'; see hemiola window --help")
            }
        }

        private func flag(_ name: String, _ attached: String?) throws(Fault) -> Bool {
            if attached != nil { throw Fault(message: "\(name) has no value; see hemiola window --help") }
            return true
        }

        private mutating func value(_ name: String, _ attached: String?) throws(Fault) -> String {
            if let attached { return attached }
            guard let value = rest.popFirst() else { throw Fault(message: "missing value for '\(name)'; see hemiola window --help") }
            return value
        }

        private mutating func path(_ name: String, _ attached: String?) throws(Fault) -> String {
            let path = try value(name, attached)
            if path.isEmpty { throw Fault(message: "\(name): the path is empty; is a variable of the shell unset?") }
            return path
        }

        private mutating func number(_ name: String, _ attached: String?, in range: ClosedRange<Int>) throws(Fault) -> Int {
            let text = try value(name, attached)
            guard let number = Int(text), range.contains(number) else {
                throw Fault(message: "\(name): \(text) is not a whole number in \(range.lowerBound)...\(range.upperBound)")
            }
            return number
        }

        private mutating func size(_ name: String, _ attached: String?) throws(Fault) -> WindowSize {
            let text = try value(name, attached)
            let sides = text.split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
            guard sides.count == 2, let width = sides[0], let height = sides[1], WindowArguments.sides.contains(width),
                WindowArguments.sides.contains(height)
            else { throw Fault(message: "\(name): \(text) is not a size such as 1280x720") }
            return WindowSize(width: width, height: height)
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
