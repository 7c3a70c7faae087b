internal import NIOCore

/// The open connections of a web server, limited in number. Used only on the event loop.
///
/// A connection is *new* until it has made a permitted request. If there are too many new connections, the oldest is closed: a browser
/// makes its request within milliseconds, so that others who only open connections cannot keep it out.
final class WebConnections {
    /// Maximum number of connections without a permitted request.
    private static let newLimit = 64
    /// Maximum number of connections besides those of the WebSocket's clients: a browser opens six for one page.
    private static let reserve = 128

    private let limit: Int
    /// Number of open connections, with those of the WebSocket's clients.
    private var count = 0
    private var new: [HTTPHandler] = []
    /// The connections that are not WebSockets.
    private var plain: [ObjectIdentifier: HTTPHandler] = [:]

    init(clientLimit: Int) {
        limit = clientLimit + Self.reserve
    }

    /// Adds a new connection.
    ///
    /// - Returns: Whether it is accepted.
    func add(_ handler: HTTPHandler) -> Bool {
        guard count < limit else { return false }
        count += 1
        new.append(handler)
        plain[ObjectIdentifier(handler)] = handler
        if new.count > Self.newLimit { new.removeFirst().abort() }
        return true
    }

    /// The connection has made a permitted request.
    func accept(_ handler: HTTPHandler) {
        new.removeAll { $0 === handler }
    }

    /// The connection has become a WebSocket.
    func upgrade(_ handler: HTTPHandler) {
        accept(handler)
        plain[ObjectIdentifier(handler)] = nil
    }

    /// The connection has closed.
    func remove(_ handler: HTTPHandler) {
        count -= 1
        upgrade(handler)
    }

    /// Closes all connections that are not WebSockets.
    func abortAll() {
        for handler in Array(plain.values) { handler.abort() }
    }
}
