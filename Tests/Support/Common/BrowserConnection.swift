import Dispatch
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket
import Synchronization

/// A WebSocket connection to the DevTools of a browser, for all its tabs.
///
/// Use from one thread. Calls block it, each with a time limit. Events that arrive between calls are handled with the next call.
final class BrowserConnection {
    private let channel: any Channel
    private let inbox: BrowserInbox
    private var nextCall = 1
    /// Handlers of events, by session.
    private var handlers: [String: (_ event: String, _ parameters: [String: Any]) -> Void] = [:]

    /// Connects to a port of this machine.
    init(port: Int, path: String) throws {
        let inbox = BrowserInbox()
        self.inbox = inbox
        let loop = MultiThreadedEventLoopGroup.singleton.any()
        let upgraded = loop.makePromise(of: Void.self)
        let bootstrap = ClientBootstrap(group: loop).channelInitializer { channel in
            let upgrader = NIOWebSocketClientUpgrader(maxFrameSize: 1 << 28) { channel, _ in
                channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(FrameHandler(inbox)) }
            }
            let request = UpgradeRequest(host: "127.0.0.1:\(port)", path: path, upgraded)
            let configuration: NIOHTTPClientUpgradeSendableConfiguration = (
                upgraders: [upgrader],
                completionHandler: { context in
                    // The handler that has sent the request is of no use for frames.
                    context.pipeline.removeHandler(name: UpgradeRequest.name).cascade(to: upgraded)
                }
            )
            return channel.pipeline.addHTTPClientHandlers(withClientUpgrade: configuration).flatMap {
                channel.pipeline.addHandler(request, name: UpgradeRequest.name)
            }
        }
        channel = try bootstrap.connect(host: "127.0.0.1", port: port).wait()
        let timeout = channel.eventLoop.scheduleTask(in: .seconds(30)) {
            upgraded.fail(Browser.Failure(description: "the DevTools do not respond"))
        }
        try upgraded.futureResult.wait()
        timeout.cancel()
    }

    func close() {
        channel.close(promise: nil)
    }

    /// Handles the events of a session, or none.
    func handle(_ session: String, _ handler: ((_ event: String, _ parameters: [String: Any]) -> Void)?) {
        handlers[session] = handler
    }

    /// Calls a method and waits for its result.
    @discardableResult
    func call(_ method: String, _ parameters: [String: Any] = [:], session: String? = nil, timeout seconds: Double = 60) throws
        -> [String: Any]
    {
        let number = nextCall
        nextCall += 1
        var message: [String: Any] = ["id": number, "method": method, "params": parameters]
        if let session { message["sessionId"] = session }
        let text = try JSONSerialization.data(withJSONObject: message)
        let frame = WebSocketFrame(fin: true, opcode: .text, maskKey: .random(), data: ByteBuffer(bytes: text))
        channel.writeAndFlush(frame, promise: nil)

        let deadline = ProcessInfo.processInfo.systemUptime + seconds * Sanitizer.slowness
        while let message = try next(until: deadline) {
            guard message["id"] as? Int == number else {
                deliver(message)
                continue
            }
            if let error = message["error"] as? [String: Any] {
                throw Browser.Failure(description: "\(method): \(error["message"] ?? error)")
            }
            return message["result"] as? [String: Any] ?? [:]
        }
        throw Browser.Failure(description: "\(method): timeout after \(seconds) s")
    }

    /// Handles events until a condition is true.
    ///
    /// - Returns: false at the time limit.
    func wait(_ seconds: Double, until isSo: () -> Bool) throws -> Bool {
        let deadline = ProcessInfo.processInfo.systemUptime + seconds * Sanitizer.slowness
        while !isSo() {
            guard let message = try next(until: deadline) else { return false }
            deliver(message)
        }
        return true
    }

    private func deliver(_ message: [String: Any]) {
        guard let session = message["sessionId"] as? String, let event = message["method"] as? String else { return }
        handlers[session]?(event, message["params"] as? [String: Any] ?? [:])
    }

    private func next(until deadline: Double) throws -> [String: Any]? {
        guard let bytes = try inbox.next(until: deadline) else { return nil }
        return try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any]
    }
}

/// The queue of received messages between the event loop and the thread that waits for them.
private final class BrowserInbox: Sendable {
    private let messages = Mutex<[[UInt8]?]>([])
    private let count = DispatchSemaphore(value: 0)

    /// Appends a message; nil: the connection is closed.
    func append(_ message: [UInt8]?) {
        messages.withLock { $0.append(message) }
        count.signal()
    }

    /// The next message; nil at the time limit.
    func next(until deadline: Double) throws -> [UInt8]? {
        let wait = max(0, deadline - ProcessInfo.processInfo.systemUptime)
        guard count.wait(timeout: .now() + wait) == .success else { return nil }
        guard let message = messages.withLock({ $0.removeFirst() }) else {
            append(nil)
            throw Browser.Failure(description: "the browser has closed the connection")
        }
        return message
    }
}

/// Sends the upgrade request when the channel is active, and fails the promise when the server refuses.
private final class UpgradeRequest: ChannelInboundHandler, RemovableChannelHandler, Sendable {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    static let name = "upgrade request"

    private let host: String
    private let path: String
    private let upgraded: EventLoopPromise<Void>

    init(host: String, path: String, _ upgraded: EventLoopPromise<Void>) {
        self.host = host
        self.path = path
        self.upgraded = upgraded
    }

    func channelActive(context: ChannelHandlerContext) {
        let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: path, headers: ["Host": host, "Content-Length": "0"])
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .head(let head) = unwrapInboundIn(data) {
            upgraded.fail(Browser.Failure(description: "the DevTools refuse the connection: \(head.status)"))
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        upgraded.fail(error)
        context.close(promise: nil)
    }
}

/// Joins the frames of a message and answers pings.
private final class FrameHandler: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame
    typealias OutboundOut = WebSocketFrame

    private let inbox: BrowserInbox
    private var message: [UInt8] = []

    init(_ inbox: BrowserInbox) {
        self.inbox = inbox
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        switch frame.opcode {
        case .text, .binary, .continuation:
            message += frame.unmaskedData.readableBytesView
            guard frame.fin else { return }
            inbox.append(message)
            message = []
        case .ping:
            let pong = WebSocketFrame(fin: true, opcode: .pong, maskKey: .random(), data: frame.unmaskedData)
            context.writeAndFlush(wrapOutboundOut(pong), promise: nil)
        case .connectionClose: context.close(promise: nil)
        default: break
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        inbox.append(nil)
        context.fireChannelInactive()
    }
}
