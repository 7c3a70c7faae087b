public import Hemiola
internal import HemiolaBridge
internal import HemiolaVisualizer

extension SinkPlugin {
    /// Shows the music in a browser: serves a page, sends it samples and records, and receives controls from it.
    public static let web = web(tokenFile: TokenFile.standard, presets: EnvironmentVariable.presetFolder)

    /// - Parameters:
    ///   - tokenFile: The file with the token; nil: the token is valid for one run.
    ///   - presets: The folder of the user's presets; nil: there is none.
    ///   - browser: The browser for `open=true`; nil: there is none.
    static func web(
        tokenFile: @escaping @Sendable () -> TokenFile?, presets: @escaping @Sendable () -> String? = { nil },
        browser: @escaping @Sendable () -> DesktopBrowser? = { DesktopBrowser() }
    ) -> SinkPlugin {
        SinkPlugin(
            PluginDescription(
                "web", "Shows the music in a browser: serves a page, sends it samples and records, and receives controls from it.",
                primary: "port", declares: .init(records: [.preset, .speed, .key, .message], fallbackControls: PageDirector.controls),
                uses: .init(libraries: [.qrencode], network: true)),
            settings: WebSettings.self,
            needs: { _ in
                Needs(
                    sinks: [presetCycler], samples: true, realTime: true,
                    events: [.beat, .control, .device, .dropped, .gap, .preset, .speed])
            },
            make: { settings throws(Problem) in
                try settings.check()
                return WebSink(settings, tokenFile: tokenFile(), presets: presets(), browser: settings.opensBrowser ? browser() : nil)
            })
    }

    /// The sink that changes the presets of pages when their user asks for it, and keeps what the user has chosen for the next run.
    private static let presetCycler = PluginSpec(
        "presets", primary: .text("/dev/null"),
        settings: ["mode": .text("manual"), "time_s": .number(20), "select": .texts(["preset", "speed", "control"])])
}

/// The settings of the sink `web`.
struct WebSettings: PluginSettings {
    var port: Int
    var address: String
    var page: String?
    var origins: [String]
    var handlers: [String]
    var maxClients: Int
    var opensBrowser: Bool
    var exitsOnClose: Bool

    init(_ read: inout SettingReader) {
        port = read.integer(
            "port", default: 8043, in: 0...65_535,
            "TCP port. If it is in use, the next free one of the following 20 is used; 0: any free port."
        )
        address = read.text(
            "bind", default: "127.0.0.1",
            "IP address to listen on: 127.0.0.1 for this machine only, 0.0.0.0 for all its networks. The connection is not encrypted.")
        page = read.text("page", "Folder with an index.html, or HTML file, to serve instead of the built-in page.")
        origins = read.texts("origin", "Origins of other servers' pages that may connect: http://localhost:5173.")
        handlers = read.texts("handlers", "Names of further message handlers for the page, in window.webkit.messageHandlers.")
        maxClients = read.integer("max_clients", default: 64, in: 1...1000, "Maximum number of connected clients.")
        opensBrowser = read.boolean(
            "open", default: false, "Open the page in the default browser of the desktop session. Its URL is then valid for this run only.")
        exitsOnClose = read.boolean("exit_on_close", default: false, "End the run when a page sends closeViz.")
    }

    func check() throws(Problem) {
        if page == "" { throw Problem("the path is empty; is a variable of the shell unset?", at: "page") }
        guard InternetAddress.canonical(address) != nil else { throw Problem(ListeningSocket.fault(inAddress: address), at: "bind") }
        for text in origins where !Origin.isValid(text) {
            throw Problem("\"\(text)\" is not an origin; write it as http://HOST:PORT, without a path", at: "origin")
        }
        for name in handlers where !Self.isName(name) {
            throw Problem("\"\(name)\" is not a name of letters, digits, _ and $", at: "handlers")
        }
    }

    /// Whether a text is a JavaScript identifier of ASCII characters.
    private static func isName(_ text: String) -> Bool {
        guard let first = text.first, text.utf8.count <= 64 else { return false }
        return !first.isNumber && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_" || $0 == "$") }
    }
}

/// The origin of a page: scheme, host and port.
enum Origin {
    static func isValid(_ text: String) -> Bool {
        guard let colon = text.firstRange(of: "://"), ["http", "https"].contains(text[..<colon.lowerBound].lowercased()) else {
            return false
        }
        let host = text[colon.upperBound...]
        return !host.isEmpty && host.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || ".-:[]_".contains($0)) }
    }
}

/// The sink `web`: a web server and its bridge.
final class WebSink: DirectingSink {
    private let settings: WebSettings
    private let tokenFile: TokenFile?
    private let presets: String?
    private let browser: DesktopBrowser?
    private var bridge: Bridge?

    init(_ settings: WebSettings, tokenFile: TokenFile?, presets: String?, browser: DesktopBrowser?) {
        self.settings = settings
        self.tokenFile = tokenFile
        self.presets = presets
        self.browser = browser
    }

    func open(_ context: SinkContext) throws(Problem) {
        var folder: PageFolder?
        if let page = settings.page {
            folder = try PageFolder(page)
        }
        let token = token(context)
        let socket = try ListeningSocket(address: settings.address, port: settings.port)
        let site = WebSite(
            address: socket.address, port: socket.port, token: token, origins: settings.origins, handlers: settings.handlers,
            files: PageFiles.all, folder: folder, presets: presets)
        do {
            bridge = try Bridge.listen(
                on: socket.descriptor.number, context,
                BridgeSettings(clientLimit: settings.maxClients, exitsOnClose: settings.exitsOnClose), site: site)
        } catch {
            socket.close()
            throw Problem("\(context.name): cannot listen on port \(socket.port): \(error)")
        }
        let isShown = browser?.open(site.url(host: Self.isWildcard(site) ? "localhost" : nil))
        // Where no browser shows the page, only this line has the URL: --quiet does not hide it.
        announce(site, context, isShown == true ? context.messages.inform : context.messages.announce)
        if isShown == false { context.messages.warn("\(context.name): cannot start the browser; open the URL in it") }
    }

    private func token(_ context: SinkContext) -> String {
        // Other users of the machine can read the arguments of the browser's process, which contain the token.
        if browser != nil { return TokenFile.makeToken() }
        var reason = "neither XDG_STATE_HOME nor HOME is set"
        if let tokenFile {
            do {
                return try tokenFile.token()
            } catch {
                reason = error.message
            }
        }
        context.messages.warn("\(context.name): the URL is valid for this run only: \(reason)")
        return TokenFile.makeToken()
    }

    /// Prints the URL; for a server that other machines can reach also a warning, and a QR code on terminals.
    private func announce(_ site: WebSite, _ context: SinkContext, _ print: (_ text: String, _ figure: [String]) -> Void) {
        if settings.port != 0, site.port != settings.port {
            context.messages.warn("\(context.name): port \(settings.port) is in use; using port \(site.port)")
        }
        if site.isLocal { return print("\(context.name): open \(site.url())", []) }
        context.messages.warn(
            "\(context.name): other machines can connect to \(site.address): everyone who has the URL sees the page and can control it, "
                + "and the connection is not encrypted")
        let url = site.url(host: Self.isWildcard(site) ? InternetAddress.reachable(isIPv4: site.address == "0.0.0.0") ?? "localhost" : nil)
        do {
            print("\(context.name): open \(url)", try QRCode(url).lines)
        } catch {
            print("\(context.name): open \(url) (no QR code: \(error.message); Debian's package is libqrencode4)", [])
        }
    }

    /// Whether the server listens on all addresses of the machine.
    private static func isWildcard(_ site: WebSite) -> Bool { ["0.0.0.0", "::"].contains(site.address) }

    func makeDirector() throws(Problem) -> sending any Director {
        PageDirector(bridge?.presets)
    }

    func begin(_ stream: StreamHeader) throws(Problem) {
        bridge?.begin(stream)
    }

    func write(_ batches: BatchBlock) throws(Problem) {
        bridge?.write(batches)
    }

    func write(_ events: [Event]) throws(Problem) {
        bridge?.write(events)
    }

    func end(_ summary: StreamSummary) throws(Problem) {
        bridge?.end(summary)
    }

    func close() throws(Problem) {
        bridge?.close()
        bridge = nil
    }
}
