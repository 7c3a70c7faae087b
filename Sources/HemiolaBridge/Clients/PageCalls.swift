internal import Hemiola
internal import NIOCore

/// Passes calls and imports from clients to pages, and requests to windows, one after the other for each, and the answers back.
///
/// All bridges of a run share one object, so that a client of one sink can call a page of another. Used only on the event loop.
final class PageCalls {
    /// Maximum number of calls of one client that have no answer yet.
    private static let callsPerClient = 64
    /// Maximum number of calls of all clients that have no answer yet.
    private static let callCapacity = 1024
    /// Maximum number of bytes of these calls.
    private static let byteCapacity = 128 << 20

    /// The number of the line with the tabs. Calls have numbers from 1.
    private static let tabsNumber = 0

    /// A call, an import or a request to a window that has no answer yet.
    private final class Call {
        let number: Int
        let id: String?
        let request: ClientMessage.PageRequest
        let requester: BridgeClient
        /// The page, or the window.
        let page: BridgeClient
        var isSent = false
        /// Where the page gets the file to import, relative to the address of the page script; nil: it gets none there, or has requested it.
        var address: String?
        var timer: Scheduled<Void>?

        init(_ number: Int, _ id: String?, _ request: ClientMessage.PageRequest, from requester: BridgeClient, to page: BridgeClient) {
            self.number = number
            self.id = id
            self.request = request
            self.requester = requester
            self.page = page
            // Nobody can guess it.
            if request.path != nil, !page.isLocal { address = "hemiola/file/\(String(UInt128.random(in: 0 ... .max), radix: 36))" }
        }

        /// For messages.
        var target: String { request.isToWindow ? "window" : "page" }
    }

    private let loop: any EventLoop
    /// The pages that have sent `ready`, in this order.
    private var pages: [BridgeClient] = []
    /// The clients that wait for a page, and the ids of their messages.
    private var waiting: [(id: String?, client: BridgeClient)] = []
    /// The clients that have sent `windowReady`, in this order.
    private var windows: [BridgeClient] = []
    /// The message with the last tabs; nil: none were received.
    private var tabs: ByteBuffer?
    /// In the order of the requests.
    private var calls: [Call] = []
    private var lastNumber = 0

    private init(on loop: any EventLoop) {
        self.loop = loop
    }

    /// The object that all bridges of a run share. A bridge that closes removes its clients.
    static func shared(by run: RunScope, on loop: any EventLoop) -> PageCalls {
        run.shared(NIOLoopBound<PageCalls>.self) { NIOLoopBound(PageCalls(on: loop), eventLoop: loop) }.value
    }

    // MARK: - Pages and windows

    /// The number of pages that have sent `ready`.
    var pageCount: Int { pages.count }

    /// Why a client that is not a page cannot close one.
    var closeRefusal: String {
        pages.isEmpty ? "no page is connected" : "closeViz closes the page that sends it; with exit_on_close=true it also ends the run"
    }

    func add(page: BridgeClient) {
        pages.removeAll { $0 === page }
        pages.append(page)
        for (id, client) in waiting { reply(.done, to: id, of: client) }
        waiting = []
    }

    /// Replies when a page has sent `ready`: at once if one has.
    func waitForPage(id: String?, _ client: BridgeClient) {
        guard pages.isEmpty else { return reply(.done, to: id, of: client) }
        guard waiting.count(where: { $0.client === client }) < Self.callsPerClient else {
            return reply(.error("busy: too many messages of this client wait for a page"), to: id, of: client)
        }
        waiting.append((id, client))
    }

    /// Adds a window, and sends it the last tabs.
    func add(window: BridgeClient) {
        windows.removeAll { $0 === window }
        windows.append(window)
        if let tabs { window.send(call: tabs, replacing: Self.tabsNumber) }
    }

    /// Sets the tabs of all windows, also of those that connect later. The value of the reply is the number of windows.
    func set(tabs members: String, id: String?, from requester: BridgeClient) {
        let line = ByteBuffer.line("tabs", members)
        tabs = line
        for window in windows { window.send(call: line, replacing: Self.tabsNumber) }
        reply(.value("\(windows.count)"), to: id, of: requester)
    }

    /// Removes clients that have left, or whose bridge closes: pages, windows, and the senders of calls.
    ///
    /// - Parameter reason: Why the calls to them fail; nil: they have disconnected.
    func remove(_ clients: [BridgeClient], _ reason: String? = nil) {
        let isGone = { (client: BridgeClient) in clients.contains { $0 === client } }
        pages.removeAll(where: isGone)
        windows.removeAll(where: isGone)
        for (id, client) in waiting where isGone(client) {
            if let reason { reply(.error(reason), to: id, of: client) }
        }
        waiting.removeAll { isGone($0.client) }
        for call in calls where isGone(call.page) {
            end(call, .error(reason ?? "the \(call.target) has disconnected before it answered"))
        }
        // The call that was sent is the last, so that no waiting one is sent in its place.
        for call in calls.reversed() where isGone(call.requester) { cancel(call, nil) }
    }

    // MARK: - Requests

    func add(_ request: ClientMessage.PageRequest, id: String?, from requester: BridgeClient) {
        guard let page = request.isToWindow ? windows.last : page(request.page, for: requester) else {
            return reply(.error(Self.missing(request)), to: id, of: requester)
        }
        let byteCount = calls.reduce(request.members.utf8.count) { $0 + $1.request.members.utf8.count }
        guard calls.count < Self.callCapacity, byteCount <= Self.byteCapacity,
            calls.count(where: { $0.requester === requester }) < Self.callsPerClient
        else { return reply(.error("busy: too many calls wait for their answers; try again"), to: id, of: requester) }
        lastNumber += 1
        let call = Call(lastNumber, id, request, from: requester, to: page)
        calls.append(call)
        startTimer(of: call)
        startNext(on: page)
    }

    /// - Parameter name: `web/3`, or the number alone; nil: the page that was the last to send `ready`.
    private func page(_ name: String?, for requester: BridgeClient) -> BridgeClient? {
        guard let name else { return pages.last }
        let named = pages.filter { $0.origin == name || $0.name == name }
        return named.last { $0.hub === requester.hub } ?? named.last
    }

    private static func missing(_ request: ClientMessage.PageRequest) -> String {
        if request.isToWindow { return "no window is connected; open one: hemiola window" }
        guard let page = request.page else { return "no page is connected; open a visualizer's page (a client that sends \"ready\")" }
        return "no page \"\(page.prefix(64))\" is connected; without \"page\", the page that was the last to send \"ready\" is called"
    }

    /// The path of the file that a page gets at a path of its server, once; nil: there is none.
    func takeFile(at path: String) -> String? {
        guard let call = calls.first(where: { $0.isSent && $0.address.map { "/\($0)" } == path }) else { return nil }
        call.address = nil
        return call.request.path
    }

    // MARK: - Answers

    /// Handles the answer of a page.
    ///
    /// - Returns: Whether the page has been sent the call of that number and has not answered it.
    func receive(_ answer: ClientMessage.PageAnswer, call number: Int, from page: BridgeClient) -> Bool {
        guard let call = calls.first(where: { $0.number == number && $0.page === page && $0.isSent }) else { return false }
        switch answer {
        case .outcome(let outcome):
            end(call, outcome)
            startNext(on: page)
        case .progress(let value):
            if let id = call.id { call.requester.send(call: .line("progress", #""id":\#(id),"value":\#(value)"#), replacing: number) }
        }
        return true
    }

    private func end(_ call: Call, _ outcome: Outcome?) {
        calls.removeAll { $0 === call }
        call.timer?.cancel()
        if let outcome { reply(outcome, to: call.id, of: call.requester) }
    }

    /// Ends a call that the page has not answered. If the page has been sent the call, it is notified.
    ///
    /// - Parameter error: The reason; nil: the sender has disconnected.
    private func cancel(_ call: Call, _ error: String?) {
        end(call, error.map { .error($0) })
        if call.isSent { call.page.send(call: .line("cancel", #""call":\#(call.number)"#)) }
        startNext(on: call.page)
    }

    private func reply(_ outcome: Outcome, to id: String?, of requester: BridgeClient) {
        if let id { requester.send(call: .reply(to: id, outcome)) }
    }

    // MARK: - Sending

    /// Sends the page its next call, if it has answered the one before.
    private func startNext(on page: BridgeClient) {
        guard let call = calls.first(where: { $0.page === page }), !call.isSent else { return }
        call.isSent = true
        var members = #""call":\#(call.number),\#(call.request.members)"#
        if let address = call.address {
            members += #","url":"\#(address)""#
        } else if let path = call.request.path {
            members += #","path":\#(JSONValue.quoted(path))"#
        }
        page.send(call: .line(call.request.type, members))
    }

    // MARK: - Time limits

    private func startTimer(of call: Call) {
        let calls = NIOLoopBound(self, eventLoop: loop)
        let number = call.number
        call.timer = loop.scheduleTask(in: .nanoseconds(Int64(call.request.timeLimit * 1e9))) { calls.value.timeLimitReached(number) }
    }

    private func timeLimitReached(_ number: Int) {
        guard let call = calls.first(where: { $0.number == number }) else { return }
        let seconds = call.request.timeLimit
        let limit = "time limit of \(seconds == seconds.rounded() ? "\(Int(seconds))" : "\(seconds)") s reached"
        let text =
            if !call.isSent {
                "\(limit) before the \(call.target) had answered the calls before this one"
            } else {
                "\(limit): the \(call.target) has not answered"
            }
        cancel(call, text)
    }
}
