internal import NIOCore
internal import Synchronization

/// Passes calls and imports from clients to pages, and requests to windows, one after the other for each, and the answers back.
///
/// All bridges of a run share one object, so that a client of one sink can call a page of another. Used only on the event loop.
final class PageCalls {
    /// Maximum number of calls of one client that have no answer yet.
    private static let callsPerClient = 64
    /// Maximum number of calls of all clients that have no answer yet.
    private static let callCapacity = 1024
    /// Maximum number of bytes of calls that have not been sent to their pages.
    private static let byteCapacity = 16 << 20
    /// Maximum number of bytes of answers that wait for a client, above which an answer is replaced by an error.
    private static let answerCapacity = 2 << 20

    /// The number of the line with the tabs. Calls have numbers from 1.
    static let tabsNumber = 0

    /// A call, an import or a request to a window that has no answer yet.
    private final class Call {
        let number: Int
        let id: ClientMessage.ID?
        let requester: BridgeClient
        /// The page, or the window.
        let page: BridgeClient
        let isToWindow: Bool
        let timeLimit: Double
        /// The first message to the page; nil once it is sent.
        var line: ByteBuffer?
        /// The transfer of the file to import; nil: a function is called.
        var file: FileTransfer?
        var timer: Scheduled<Void>?

        init(
            _ number: Int, _ id: ClientMessage.ID?, from requester: BridgeClient, to page: BridgeClient, isToWindow: Bool,
            timeLimit: Double, _ line: ByteBuffer, _ file: FileTransfer?
        ) {
            self.number = number
            self.id = id
            self.requester = requester
            self.page = page
            self.isToWindow = isToWindow
            self.timeLimit = timeLimit
            self.line = line
            self.file = file
        }

        var isSent: Bool { line == nil }
        /// For messages.
        var target: String { isToWindow ? "window" : "page" }
    }

    /// What is done after the state has changed, because sending can make a client read, and so call this object again.
    private enum Effect {
        case send(ByteBuffer, BridgeClient, replacing: Int?)
        case holdReading(Bool, BridgeClient)
    }

    private let loop: any EventLoop
    /// The pages that have sent `ready`, in this order.
    private var pages: [BridgeClient] = []
    /// The clients that have sent `windowReady`, in this order.
    private var windows: [BridgeClient] = []
    /// The message with the last tabs; nil: none were received.
    private var tabs: ByteBuffer?
    /// In the order of the requests.
    private var calls: [Call] = []
    private var lastNumber = 0
    private var effects: [Effect] = []
    private var isApplying = false

    init(on loop: any EventLoop) {
        self.loop = loop
    }

    // MARK: - Pages

    /// The number of pages that have sent `ready`.
    var pageCount: Int { pages.count }

    func add(page: BridgeClient) {
        pages.removeAll { $0 === page }
        pages.append(page)
    }

    /// Adds a window, and sends it the last tabs.
    func add(window: BridgeClient) {
        windows.removeAll { $0 === window }
        windows.append(window)
        if let tabs { effects.append(.send(tabs, window, replacing: Self.tabsNumber)) }
        applyEffects()
    }

    /// Sets the tabs of all windows, also of those that connect later. The value of the reply is the number of windows.
    func set(_ tabs: ClientMessage.Tabs, id: ClientMessage.ID?, from requester: BridgeClient) {
        let line = Self.tabsLine(tabs)
        self.tabs = line
        for window in windows { effects.append(.send(line, window, replacing: Self.tabsNumber)) }
        reply(to: id, of: requester, .value(Array("\(windows.count)".utf8)))
        applyEffects()
    }

    /// Removes a client that has left: a page, a window, or the sender of calls.
    func remove(_ client: BridgeClient) {
        endCalls(to: client, nil)
        cancelCalls(of: client)
        applyEffects()
    }

    /// Ends all calls to and from the clients of a bridge that closes.
    func remove(_ clients: [BridgeClient]) {
        for client in clients { endCalls(to: client, "the run has ended") }
        for client in clients { cancelCalls(of: client) }
        applyEffects()
    }

    /// - Parameter reason: Why the calls to the client fail; nil: it has disconnected.
    private func endCalls(to client: BridgeClient, _ reason: String?) {
        pages.removeAll { $0 === client }
        windows.removeAll { $0 === client }
        for call in calls where call.page === client {
            remove(call)
            reply(to: call, .error(reason ?? "the \(call.target) has disconnected before it answered"))
        }
    }

    private func cancelCalls(of client: BridgeClient) {
        // The call that was sent is the last, so that no waiting one is sent in its place.
        for call in calls.reversed() where call.requester === client { cancel(call, nil) }
    }

    // MARK: - Requests

    func add(_ request: ClientMessage.PageRequest, id: ClientMessage.ID?, from requester: BridgeClient) {
        defer { applyEffects() }
        var isToWindow = false
        if case .window = request.task { isToWindow = true }
        guard let page = isToWindow ? windows.last : page(request.page, for: requester) else {
            return reply(to: id, of: requester, .error(isToWindow ? Self.missingWindow : Self.missing(request.page)))
        }
        // Calls that have been sent to a page that does not read are in its queue only.
        guard page.waitingCallBytes <= Self.answerCapacity else {
            return reply(to: id, of: requester, .error("busy: the \(isToWindow ? "window" : "page") does not read its messages"))
        }
        lastNumber += 1
        let line: ByteBuffer
        var file: FileTransfer?
        switch request.task {
        case .call(let function, let arguments): line = Self.callLine(lastNumber, function, arguments)
        case .importFile(let name, let size):
            if page === requester { return reply(to: id, of: requester, .error("a page cannot import into itself")) }
            if calls.contains(where: { $0.requester === requester && $0.file?.isComplete == false }) {
                return reply(to: id, of: requester, .error("busy: another import of this client is not complete"))
            }
            line = Self.importLine(lastNumber, name: name, size: size)
            file = FileTransfer(size: size)
        case .window(let action): line = Self.windowLine(lastNumber, action)
        }
        let byteCount = calls.reduce(line.readableBytes) { $0 + ($1.line?.readableBytes ?? 0) + ($1.file?.byteCount ?? 0) }
        guard calls.count < Self.callCapacity, byteCount <= Self.byteCapacity,
            calls.count(where: { $0.requester === requester }) < Self.callsPerClient
        else { return reply(to: id, of: requester, .error("busy: too many calls wait for their answers; try again")) }
        let call = Call(
            lastNumber, id, from: requester, to: page, isToWindow: isToWindow, timeLimit: request.timeLimit, line, file)
        calls.append(call)
        restartTimer(of: call)
        startNext(on: page)
    }

    /// - Parameter name: `web/3`, or the number alone; nil: the page that was the last to send `ready`.
    private func page(_ name: String?, for requester: BridgeClient) -> BridgeClient? {
        guard let name else { return pages.last }
        let named = pages.filter { $0.origin == name || $0.name == name }
        return named.last { $0.hub === requester.hub } ?? named.last
    }

    private static let missingWindow = "no window is connected; open one: hemiola window"

    private static func missing(_ page: String?) -> String {
        guard let page else { return "no page is connected; open a visualizer's page (a client that sends \"ready\")" }
        return "no page \"\(page.prefix(64))\" is connected; without \"page\", the page that was the last to send \"ready\" is called"
    }

    /// Adds the next bytes of a file.
    ///
    /// - Returns: Whether the client has an unfinished import with this id. If not, the bytes are ignored: the reply to the import, with
    ///   the reason of its end, can be on its way.
    func add(_ data: ClientMessage.ImportData, id: ClientMessage.ID?, from requester: BridgeClient) -> Bool {
        guard let call = calls.first(where: { $0.requester === requester && $0.id == id && $0.file?.isComplete == false }) else {
            return false
        }
        defer { applyEffects() }
        guard call.file?.add(Self.dataLine(call.number, data), byteCount: data.byteCount) == true else {
            cancel(call, "more data than the announced size")
            return true
        }
        restartTimer(of: call)
        sendChunks(of: call)
        return true
    }

    // MARK: - Answers

    /// Handles the answer of a page.
    ///
    /// - Returns: Whether the page has been sent the call of that number and has not answered it.
    func receive(_ answer: ClientMessage.PageAnswer, call number: Int, from page: BridgeClient) -> Bool {
        guard let call = calls.first(where: { $0.number == number && $0.page === page && $0.isSent }) else { return false }
        defer { applyEffects() }
        switch answer {
        case .value, .error:
            remove(call)
            reply(to: call, answer)
            startNext(on: page)
        case .progress(let value):
            guard let id = call.id else { break }
            effects.append(.send(Self.progressLine(id, value), call.requester, replacing: number))
        case .importReady:
            guard call.file != nil else { break }
            call.file?.addCredit()
            restartTimer(of: call)
            sendChunks(of: call)
        }
        return true
    }

    /// Ends a call that the page has not answered. If the page has been sent the call, it is notified.
    ///
    /// - Parameter error: The reason; nil: the sender has disconnected.
    private func cancel(_ call: Call, _ error: String?) {
        remove(call)
        if call.isSent { effects.append(.send(Self.cancelLine(call.number), call.page, replacing: nil)) }
        if let error { reply(to: call, .error(error)) }
        startNext(on: call.page)
    }

    private func remove(_ call: Call) {
        calls.removeAll { $0 === call }
        call.timer?.cancel()
        if call.file != nil { effects.append(.holdReading(false, call.requester)) }
    }

    private func reply(to call: Call, _ answer: ClientMessage.PageAnswer) {
        reply(to: call.id, of: call.requester, answer)
    }

    private func reply(to id: ClientMessage.ID?, of requester: BridgeClient, _ answer: ClientMessage.PageAnswer) {
        guard let id else { return }
        var answer = answer
        if requester.waitingCallBytes > Self.answerCapacity {
            answer = .error("the client does not read its replies; the value was dropped")
        }
        effects.append(.send(Self.replyLine(id, answer), requester, replacing: nil))
    }

    // MARK: - Sending

    /// Sends the page its next call, if it has answered the one before.
    private func startNext(on page: BridgeClient) {
        guard let call = calls.first(where: { $0.page === page }), let line = call.line else { return }
        call.line = nil
        effects.append(.send(line, page, replacing: nil))
        sendChunks(of: call)
    }

    /// Sends as much of a file as the page can receive.
    private func sendChunks(of call: Call) {
        guard call.file != nil else { return }
        if call.isSent {
            while let line = call.file?.next() { effects.append(.send(line, call.page, replacing: nil)) }
        }
        effects.append(.holdReading(call.file?.isFull == true, call.requester))
    }

    private func applyEffects() {
        if isApplying { return }
        isApplying = true
        defer { isApplying = false }
        while !effects.isEmpty {
            switch effects.removeFirst() {
            case .send(let line, let client, let number): client.send(callLine: line, replacing: number)
            case .holdReading(let isHeld, let client): client.holdReading(isHeld)
            }
        }
    }

    // MARK: - Time limits

    private func restartTimer(of call: Call) {
        call.timer?.cancel()
        let calls = NIOLoopBound(self, eventLoop: loop)
        let number = call.number
        call.timer = loop.scheduleTask(in: .nanoseconds(Int64(call.timeLimit * 1e9))) { calls.value.timeLimitReached(number) }
    }

    private func timeLimitReached(_ number: Int) {
        guard let call = calls.first(where: { $0.number == number }) else { return }
        let limit = "\(Self.text(call.timeLimit)) s"
        let text =
            if !call.isSent {
                "time limit of \(limit) reached before the \(call.target) had answered the calls before this one"
            } else if let file = call.file, !file.isComplete {
                "time limit of \(limit) reached: \(file.received) of \(file.size) bytes were received"
            } else if call.file?.isEmpty == false {
                "time limit of \(limit) reached: the page has not requested the rest of the file"
            } else {
                "time limit of \(limit) reached: the \(call.target) has not answered"
            }
        cancel(call, text)
        applyEffects()
    }

    /// Seconds, without a fraction if they are whole.
    private static func text(_ seconds: Double) -> String {
        seconds == seconds.rounded() ? "\(Int(seconds))" : "\(seconds)"
    }
}

/// The bytes of a file between the client that sends them and the page.
private struct FileTransfer {
    /// Number of waiting messages from which on the client is not read.
    private static let capacity = 4
    /// Maximum number of messages that the page can request ahead.
    private static let creditLimit = 4

    let size: Int
    /// The number of bytes that the client has sent.
    private(set) var received = 0
    /// The messages that the page has not requested.
    private var lines: ArraySlice<ByteBuffer> = []
    /// The number of messages that the page has requested and not been sent. Unrequested data would fill the socket's buffer, in which
    /// the samples wait while the page is busy.
    private var credits = 0

    init(size: Int) {
        self.size = size
    }

    var isComplete: Bool { received == size }
    var isFull: Bool { lines.count >= Self.capacity }
    var isEmpty: Bool { lines.isEmpty }
    /// The number of bytes of the waiting messages.
    var byteCount: Int { lines.reduce(0) { $0 + $1.readableBytes } }

    /// - Returns: Whether the bytes are within the size of the file.
    mutating func add(_ line: ByteBuffer, byteCount: Int) -> Bool {
        received += byteCount
        lines.append(line)
        return received <= size
    }

    mutating func addCredit() {
        credits = min(credits + 1, Self.creditLimit)
    }

    /// The next message to the page; nil if none waits or the page has not requested it.
    mutating func next() -> ByteBuffer? {
        guard credits > 0, let line = lines.popFirst() else { return nil }
        credits -= 1
        return line
    }
}

extension PageCalls {
    /// The objects of the runs in this process, and how many bridges use each.
    private static let shared = Mutex<[Int: (calls: NIOLoopBound<PageCalls>, count: Int)]>([:])

    /// The object that all bridges of a run share.
    ///
    /// - Parameter run: Its number; 0: the bridge is not part of a run, and shares it with none.
    static func join(run: Int, on loop: any EventLoop) -> PageCalls {
        if run == 0 { return PageCalls(on: loop) }
        return shared.withLock { shared in
            let calls = shared[run]?.calls ?? NIOLoopBound(PageCalls(on: loop), eventLoop: loop)
            shared[run] = (calls, (shared[run]?.count ?? 0) + 1)
            return calls
        }.value
    }

    static func leave(run: Int) {
        shared.withLock { shared in
            guard let entry = shared.removeValue(forKey: run), entry.count > 1 else { return }
            shared[run] = (entry.calls, entry.count - 1)
        }
    }
}
