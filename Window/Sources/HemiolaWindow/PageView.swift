import CWebKit
import CWindow
import FoundationEssentials
import Glibc
import WindowCore

/// What a page needs from the window.
protocol PageHost: AnyObject {
    /// The path of Hemiola's socket.
    var socketPath: String { get }
    /// Whether the inspector is enabled. A page that is stopped in the inspector is not taken for one that does not respond.
    var inspects: Bool { get }
    /// What is stored for a page.
    func stored(_ key: String) -> SavedState.Page
    /// Stores something for a page.
    func store(_ key: String, _ change: (inout SavedState.Page) -> Void)
    /// The title or history of a page has changed.
    func changed(_ page: PageView)
    /// The page has sent closeViz.
    func close(_ page: PageView)
    /// Answers a request of a page: an action and a JSON value. Returns JSON.
    func answer(_ page: PageView, action: String, value: String) throws(PageSource.Fault) -> String
}

/// A page and its web view: the container of a tab. It lives until its tab is disposed; it may show another page in this time.
final class PageView {
    /// Deliveries to the page that it has not acknowledged. When there are more, nothing is read for it, and Hemiola drops batches.
    private static let maximumUnacknowledged = 4
    /// Connections of one document.
    private static let maximumConnections = 4
    /// Longest message of a page, in bytes.
    static let maximumMessage = (1 << 20) + 1024
    /// Seconds without an acknowledgement after which a page is reported, and after which its web process is ended.
    private static let slowSeconds = 5.0
    private static let hungSeconds = 30.0
    /// A web process that ends again within this time after the last one is not started again.
    static let crashSeconds = 600.0

    /// The identity of the container.
    let id: UUID
    /// The page that is shown; nil: its path is not valid.
    private(set) var source: PageSource?
    /// The text that the page was opened with.
    private(set) var path: String
    /// The widget: a stack of the web view and a message.
    let widget: UnsafeMutablePointer<GtkWidget>
    let view: UnsafeMutablePointer<WebKitWebView>
    private let label: UnsafeMutablePointer<GtkWidget>
    let manager: OpaquePointer
    private let scheme: PageScheme
    weak var host: (any PageHost)?

    /// The document whose connections these are.
    var document = ""
    var connections: [Int: Connection] = [:]
    /// Whether the page can be seen. A page that cannot gets no samples.
    private(set) var isShown = false
    var unacknowledged = 0
    private var waitingSince = 0.0
    var isSlow = false
    /// Incremented when the web process has ended: acknowledgements of the earlier one do not count.
    var process = 0
    var lastCrash = -Double.infinity
    /// Whether the preset or speed has changed since the scripts were made.
    var isScriptOutdated = false
    var messages = RateLimit(count: 4000, seconds: 1)
    private var reports = RateLimit(count: 200, seconds: 60)
    private var calls: [(name: String, values: String, seconds: Double, completion: (Result<String, PageSource.Fault>) -> Void)] = []
    private var isCalling = false
    /// The session to restore when the page is loaded first.
    private var sessionToRestore: [UInt8]?

    struct Connection {
        var line: LineConnection
        /// The subscriptions while the page is shown and hidden; empty: it has not subscribed.
        var shown = ""
        var hidden = ""
    }

    private static var views: [UnsafeMutablePointer<WebKitWebView>: PageView] = [:]

    /// The page of a web view.
    static func showing(_ view: UnsafeMutablePointer<WebKitWebView>) -> PageView? {
        views[view]
    }

    /// Makes a web view. Nothing is loaded yet.
    init(id: UUID, path: String, context: OpaquePointer, session: OpaquePointer, scheme: PageScheme, host: any PageHost) {
        self.id = id
        self.path = path
        self.scheme = scheme
        self.host = host
        manager = webkit_user_content_manager_new()
        view = cwindow_view_new(context, session, manager, cwindow_settings_new(host.inspects ? 1 : 0))
        label = gtk_label_new("")
        gtk_label_set_wrap(OpaquePointer(label), 1)
        gtk_label_set_selectable(OpaquePointer(label), 1)
        widget = gtk_stack_new()
        gtk_stack_add_named(OpaquePointer(widget), cast(view), "page")
        gtk_stack_add_named(OpaquePointer(widget), label, "message")
        // The reference that keeps the view alive while the tab view is rebuilt.
        g_object_ref_sink(widget)
        Self.views[view] = self
        connectSignals()
        webkit_user_content_manager_register_script_message_handler(manager, "hemiolaWindow", nil)
        webkit_user_content_manager_register_script_message_handler_with_reply(manager, "hemiolaWindowRequest", nil)
    }

    /// Ends the page. The object must not be used afterwards.
    func dispose() {
        storeSession()
        closeConnections()
        Self.views[view] = nil
        g_signal_handlers_disconnect_matched(view, G_SIGNAL_MATCH_DATA, 0, 0, nil, nil, data(self))
        g_signal_handlers_disconnect_matched(UnsafeMutableRawPointer(manager), G_SIGNAL_MATCH_DATA, 0, 0, nil, nil, data(self))
        g_object_unref(widget)
        // Asynchronous calls of WebKitGTK may still refer to the object.
        Self.disposed.append(self)
        if Self.disposed.count > 64 { Self.disposed.removeFirst() }
    }

    private static var disposed: [PageView] = []

    // MARK: - Loading

    /// Loads the page at its path, or shows why it cannot be loaded.
    ///
    /// - Parameter restores: Whether the history of the last time is restored.
    func load(_ path: String, restores: Bool = false) {
        storeSession()
        self.path = path
        closeConnections()
        lastCrash = -.infinity
        do throws(PageSource.Fault) {
            let source = try PageSource(path)
            self.source = source
            scheme.add(source)
            let stored = host?.stored(source.key)
            webkit_web_view_set_zoom_level(view, stored?.zoom ?? 1)
            updateScripts()
            gtk_stack_set_visible_child_name(OpaquePointer(widget), "page")
            if !(restores && restore(stored?.session)) { webkit_web_view_load_uri(view, source.startAddress) }
        } catch {
            source = nil
            report(error.message)
            show(message: error.message)
        }
    }

    /// Loads the page again, also one whose web process has ended.
    func reload() {
        lastCrash = -.infinity
        guard let source else { return load(path) }
        updateScripts()
        gtk_stack_set_visible_child_name(OpaquePointer(widget), "page")
        if webkit_web_view_get_uri(view) == nil {
            webkit_web_view_load_uri(view, source.startAddress)
        } else {
            webkit_web_view_reload_bypass_cache(view)
        }
    }

    func show(message: String) {
        gtk_label_set_text(OpaquePointer(label), message)
        gtk_stack_set_visible_child_name(OpaquePointer(widget), "message")
    }

    /// The message that is shown instead of the page; nil: the page is shown.
    var message: String? {
        String(cString: gtk_stack_get_visible_child_name(OpaquePointer(widget))) == "message"
            ? String(cString: gtk_label_get_text(OpaquePointer(label))) : nil
    }

    /// The scripts that run before those of the page, with the preset and speed that were stored last.
    func updateScripts() {
        isScriptOutdated = false
        webkit_user_content_manager_remove_all_scripts(manager)
        guard let source else { return }
        let stored = host?.stored(source.key)
        var initial = "{"
        if let preset = stored?.preset { initial += #""presetB64":""# + Self.base64(Array(preset.utf8)) + #"","# }
        if let speed = stored?.speed { initial += #""speed":"# + "\(speed)," }
        initial += #""handlers":[]}"#
        var script = String(decoding: PageSource.pageScript, as: UTF8.self)
        let placeholder = "const hemiolaInitial = null;"
        precondition(script.hasPrefix(placeholder), "the page script has no first line for the initial state")
        script.removeFirst(placeholder.count)
        // Data, not source: Base64 has no character with a meaning in JavaScript.
        add(script: String(cString: cwindow_host_script()))
        add(script: "const hemiolaInitial = JSON.parse(atob(\"\(Self.base64(Array(initial.utf8)))\"));" + script)
    }

    private func add(script: String) {
        let userScript = webkit_user_script_new(
            script, WEBKIT_USER_CONTENT_INJECT_TOP_FRAME, WEBKIT_USER_SCRIPT_INJECT_AT_DOCUMENT_START, nil, nil)
        webkit_user_content_manager_add_script(manager, userScript)
        webkit_user_script_unref(userScript)
    }

    private static func base64(_ bytes: [UInt8]) -> String {
        take(g_base64_encode(bytes, gsize(bytes.count))) ?? ""
    }

    /// The title of the page, or its name.
    var title: String {
        if let title = webkit_web_view_get_title(view), title[0] != 0 { return String(cString: title) }
        return source?.name ?? path
    }

    // MARK: - History

    /// Stores the history of the page.
    func storeSession() {
        guard let source, webkit_web_view_get_uri(view) != nil else { return }
        let state = webkit_web_view_get_session_state(view)
        defer { webkit_web_view_session_state_unref(state) }
        guard let bytes = webkit_web_view_session_state_serialize(state) else { return }
        defer { g_bytes_unref(bytes) }
        var count: gsize = 0
        let start = g_bytes_get_data(bytes, &count)
        let session = Array(UnsafeRawBufferPointer(start: start, count: Int(count)))
        host?.store(source.key) { $0.session = session }
    }

    /// Restores the history. Returns whether the page is being loaded.
    private func restore(_ session: [UInt8]?) -> Bool {
        guard let session, let source else { return false }
        let bytes = g_bytes_new(session, gsize(session.count))
        defer { g_bytes_unref(bytes) }
        guard let state = webkit_web_view_session_state_new(bytes) else { return false }
        defer { webkit_web_view_session_state_unref(state) }
        webkit_web_view_restore_session_state(view, state)
        // WebKitGTK restores the list and loads nothing.
        let list = webkit_web_view_get_back_forward_list(view)
        guard let item = webkit_back_forward_list_get_current_item(list),
            let address = webkit_back_forward_list_item_get_uri(item), source.contains(String(cString: address))
        else { return false }
        webkit_web_view_go_to_back_forward_list_item(view, item)
        return true
    }

    // MARK: - Zoom

    /// Multiplies the zoom, or sets it to 1.
    func zoom(by factor: Double?) {
        let zoom = factor.map { webkit_web_view_get_zoom_level(view) * $0 } ?? 1
        let limited = min(max(zoom, SavedState.zooms.lowerBound), SavedState.zooms.upperBound)
        // Ten steps up and ten steps down end at 1 exactly.
        let rounded = (limited * 1000).rounded() / 1000
        webkit_web_view_set_zoom_level(view, rounded)
        if let source { host?.store(source.key) { $0.zoom = rounded } }
    }

    // MARK: - Visibility

    /// Sets whether the page can be seen.
    func setShown(_ shown: Bool) {
        guard shown != isShown else { return }
        isShown = shown
        for (number, connection) in connections where !connection.shown.isEmpty {
            connection.line.send(shown ? connection.shown : connection.hidden)
            // The audio continues after a gap.
            if shown { deliver("lines", "\(number)", #"{"type":"resumeAudio"}"#) }
        }
    }

    // MARK: - Connections

    func closeConnections() {
        for connection in connections.values { connection.line.close() }
        connections = [:]
        document = ""
    }

    func open(_ number: Int) {
        guard connections.count < Self.maximumConnections, connections[number] == nil, let host,
            let line = LineConnection(path: host.socketPath)
        else { return deliver("closed", "\(number)", "") }
        line.onLines = { [unowned self] lines in received(lines, number) }
        line.onClosed = { [unowned self] in
            connections[number] = nil
            deliver("closed", "\(number)", "")
        }
        connections[number] = Connection(line: line)
        deliver("opened", "\(number)", "")
    }

    private func received(_ lines: String, _ number: Int) {
        var lines = lines
        if !isShown {
            // Samples that were sent before Hemiola has read the new subscription.
            lines = lines.split(separator: "\n").filter { !$0.hasPrefix(#"{"type":"pushSamples""#) }.joined(separator: "\n")
            if lines.isEmpty { return }
        }
        deliver("lines", "\(number)", lines)
    }

    func deliver(_ function: String, _ first: String, _ second: String) {
        if unacknowledged == 0 { waitingSince = monotonicSeconds() }
        unacknowledged += 1
        updatePause()
        let process = process
        run(target: document, function, first, second) { [weak self] _ in
            guard let self, process == self.process else { return }
            acknowledged()
        }
    }

    private func acknowledged() {
        unacknowledged -= 1
        waitingSince = monotonicSeconds()
        if isSlow {
            isSlow = false
            report("the page responds again")
        }
        updatePause()
    }

    private func updatePause() {
        let paused = unacknowledged >= Self.maximumUnacknowledged
        for connection in connections.values { connection.line.pause(paused) }
    }

    /// Called once per second: checks whether the page responds, and gives a reload of the page its last preset and speed.
    func watch() {
        if isScriptOutdated { updateScripts() }
        guard unacknowledged > 0, host?.inspects == false, message == nil else { return }
        let seconds = monotonicSeconds() - waitingSince
        if seconds > Self.hungSeconds {
            report("the page has not responded for \(Int(Self.hungSeconds)) s; its web process is ended")
            webkit_web_view_terminate_web_process(view)
        } else if seconds > Self.slowSeconds, !isSlow {
            isSlow = true
            report("the page does not respond")
        }
    }

    // MARK: - Calls to the page

    private final class Completion {
        let body: (Result<String, PageSource.Fault>) -> Void
        init(_ body: @escaping (Result<String, PageSource.Fault>) -> Void) { self.body = body }
    }

    /// Calls a function of the host script.
    private func run(
        target: String, _ function: String, _ first: String, _ second: String,
        completion: @escaping (Result<String, PageSource.Fault>) -> Void
    ) {
        let body = "return window[Symbol.for('hemiola.window')]?.(target, name, first, second)"
        let names: [UnsafeMutablePointer<CChar>] = (["target", "name", "first", "second"] as [String]).map { strdup($0)! }
        let values: [UnsafeMutablePointer<CChar>] = ([target, function, first, second] as [String]).map { strdup($0)! }
        defer { for text in names + values { free(text) } }
        let callback: GAsyncReadyCallback = { object, result, data in
            let completion = Unmanaged<Completion>.fromOpaque(data!).takeRetainedValue()
            var error: UnsafeMutablePointer<GError>?
            let view: UnsafeMutablePointer<WebKitWebView> = cast(object!)
            let value = webkit_web_view_call_async_javascript_function_finish(view, result, &error)
            var answer: Result<String, PageSource.Fault>
            if let value {
                answer = .success(take(jsc_value_to_string(value)) ?? "")
                g_object_unref(UnsafeMutableRawPointer(value))
            } else {
                answer = .failure(PageSource.Fault(message: take(error)))
            }
            MainActor.assumeIsolated { completion.body(answer) }
        }
        names.map { UnsafePointer<CChar>?($0) }.withUnsafeBufferPointer { names in
            values.map { UnsafePointer<CChar>?($0) }.withUnsafeBufferPointer { values in
                cwindow_call(
                    view, body, names.baseAddress, values.baseAddress, names.count, nil, callback,
                    Unmanaged.passRetained(Completion(completion)).toOpaque())
            }
        }
    }

    /// Calls a function of the page as soon as the page is loaded and has it; one call at a time, in the order of the requests.
    ///
    /// - Parameters:
    ///   - values: The arguments, a JSON list.
    ///   - seconds: The time limit.
    ///   - completion: Gets the result as JSON, or the exception's text.
    func call(
        _ name: String, values: String, seconds: Double = 30, completion: @escaping (Result<String, PageSource.Fault>) -> Void
    ) {
        guard calls.count < 64 else { return completion(.failure(PageSource.Fault(message: "busy"))) }
        calls.append((name, values, seconds, completion))
        callNext()
    }

    private func callNext() {
        guard !isCalling, !calls.isEmpty else { return }
        isCalling = true
        let call = calls.removeFirst()
        var isAnswered = false
        var timer: Timer?
        let finish: (Result<String, PageSource.Fault>) -> Void = { [self] result in
            guard !isAnswered else { return }
            isAnswered = true
            timer?.stop()
            timer = nil
            isCalling = false
            call.completion(result)
            callNext()
        }
        timer = Timer(every: call.seconds) {
            finish(.failure(PageSource.Fault(message: "\(call.name): no answer within \(call.seconds) s")))
            return false
        }
        run(target: "", "call", call.name, call.values, completion: finish)
    }

    /// Largest file that is passed to a page, in bytes.
    static let maximumImport: Int64 = 32 << 20

    /// Passes a file to the page's function importFile(name, base64).
    func importFile(_ path: String, completion: @escaping (Result<String, PageSource.Fault>) -> Void) {
        let name = path.split(separator: "/").last.map(String.init) ?? path
        var size: Int64 = 0
        var real = [CChar](repeating: 0, count: 4097)
        let descriptor = cwindow_open_file(path, &real, real.count, &size)
        guard descriptor >= 0 else {
            return completion(.failure(PageSource.Fault(message: "\(name): \(String(cString: strerror(errno)))")))
        }
        defer { close(descriptor) }
        guard size <= Self.maximumImport else {
            return completion(.failure(PageSource.Fault(message: "\(name): larger than \(Self.maximumImport >> 20) MiB")))
        }
        var bytes = [UInt8](repeating: 0, count: Int(size))
        var count = 0
        while count < bytes.count {
            let read = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress! + count, $0.count - count, off_t(count)) }
            guard read > 0 else { return completion(.failure(PageSource.Fault(message: "\(name): cannot be read"))) }
            count += read
        }
        let values = try? JSONEncoder().encode([name, Self.base64(bytes)])
        call("importFile", values: String(decoding: values ?? Data(), as: UTF8.self), completion: completion)
    }

    // MARK: - Snapshot

    /// Writes the visible part of the page as a PNG file.
    func snapshot(to path: String, completion: @escaping (Result<String, PageSource.Fault>) -> Void) {
        let write: GAsyncReadyCallback = { object, result, data in
            let request = Unmanaged<SnapshotRequest>.fromOpaque(data!).takeRetainedValue()
            var error: UnsafeMutablePointer<GError>?
            guard let texture = webkit_web_view_get_snapshot_finish(cast(object!), result, &error) else {
                let message = take(error)
                return MainActor.assumeIsolated { request.completion(.failure(PageSource.Fault(message: message))) }
            }
            let isWritten = gdk_texture_save_to_png(texture, request.path) != 0
            g_object_unref(UnsafeMutableRawPointer(texture))
            MainActor.assumeIsolated {
                request.completion(
                    isWritten ? .success(request.path) : .failure(PageSource.Fault(message: "\(request.path): cannot be written")))
            }
        }
        webkit_web_view_get_snapshot(
            view, WEBKIT_SNAPSHOT_REGION_VISIBLE, WEBKIT_SNAPSHOT_OPTIONS_NONE, nil, write,
            Unmanaged.passRetained(SnapshotRequest(path, completion)).toOpaque())
    }

    private final class SnapshotRequest {
        nonisolated let path: String
        let completion: (Result<String, PageSource.Fault>) -> Void
        init(_ path: String, _ completion: @escaping (Result<String, PageSource.Fault>) -> Void) {
            self.path = path
            self.completion = completion
        }
    }

    // MARK: - Reports

    /// Prints a message with the page's name, within limits.
    func report(_ message: String) {
        if reports.admit() {
            printMessage("\(source?.name ?? path): \(message)")
        } else if reports.suppressed == 1 {
            printMessage("\(source?.name ?? path): too many messages; further ones are not printed for a minute")
        }
    }
}
