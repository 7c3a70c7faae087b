import CWebKit
import CWindow
import FoundationEssentials
import HemiolaSystem
import WindowCore

/// A page and its web view: the container of a tab. It lives until its tab is disposed; it may show another page in this time.
final class PageView {
    /// Deliveries to the page that it has not acknowledged. When there are more, nothing is read for it, and Hemiola drops batches.
    static let maximumUnacknowledged = 4
    /// Connections of one document.
    static let maximumConnections = 4
    /// Longest message of a page, in bytes.
    static let maximumMessage = (1 << 20) + 1024
    /// Seconds without an acknowledgement after which a page is reported, and after which its web process is ended.
    static let slowSeconds = 5.0
    static let hungSeconds = 30.0
    /// A web process that ends again within this time after the last one is not started again.
    static let crashSeconds = 600.0

    /// The identity of the container.
    let id: UUID
    /// The page that is shown; nil: its path is not valid.
    var source: PageSource?
    /// The text that the page was opened with.
    var path: String
    /// The widget: a stack of the web view and a message.
    let widget: UnsafeMutablePointer<GtkWidget>
    let view: UnsafeMutablePointer<WebKitWebView>
    let label: UnsafeMutablePointer<GtkWidget>
    let manager: OpaquePointer
    /// The gesture of the widget that changes the zoom.
    let pinch: OpaquePointer
    let scheme: PageScheme
    weak var host: WindowController?

    /// The document whose connections these are.
    var document = ""
    var connections: [Int: Connection] = [:]
    /// Whether the page can be seen. A page that cannot gets no samples.
    var isShown = false
    var unacknowledged = 0
    var waitingSince = 0.0
    var isSlow = false
    /// Incremented when the web process has ended: acknowledgements of the earlier one do not count.
    var process = 0
    var lastCrash = -Double.infinity
    /// What the page's messages begin with. Frames within the page, whose code may be anybody's, do not have it.
    let key = (0..<4).map { _ in String(UInt32.random(in: .min ... .max), radix: 36) }.joined()
    /// Whether the preset or speed has changed since the scripts were made.
    var isScriptOutdated = false
    var messages = RateLimit(4000, per: 1)
    /// The preset that was stored before the last one, in case that the page refuses that.
    var presetBefore: String?
    var bytes = RateLimit(64 << 20, per: 1)
    /// Whether the last load has ended and no other one has begun.
    var isLoaded = false
    /// Whether it was printed that the page is ready, and it still is.
    var isReady = false
    /// The zoom when the pinch began that is not yet complete.
    var zoomBeforePinch = 1.0
    var reports = RateLimit(200, per: 60)

    struct Connection {
        var line: LineConnection
        /// The subscriptions while the page is shown and hidden; empty: it has not subscribed.
        var shown = ""
        var hidden = ""
    }

    /// The pages by their web views.
    static var views: [UnsafeMutablePointer<WebKitWebView>: PageView] = [:]

    /// Makes a web view. Nothing is loaded yet.
    init(id: UUID, path: String, context: OpaquePointer, session: OpaquePointer, scheme: PageScheme, host: WindowController) {
        self.id = id
        self.path = path
        self.scheme = scheme
        self.host = host
        manager = webkit_user_content_manager_new()
        view = cwindow_view_new(context, session, manager, host.inspects ? 1 : 0)
        pinch = gtk_gesture_zoom_new()
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
        addPinch()
        webkit_user_content_manager_register_script_message_handler(manager, "hemiolaWindow", nil)
        webkit_user_content_manager_register_script_message_handler_with_reply(manager, "hemiolaWindowRequest", nil)
    }

    /// Ends the page. The view may live on until the calls of its functions are answered, but nothing that GTK or WebKitGTK calls keeps this object.
    func dispose() {
        storeSession()
        closeConnections()
        Self.views[view] = nil
        // The view has a reference of its own.
        g_object_unref(UnsafeMutableRawPointer(manager))
        g_object_unref(widget)
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

    // MARK: - Reports

    /// Prints that the page is ready, if it is loaded and gets the keys. Called when the window was drawn, so that buttons and tabs are at their
    /// places too.
    func reportIfReady() {
        guard !isReady, isLoaded, message == nil, gtk_widget_has_focus(cast(view)) != 0 else { return }
        isReady = true
        printLine("\(source?.name ?? path): ready", to: 1)
    }

    /// Prints a message with the page's name, within limits.
    func report(_ message: String) {
        if reports.admit(at: MonotonicTime.now) {
            printMessage("\(source?.name ?? path): \(message)")
        } else if reports.refusals == 1 {
            printMessage("\(source?.name ?? path): too many messages; further ones are not printed for a minute")
        }
    }
}
