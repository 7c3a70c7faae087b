internal import HemiolaRecords
internal import HemiolaSystem
internal import HemiolaVisualizer
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix

/// The body of a response: bytes, then the rest of a file. It is sent in parts.
struct WebBody: Sendable {
    var bytes: ByteBuffer
    /// The file, and the position from which it is sent.
    var rest: (file: PageFile, offset: Int)?

    var count: Int { bytes.readableBytes + (rest.map { $0.file.size - $0.offset } ?? 0) }

    /// The next bytes that are in memory.
    ///
    /// - Returns: nil: the next bytes are those of the file.
    func bytes(at offset: Int, limit: Int) -> ByteBuffer? {
        let count = min(limit, bytes.readableBytes - offset)
        return count > 0 ? bytes.getSlice(at: bytes.readerIndex + offset, length: count) : nil
    }

    /// Reads the next bytes of the file. Blocks.
    ///
    /// - Returns: nil if the file cannot be read, or has become shorter.
    func read(at offset: Int, limit: Int) -> ByteBuffer? {
        guard let rest else { return nil }
        let count = min(limit, count - offset)
        guard let part = rest.file.read(at: rest.offset + offset - bytes.readableBytes, count: count), part.count == count else {
            return nil
        }
        return ByteBuffer(bytes: part)
    }
}

/// A response to an HTTP request.
struct WebResponse {
    var status: HTTPResponseStatus
    var headers: HTTPHeaders
    var body: WebBody

    /// A response with a line of text.
    init(_ status: HTTPResponseStatus, _ text: String) {
        self.init(status, type: "text/plain; charset=utf-8", ByteBuffer(string: "\(text)\n"), cache: "no-store")
    }

    init(_ status: HTTPResponseStatus = .ok, type: String, _ bytes: ByteBuffer, cache: String) {
        self.init(status, type: type, WebBody(bytes: bytes), cache: cache)
    }

    init(_ status: HTTPResponseStatus = .ok, type: String, _ body: WebBody, cache: String) {
        self.status = status
        self.body = body
        headers = [
            "Content-Type": type, "Cache-Control": cache, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin",
        ]
    }

    /// Adds an entity tag. If the client has the same version, the response is 304 without a body.
    mutating func setTag(_ tag: String, for head: HTTPRequestHead) {
        let tag = "\"\(tag)\""
        headers.add(name: "ETag", value: tag)
        guard head.headers[canonicalForm: "if-none-match"].contains(where: { $0 == tag || $0 == "W/\(tag)" || $0 == "*" }) else { return }
        status = .notModified
        body = WebBody(bytes: ByteBuffer())
    }
}

/// The web server of a bridge: access, pages and connections. Used only on the event loop.
final class WebServer {
    private static let scriptPath = "/hemiola.js"
    private static let socketPath = "/hemiola/socket"
    /// The document in which the page runs presets of others.
    private static let framePath = "/stage/frame.html"
    /// Seconds for which a browser keeps the cookie: a year.
    private static let cookieAge = 31_536_000

    let hub: BridgeHub
    let connections: WebConnections
    private let site: WebSite
    private let access: WebAccess
    private var files: [String: (bytes: ByteBuffer, tag: String)] = [:]

    init(_ hub: BridgeHub, _ site: WebSite, connections: WebConnections) {
        self.hub = hub
        self.site = site
        self.connections = connections
        access = WebAccess(site)
        for (path, bytes) in site.files where path != Self.scriptPath {
            files[path] = (ByteBuffer(bytes: bytes), Self.tag(of: bytes))
        }
    }

    // MARK: - WebSocket

    /// Whether a request may be upgraded to a WebSocket.
    ///
    /// - Returns: The headers of the response; nil: the request is answered like any other.
    func upgradeHeaders(for head: HTTPRequestHead) -> HTTPHeaders? {
        guard let request = WebRequest(target: head.uri), request.path == Self.socketPath,
            case .permitted = access.check(head, request, isSocket: true)
        else { return nil }
        // A browser closes the connection if the server selects none of the offered subprotocols.
        let isOffered = WebAccess.offeredProtocols(head.headers).contains { $0 == WebAccess.protocolName }
        return isOffered ? ["Sec-WebSocket-Protocol": WebAccess.protocolName] : [:]
    }

    // MARK: - Pages

    /// Checks a request.
    func decision(on head: HTTPRequestHead, _ request: WebRequest) -> WebAccess.Decision {
        access.check(head, request, isSocket: request.path == Self.socketPath)
    }

    /// The response to a permitted request of the method GET or HEAD. Files of the user are read on the background thread.
    func response(
        to head: HTTPRequestHead, _ request: WebRequest, _ permission: WebAccess.Permission
    ) -> EventLoopFuture<WebResponse> {
        func now(_ response: WebResponse) -> EventLoopFuture<WebResponse> { hub.loop.makeSucceededFuture(response) }
        func later(_ make: @escaping @Sendable () -> WebResponse) -> EventLoopFuture<WebResponse> {
            BackgroundThread.pool.runIfActive(eventLoop: hub.loop, make)
        }
        switch request.path {
        case Self.scriptPath:
            return now(Self.response(withScriptOf: site, hub.state))
        case "/metrics":
            return now(WebResponse(type: "text/plain; version=0.0.4; charset=utf-8", hub.metrics, cache: "no-store"))
        case Self.socketPath:
            var response = WebResponse(.upgradeRequired, "This path is a WebSocket of version 13.")
            response.headers.add(name: "Upgrade", value: "websocket")
            response.headers.add(name: "Sec-WebSocket-Version", value: "13")
            return now(response)
        default:
            break
        }
        guard let names = request.names else { return now(Self.notFound) }
        if names.first == "hemiola" {
            guard let path = hub.calls.takeFile(at: request.path) else { return now(Self.notFound) }
            return later { Self.response(withImportedFile: path) }
        }
        if let make = Self.userFile(at: request.path, names, of: site, for: head) { return later(make) }
        let path = request.path == "/" ? "/index.html" : request.path
        guard let file = files[path] else { return now(Self.notFound) }
        var response = Self.response(withPage: file.bytes, path, host: permission.host)
        response.setTag(file.tag, for: head)
        return now(response)
    }

    /// The response to a request of a film's page, which needs no permission and no connection. Blocks.
    ///
    /// - Parameter host: The host of the page's address.
    static func response(to request: WebRequest, of site: WebSite, _ state: VisualizerState, host: String) -> WebResponse {
        if request.path == scriptPath { return response(withScriptOf: site, state) }
        guard let names = request.names else { return notFound }
        let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: request.path)
        if let make = userFile(at: request.path, names, of: site, for: head) { return make() }
        let path = request.path == "/" ? "/index.html" : request.path
        return site.files[path].map { response(withPage: ByteBuffer(bytes: $0), path, host: host) } ?? notFound
    }

    /// Makes the response with a file of the user's page or presets, which blocks; nil: the path is one of the built-in page.
    private static func userFile(
        at path: String, _ names: [Substring], of site: WebSite, for head: HTTPRequestHead
    ) -> (@Sendable () -> WebResponse)? {
        // The declarations of the page script belong to it, whatever page is served.
        if let folder = site.folder, path != "/hemiola.d.ts" { return { response(with: folder.open(names), for: head) } }
        if names.count == 2, names[0] == "presets", let folder = site.presets {
            return { response(withPreset: names[1], of: folder, for: head) }
        }
        return nil
    }

    /// The response with a file of the built-in page.
    private static func response(withPage bytes: ByteBuffer, _ path: String, host: String) -> WebResponse {
        let type = MediaType(ofFile: path)
        var response = WebResponse(type: type.withCharacterSet, bytes, cache: "no-cache")
        if type.isHTML {
            response.headers.add(name: "Content-Security-Policy", value: path == framePath ? framePolicy : policy(host: host))
        }
        return response
    }

    /// The response with a file of the user's page. Blocks: called on the background thread.
    static func response(with file: PageFile?, for head: HTTPRequestHead) -> WebResponse {
        guard let file else { return notFound }
        let type = MediaType(ofFile: file.path)
        var body = WebBody(bytes: ByteBuffer(), rest: (file, 0))
        if type.isHTML {
            guard let start = file.read(at: 0, count: min(file.size, headLength)) else {
                return WebResponse(.internalServerError, "The file cannot be read.")
            }
            body = WebBody(bytes: ByteBuffer(bytes: HTMLInjection.injecting(into: start)), rest: (file, start.count))
        }
        var response = WebResponse(type: type.text, body, cache: "no-cache")
        response.setTag(type.isHTML ? "page-\(file.tag)" : file.tag, for: head)
        return response
    }

    /// The response with a file of the user's presets, or with the list of them. Blocks: called on the background thread.
    ///
    /// - Parameter name: Empty: the list.
    private static func response(withPreset name: Substring, of path: String, for head: HTTPRequestHead) -> WebResponse {
        let folder = PageFolder(files: path)
        if name == "" {
            let names = folder?.names(withExtensions: ["json", "js"]) ?? []
            let list = JSONValue.list(names.map(JSONValue.text)).line
            return WebResponse(type: "application/json", ByteBuffer(string: list), cache: "no-store")
        }
        guard let file = folder?.open([name]) else { return notFound }
        // Code of others: no type that a browser runs or shows.
        var response = WebResponse(type: "application/octet-stream", WebBody(bytes: ByteBuffer(), rest: (file, 0)), cache: "no-cache")
        response.setTag(file.tag, for: head)
        return response
    }

    /// The response with a file that a page imports. Blocks: called on the background thread.
    private static func response(withImportedFile path: String) -> WebResponse {
        do {
            let body = WebBody(bytes: ByteBuffer(), rest: (PageFile(try .imported(path)), 0))
            return WebResponse(type: "application/octet-stream", body, cache: "no-store")
        } catch {
            return WebResponse(.notFound, error.message)
        }
    }

    /// The beginning of an HTML file in bytes, in which the place for the page script is found.
    private static let headLength = 64 << 10

    static let notFound = WebResponse(.notFound, "There is nothing at this path.")

    /// The headers that depend on how the request was permitted.
    func headers(for permission: WebAccess.Permission) -> HTTPHeaders {
        var headers = HTTPHeaders()
        if permission.setsCookie {
            let cookie = "\(WebAccess.cookieName)=\(site.token); HttpOnly; SameSite=Strict; Path=/; Max-Age=\(Self.cookieAge)"
            headers.add(name: "Set-Cookie", value: cookie)
        }
        if let origin = permission.allowedOrigin {
            headers.add(name: "Access-Control-Allow-Origin", value: origin)
            headers.add(name: "Vary", value: "Origin")
        }
        return headers
    }

    private static func policy(host: String) -> String {
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self' ws://\(host); "
            + "font-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    }

    /// The frame has its own policy for code. This is what a document cannot say of itself.
    private static let framePolicy = "sandbox allow-scripts; frame-ancestors 'self'"

    /// FNV-1a of the bytes: it only has to differ between versions of a file.
    private static func tag(of bytes: [UInt8]) -> String {
        String(bytes.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }, radix: 16)
    }

    // MARK: - The page script

    /// The first line of the page script, which is replaced by the current state.
    private static let placeholder = Array("const hemiolaInitial = null;".utf8)

    /// The page script with the current state of the visualizer, so that a page that is loaded again keeps its preset and speed.
    private static func script(of site: WebSite, _ state: VisualizerState) -> ByteBuffer {
        let script = site.files[scriptPath] ?? []
        guard script.starts(with: placeholder) else { return ByteBuffer(bytes: script) }
        let initial = JSONValue.object([
            .init("presetB64", state.preset.map { .text(Array($0.utf8).base64) } ?? .null),
            .init("speed", .number(state.speed ?? .nan, in: .ratio)),
            .init("handlers", .list(site.handlers.map { .text($0) })),
        ])
        // `<` occurs in strings only. Escaped, it cannot end the script element of a page that contains the script.
        let text = initial.line.dropLast().replacing("<", with: "\\u003c")
        var buffer = ByteBuffer(string: "const hemiolaInitial = \(text);")
        buffer.writeBytes(script.dropFirst(placeholder.count))
        return buffer
    }

    private static func response(withScriptOf site: WebSite, _ state: VisualizerState) -> WebResponse {
        WebResponse(type: "text/javascript; charset=utf-8", script(of: site, state), cache: "no-store")
    }
}
