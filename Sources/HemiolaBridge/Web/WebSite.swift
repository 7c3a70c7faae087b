/// What the web server of a ``Bridge`` serves, and to whom.
public struct WebSite: Sendable {
    /// The address that the server listens on, as text without brackets: `127.0.0.1`, `::1`.
    public var address: String
    /// The port that the server listens on.
    public var port: Int
    /// The secret that every request needs: at least 128 random bits, as letters and digits.
    public var token: String
    /// The origins of other pages that may connect: `http://localhost:5173`.
    public var origins: [String]
    /// The names of message handlers that the page script adds to `window.webkit.messageHandlers`, besides those of the protocol.
    public var handlers: [String]
    /// The files of the built-in page by their paths: `/index.html`, `/app/app.js`. `/hemiola.js` is the page script, and its first line is
    /// replaced by the current state.
    public var files: [String: [UInt8]]
    /// The user's page, which is served instead of the built-in page; nil: none.
    public var folder: PageFolder?

    /// The folder of the user's presets, which the built-in page shows beside its own; nil: none. It may be missing.
    public var presets: String?

    /// A site with the built-in page, or with the user's page if a folder is given.
    public init(
        address: String, port: Int, token: String, origins: [String] = [], handlers: [String] = [], files: [String: [UInt8]],
        folder: PageFolder? = nil, presets: String? = nil
    ) {
        self.address = address
        self.port = port
        self.token = token
        self.origins = origins
        self.handlers = handlers
        self.files = files
        self.folder = folder
        self.presets = presets
    }

    /// Whether only processes of this machine can connect.
    public var isLocal: Bool { address == "::1" || address.hasPrefix("127.") }

    /// The URL of the page, with its token.
    ///
    /// - Parameter host: The name or address of the machine in the URL; nil: the address that the server listens on.
    public func url(host: String? = nil) -> String {
        let host = host ?? address
        return "http://\(host.contains(":") ? "[\(host)]" : host):\(port)/?token=\(token)"
    }
}
