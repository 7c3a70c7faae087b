internal import HemiolaSystem
internal import NIOCore
internal import NIOHTTP1

/// Decides who may read the page and connect to the WebSocket.
///
/// - `Host` must name this server. Otherwise a website whose domain name is changed to resolve to this machine (DNS rebinding) would be
///   of the same origin as the server.
/// - `Origin`, which browsers send with requests of scripts, must be the server's own or one that the user has allowed.
/// - Every request needs the token: in the query, in the cookie, as a bearer token, or as a subprotocol of the WebSocket.
struct WebAccess: Sendable {
    static let cookieName = "hemiola"
    static let protocolName = "hemiola.v1"
    private static let tokenProtocolPrefix = "hemiola.token."

    /// What is done with a request.
    enum Decision: Equatable {
        case permitted(Permission)
        /// The status and the text of the response.
        case refused(HTTPResponseStatus, String)

        static let otherHost = refused(
            .misdirectedRequest, "This server does not have the name in the Host header; open the URL that hemiola has printed.")
        static let otherOrigin = refused(
            .forbidden, "Pages of this origin may not connect; allow it with --sink web:origin=http://HOST:PORT.")
        static let noToken = refused(
            .forbidden, "The token is missing or wrong; open the URL that hemiola has printed, which ends with ?token=….")
    }

    /// A request that may be served.
    struct Permission: Equatable {
        /// The value of `Host`.
        var host: String
        /// The origin of another page that the user has allowed; nil: the request has the server's own origin, or none.
        var allowedOrigin: String?
        /// Whether the token is in the query: the response sets the cookie.
        var setsCookie: Bool
    }

    private let token: [UInt8]
    private let port: Int
    /// The accepted values of `Host`, in lower case.
    private let hosts: Set<String>
    /// Whether `Host` may be any IP address with the port, because the server listens on all addresses of the machine. An address
    /// cannot be changed by DNS rebinding.
    private let acceptsAnyAddress: Bool
    private let origins: Set<String>

    init(_ site: WebSite) {
        token = Array(site.token.utf8)
        port = site.port
        var names = ["localhost", "127.0.0.1", "[::1]", site.address.contains(":") ? "[\(site.address)]" : site.address]
        if !site.isLocal, let name = Self.machineName { names += [name, "\(name).local"] }
        var hosts = Set(names.map { "\($0):\(site.port)".lowercased() })
        // Browsers omit the default port.
        if site.port == 80 { hosts.formUnion(names.map { $0.lowercased() }) }
        self.hosts = hosts
        acceptsAnyAddress = ["0.0.0.0", "::"].contains(site.address)
        origins = Set(site.origins.map { $0.lowercased() })
    }

    /// Checks a request.
    ///
    /// - Parameter isSocket: Whether it is for the WebSocket, where a subprotocol can contain the token.
    func check(_ head: HTTPRequestHead, _ request: WebRequest, isSocket: Bool) -> Decision {
        let hostValues = head.headers["host"]
        guard hostValues.count == 1, let host = hostValues.first?.lowercased(), isOwn(host) else { return .otherHost }
        var allowedOrigin: String?
        for origin in head.headers["origin"] where origin.lowercased() != "http://\(host)" {
            guard origins.contains(origin.lowercased()) else { return .otherOrigin }
            allowedOrigin = origin
        }
        let hasQueryToken = request.queryToken.map(isToken) ?? false
        guard
            hasQueryToken || hasBearerToken(head.headers) || isSocket && hasTokenProtocol(head.headers)
                || hasCookie(head.headers) && (allowedOrigin != nil || isOfOwnPage(head.headers, host: host, isSocket: isSocket))
        else { return .noToken }
        return .permitted(Permission(host: host, allowedOrigin: allowedOrigin, setsCookie: hasQueryToken))
    }

    /// The subprotocols that a client of the WebSocket offers.
    static func offeredProtocols(_ headers: HTTPHeaders) -> [Substring] {
        headers[canonicalForm: "sec-websocket-protocol"]
    }

    // MARK: - Host

    private func isOwn(_ host: String) -> Bool {
        if hosts.contains(host) { return true }
        guard acceptsAnyAddress else { return false }
        let suffix = ":\(port)"
        // Browsers omit the default port.
        guard host.hasSuffix(suffix) || port == 80 else { return false }
        let address = host.hasSuffix(suffix) ? host.dropLast(suffix.count) : host[...]
        if address.hasPrefix("["), address.hasSuffix("]") { return Self.isAddress(String(address.dropFirst().dropLast()), isIPv4: false) }
        return Self.isAddress(String(address), isIPv4: true)
    }

    private static func isAddress(_ text: String, isIPv4: Bool) -> Bool {
        // Without the name of an interface.
        guard !text.contains("%"), let address = try? SocketAddress(ipAddress: text, port: 0) else { return false }
        return if case .v4 = address { isIPv4 } else { !isIPv4 }
    }

    private static var machineName: String? {
        let name = (try? FileSystem.bytes(of: "/proc/sys/kernel/hostname", count: 256)) ?? []
        let text = String(decoding: name.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        return text.isEmpty ? nil : text
    }

    // MARK: - Token

    /// Compares in constant time, so that the time of the response does not depend on the number of correct characters.
    private func isToken(_ text: some StringProtocol) -> Bool {
        let bytes = Array(text.utf8)
        guard bytes.count == token.count else { return false }
        return zip(bytes, token).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }

    private func hasBearerToken(_ headers: HTTPHeaders) -> Bool {
        headers["authorization"].contains { value in
            let parts = value.split(separator: " ", maxSplits: 1)
            return parts.count == 2 && parts[0].lowercased() == "bearer" && isToken(parts[1])
        }
    }

    private func hasTokenProtocol(_ headers: HTTPHeaders) -> Bool {
        Self.offeredProtocols(headers).contains { name in
            name.hasPrefix(Self.tokenProtocolPrefix) && isToken(name.dropFirst(Self.tokenProtocolPrefix.count))
        }
    }

    private func hasCookie(_ headers: HTTPHeaders) -> Bool {
        headers["cookie"].contains { value in
            value.split(separator: ";").contains { item in
                let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                return parts.count == 2 && parts[0].drop { $0 == " " } == Self.cookieName && isToken(parts[1])
            }
        }
    }

    /// Whether this server's page makes the request, or the user opens the page. The cookie of others is not accepted: a strict cookie is also
    /// sent with requests of other servers' pages on the same machine, because ports do not distinguish sites.
    ///
    /// Browsers leave out `Sec-Fetch-Site` where the server is on another machine, because the connection is not encrypted. `Referer` then
    /// names the page, unless that page prevents it; and only the user's own opening of a document accepts `text/html`. With a WebSocket,
    /// browsers always send `Origin`, which is checked before.
    private func isOfOwnPage(_ headers: HTTPHeaders, host: String, isSocket: Bool) -> Bool {
        if let site = headers.first(name: "sec-fetch-site")?.lowercased() {
            return site == "same-origin" || site == "none" || headers.first(name: "sec-fetch-mode")?.lowercased() == "navigate"
        }
        if isSocket || headers.contains(name: "origin") { return true }
        if headers.first(name: "referer")?.lowercased().hasPrefix("http://\(host)/") == true { return true }
        return headers[canonicalForm: "accept"].contains { $0.lowercased().hasPrefix("text/html") }
    }
}
