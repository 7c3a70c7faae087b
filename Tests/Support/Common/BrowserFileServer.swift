import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// An HTTP server on 127.0.0.1 that serves folders and texts to a browser. It stops on deinitialization.
public final class BrowserFileServer: Sendable {
    /// The files of a folder, at the paths that begin with a prefix.
    public struct Folder: Sendable {
        /// It begins and ends with a slash.
        public var prefix: String
        public var path: String

        public init(_ prefix: String, _ path: String) {
            self.prefix = prefix
            self.path = path
        }
    }

    public let port: Int
    private let channel: any Channel

    /// Starts the server on a free port.
    ///
    /// - Parameters:
    ///   - folders: The first one whose prefix matches and that contains the file is used.
    ///   - texts: Documents by path, which take precedence.
    public init(folders: [Folder] = [], texts: [String: String] = [:]) throws {
        let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 64)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(FileHandler(folders: folders, texts: texts))
                }
            }
        channel = try bootstrap.bind(host: "127.0.0.1", port: 0).wait()
        port = channel.localAddress?.port ?? 0
    }

    deinit { channel.close(promise: nil) }

    /// `http://127.0.0.1:PORT`
    public var origin: String { "http://127.0.0.1:\(port)" }
}

private final class FileHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let folders: [BrowserFileServer.Folder]
    private let texts: [String: String]
    private var path = ""

    init(folders: [BrowserFileServer.Folder], texts: [String: String]) {
        self.folders = folders
        self.texts = texts
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): path = String(head.uri.prefix { $0 != "?" })
        case .body: break
        case .end: respond(context)
        }
    }

    private func respond(_ context: ChannelHandlerContext) {
        let content = self.content
        var headers: HTTPHeaders = ["Cache-Control": "no-store", "Content-Length": "\(content?.count ?? 0)"]
        if content != nil {
            headers.add(name: "Content-Type", value: Self.types[(path as NSString).pathExtension] ?? "text/html; charset=utf-8")
        }
        let head = HTTPResponseHead(version: .http1_1, status: content == nil ? .notFound : .ok, headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if let content { context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: content)))), promise: nil) }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }

    private var content: Data? {
        if let text = texts[path] { return Data(text.utf8) }
        guard let path = path.removingPercentEncoding, !path.contains("..") else { return nil }
        for folder in folders where path.hasPrefix(folder.prefix) {
            let name = path.hasSuffix("/") ? path + "index.html" : path
            if let data = FileManager.default.contents(atPath: folder.path + "/" + name.dropFirst(folder.prefix.count)) { return data }
        }
        return nil
    }

    private static let types = [
        "js": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8", "json": "application/json", "svg": "image/svg+xml",
        "png": "image/png",
    ]
}
