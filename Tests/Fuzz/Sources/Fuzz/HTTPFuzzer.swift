import Hemiola
import HemiolaPlugins
import NIOCore
import NIOEmbedded

@testable import HemiolaBridge

extension Fuzzer {
    /// One connection of the web server. The input is a script with one step per line: `P` stops or continues the reading of the client,
    /// `R` reads one waiting part, `T` lets two seconds pass; every other line is sent, with the line end of HTTP, and one that ends
    /// with `\` without it.
    ///
    /// A client that does not read costs one part of a response, and every response begins with a status line.
    func tryHTTP(_ bytes: [UInt8]) {
        let loop = EmbeddedEventLoop()
        let context = SinkContext(
            name: "web", records: RecordChoice(catalog: PluginRegistry.standard.catalog), timing: SinkTiming(isLive: true),
            controls: ControlPort(submit: { _, _, reply in reply?(.done) }, report: { _ in }))
        let hub = BridgeHub(context, BridgeSettings(clientLimit: 1), SubscriptionUnion(), on: loop)
        let long = [UInt8](repeating: UInt8(ascii: "x"), count: 300_000)
        let site = WebSite(
            address: "127.0.0.1", port: 80, token: "t",
            files: ["/index.html": Array("<p>".utf8), "/long.txt": long, "/hemiola.js": Array("const hemiolaInitial = null;".utf8)])
        let server = WebServer(hub, site, connections: WebConnections(clientLimit: 1))
        let channel = EmbeddedChannel(loop: loop)
        let reader = ClientReader()
        try! channel.pipeline.syncOperations.addHandler(reader)
        try! Bridge.configure(channel, server)
        channel.pipeline.fireChannelActive()
        for step in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).prefix(400) {
            switch step {
            case [UInt8(ascii: "P")]: reader.toggle()
            case [UInt8(ascii: "R")]: reader.readPart()
            case [UInt8(ascii: "T")]: loop.advanceTime(by: .seconds(2))
            default:
                guard channel.isActive else { break }
                let line = step.last == UInt8(ascii: "\\") ? Array(step.dropLast()) : step + [13, 10]
                _ = try? channel.writeInbound(ByteBuffer(bytes: line))
            }
            loop.run()
            require(reader.waitingBytes <= HTTPHandler.partSize + 4096, "\(reader.waitingBytes) bytes wait")
        }
        reader.finish()
        loop.advanceTime(by: .seconds(400))
        let output = reader.received
        require(output.isEmpty || output.starts(with: Array("HTTP/1.1 ".utf8)), "no status line")
        _ = try? channel.finish(acceptAlreadyClosed: true)
        _ = try? loop.syncShutdownGracefully()
    }
}

/// The other end of the connection: while it does not read, the bytes wait here in place of the socket.
private final class ClientReader: ChannelOutboundHandler {
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    private(set) var waitingBytes = 0
    /// The first bytes.
    private(set) var received: [UInt8] = []
    private var isReading = true
    private var waiting: [(IOData, EventLoopPromise<Void>?)] = []

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let part = unwrapOutboundIn(data)
        if received.count < 9, case .byteBuffer(let buffer) = part { received += buffer.readableBytesView.prefix(9 - received.count) }
        if isReading, waiting.isEmpty { return promise?.succeed() ?? () }
        waitingBytes += part.readableBytes
        waiting.append((part, promise))
    }

    func toggle() {
        isReading.toggle()
        while isReading, !waiting.isEmpty { readPart() }
    }

    func readPart() {
        guard !waiting.isEmpty else { return }
        let (part, promise) = waiting.removeFirst()
        waitingBytes -= part.readableBytes
        promise?.succeed()
    }

    func finish() {
        isReading = true
        while !waiting.isEmpty { readPart() }
    }
}
