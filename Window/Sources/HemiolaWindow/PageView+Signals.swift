import CWebKit
import CWindow
import FoundationEssentials
import WindowCore

extension PageView {
    /// Connects the signals of the web view.
    func connectSignals() {
        let message: @convention(c) (gpointer, OpaquePointer, gpointer) -> Void = { _, value, data in
            let page: PageView = owner(data)
            nonisolated(unsafe) let value = value
            MainActor.assumeIsolated { page.receivedMessage(value) }
        }
        connect(
            UnsafeMutableRawPointer(manager), "script-message-received::hemiolaWindow", to: self,
            unsafeBitCast(message, to: UnsafeRawPointer.self))

        let request: @convention(c) (gpointer, OpaquePointer, OpaquePointer, gpointer) -> gboolean = { _, value, reply, data in
            let page: PageView = owner(data)
            nonisolated(unsafe) let (value, reply) = (value, reply)
            MainActor.assumeIsolated { page.receivedRequest(value, reply) }
            return 1
        }
        connect(
            UnsafeMutableRawPointer(manager), "script-message-with-reply-received::hemiolaWindowRequest", to: self,
            unsafeBitCast(request, to: UnsafeRawPointer.self))

        let ended: @convention(c) (gpointer, WebKitWebProcessTerminationReason, gpointer) -> Void = { _, reason, data in
            let page: PageView = owner(data)
            MainActor.assumeIsolated { page.processEnded(reason) }
        }
        connect(view, "web-process-terminated", to: self, unsafeBitCast(ended, to: UnsafeRawPointer.self))

        let policy: @convention(c) (gpointer, UnsafeMutablePointer<WebKitPolicyDecision>, WebKitPolicyDecisionType, gpointer) -> gboolean =
            {
                _, decision, type, data in
                let page: PageView = owner(data)
                nonisolated(unsafe) let decision = decision
                return MainActor.assumeIsolated { page.decide(decision, type) ? 1 : 0 }
            }
        connect(view, "decide-policy", to: self, unsafeBitCast(policy, to: UnsafeRawPointer.self))

        let create: @convention(c) (gpointer, OpaquePointer, gpointer) -> UnsafeMutablePointer<GtkWidget>? = { _, action, data in
            let page: PageView = owner(data)
            nonisolated(unsafe) let action = action
            MainActor.assumeIsolated { page.leave(action) }
            return nil
        }
        connect(view, "create", to: self, unsafeBitCast(create, to: UnsafeRawPointer.self))

        let failed: @convention(c) (gpointer, WebKitLoadEvent, UnsafePointer<CChar>, UnsafePointer<GError>, gpointer) -> gboolean = {
            _, _, address, error, data in
            let page: PageView = owner(data)
            let text = (String(cString: address), String(cString: error.pointee.message))
            // Loading ended because another load began, or the page was refused.
            let isInterrupted = error.pointee.domain == webkit_policy_error_quark() || error.pointee.code == 302
            MainActor.assumeIsolated { page.loadFailed(text.0, text.1, isInterrupted: isInterrupted) }
            return 1
        }
        connect(view, "load-failed", to: self, unsafeBitCast(failed, to: UnsafeRawPointer.self))

        let changed: @convention(c) (gpointer, WebKitLoadEvent, gpointer) -> Void = { _, event, data in
            let page: PageView = owner(data)
            MainActor.assumeIsolated { page.loadChanged(event) }
        }
        connect(view, "load-changed", to: self, unsafeBitCast(changed, to: UnsafeRawPointer.self))

        let described: @convention(c) (gpointer, gpointer, gpointer) -> Void = { _, _, data in
            let page: PageView = owner(data)
            MainActor.assumeIsolated { page.host?.changed(page) }
        }
        // The address changes without a load when the page calls history.pushState.
        for property in ["title", "uri", "favicon"] {
            connect(view, "notify::\(property)", to: self, unsafeBitCast(described, to: UnsafeRawPointer.self))
        }

        let focused: @convention(c) (gpointer, gpointer, gpointer) -> Void = { _, _, data in
            let page: PageView = owner(data)
            MainActor.assumeIsolated { page.readinessChanged() }
        }
        connect(view, "notify::has-focus", to: self, unsafeBitCast(focused, to: UnsafeRawPointer.self))

        // Dialogs would stop a show; permissions such as location are never needed.
        let dialog: @convention(c) (gpointer, OpaquePointer, gpointer) -> gboolean = { _, dialog, data in
            let page: PageView = owner(data)
            let text = String(cString: webkit_script_dialog_get_message(dialog))
            // The question of a page before it is left: no dialog can answer it, and it would prevent a reload.
            if webkit_script_dialog_get_dialog_type(dialog) == WEBKIT_SCRIPT_DIALOG_BEFORE_UNLOAD_CONFIRM {
                webkit_script_dialog_confirm_set_confirmed(dialog, 1)
                return 1
            }
            MainActor.assumeIsolated { page.report("dialog: \(String(text.prefix(1000)))") }
            return 1
        }
        connect(view, "script-dialog", to: self, unsafeBitCast(dialog, to: UnsafeRawPointer.self))

        let permission: @convention(c) (gpointer, OpaquePointer, gpointer) -> gboolean = { _, request, _ in
            webkit_permission_request_deny(request)
            return 1
        }
        connect(view, "permission-request", to: self, unsafeBitCast(permission, to: UnsafeRawPointer.self))

        let refuse: @convention(c) (gpointer, gpointer, gpointer) -> gboolean = { _, _, _ in 1 }
        connect(view, "print", to: self, unsafeBitCast(refuse, to: UnsafeRawPointer.self))

        let menu: @convention(c) (gpointer, gpointer, gpointer, gpointer) -> gboolean = { _, _, _, data in
            let page: PageView = owner(data)
            return MainActor.assumeIsolated { page.host?.inspects == true ? 0 : 1 }
        }
        connect(view, "context-menu", to: self, unsafeBitCast(menu, to: UnsafeRawPointer.self))
    }

    // MARK: - Messages of the page

    /// A field of a message as text; nil: it is missing, or longer than the limit.
    private func text(_ value: OpaquePointer, _ index: UInt32) -> String? {
        let field = jsc_value_object_get_property_at_index(value, index)
        defer { g_object_unref(UnsafeMutableRawPointer(field!)) }
        guard jsc_value_is_string(field) != 0 || jsc_value_is_number(field) != 0 else { return nil }
        guard let bytes = jsc_value_to_string_as_bytes(field) else { return nil }
        defer { g_bytes_unref(bytes) }
        var count: gsize = 0
        let start = g_bytes_get_data(bytes, &count)
        guard admit(bytes: Int(count)), count <= Self.maximumMessage else { return nil }
        return String(decoding: UnsafeRawBufferPointer(start: start, count: Int(count)), as: UTF8.self)
    }

    /// Whether the page has not sent too many messages. A page that sends more is ended, as nothing else stops it.
    private func admitMessage() -> Bool {
        if messages.admit() { return true }
        if messages.suppressed == 1 { endFlood("\(messages.count)") }
        return false
    }

    /// Whether the page has not sent too many bytes.
    private func admit(bytes: Int) -> Bool {
        if messageBytes.admit(bytes) { return true }
        if messageBytes.suppressed == 1 { endFlood("\(messageBytes.count >> 20) MiB of") }
        return false
    }

    private func endFlood(_ limit: String) {
        report("more than \(limit) messages in a second; the page is ended")
        lastCrash = monotonicSeconds()
        webkit_web_view_terminate_web_process(view)
    }

    private func receivedMessage(_ value: OpaquePointer) {
        guard admitMessage() else { return }
        guard jsc_value_is_array(value) != 0, let sender = text(value, 0), let kind = text(value, 1) else {
            return report("invalid message to the window")
        }
        guard sender.hasPrefix(key) else { return }
        guard let first = text(value, 2) ?? (kind == "closeViz" ? "" : nil) else {
            return report("a message to the window is invalid or longer than 1 MiB")
        }
        if sender != document {
            guard kind == "open" || kind == "console" || kind == "handler" else { return }
            // A new document: the connections of the last one are of no use.
            closeConnections()
            document = String(sender.prefix(64))
        }
        switch kind {
        case "open":
            if let number = Int(first) { open(number) }
        case "close":
            if let number = Int(first) { connections.removeValue(forKey: number)?.line.close() }
        case "line":
            guard let number = Int(first), let line = text(value, 3) else { return report("a message is longer than 1 MiB") }
            connections[number]?.line.send(line.replacing("\n", with: " "))
        case "subscribe":
            guard let number = Int(first), let now = text(value, 3), let shown = text(value, 4), let hidden = text(value, 5),
                !"\(now)\(shown)\(hidden)".contains("\n"), shown.utf8.count <= 64 << 10
            else { return report("invalid subscription") }
            connections[number]?.shown = shown
            connections[number]?.hidden = hidden
            connections[number]?.line.send(isShown ? now : hidden)
        case "preset":
            store { page in
                if page.preset != first { presetBefore = page.preset }
                page.preset = first
            }
        case "presetRefused":
            // A preset of another page, for example: the next start would give it to this page again.
            store { page in if page.preset == first { page.preset = presetBefore } }
            if presetBefore == first { presetBefore = nil }
        case "speed": store { $0.speed = Double(first).map { min(1, max(0.1, $0)) } }
        case "handler": report("message to the handler \(String(first.prefix(100))), which Hemiola does not have: becomes a message record")
        case "console": report("\(String(first.prefix(20))): \(String((text(value, 3) ?? "").prefix(1000)))")
        case "closeViz": host?.close(self)
        default: report("unknown message to the window: \(String(kind.prefix(100)))")
        }
    }

    private func store(_ change: (inout SavedState.Page) -> Void) {
        guard let source else { return }
        host?.store(source.key, change)
        // A page can report many presets in a second, and the scripts have 50 KB.
        isScriptOutdated = true
    }

    private func receivedRequest(_ value: OpaquePointer, _ reply: OpaquePointer) {
        let context = jsc_value_get_context(value)
        do throws(PageSource.Fault) {
            guard admitMessage(), jsc_value_is_array(value) != 0, text(value, 0)?.hasPrefix(key) == true,
                let action = text(value, 1), let argument = text(value, 2), let host
            else {
                throw PageSource.Fault(message: "invalid request to the window")
            }
            let answer = jsc_value_new_string(context, try host.answer(self, action: action, value: argument))
            webkit_script_message_reply_return_value(reply, answer)
            g_object_unref(UnsafeMutableRawPointer(answer!))
        } catch {
            webkit_script_message_reply_return_error_message(reply, error.message)
        }
    }

    // MARK: - Faults

    private func processEnded(_ reason: WebKitWebProcessTerminationReason) {
        let cause =
            switch reason {
            case WEBKIT_WEB_PROCESS_CRASHED: "crashed"
            case WEBKIT_WEB_PROCESS_EXCEEDED_MEMORY_LIMIT: "used too much memory"
            default: "was ended"
            }
        process += 1
        unacknowledged = 0
        isSlow = false
        isLoaded = false
        isReady = false
        closeConnections()
        let now = monotonicSeconds()
        let isFirst = now - lastCrash > Self.crashSeconds
        lastCrash = now
        if isFirst, let source {
            report("the web process \(cause); the page is loaded again")
            updateScripts()
            webkit_web_view_load_uri(view, webkit_web_view_get_uri(view).map { String(cString: $0) } ?? source.startAddress)
        } else {
            report("the web process \(cause); the page stays closed until it is reloaded with Ctrl+R")
            show(message: "\(source?.name ?? path): the page \(cause). Ctrl+R loads it again.")
        }
        host?.changed(self)
    }

    private func loadChanged(_ event: WebKitLoadEvent) {
        // Black while it loads, so that no white picture flashes on a stage; then white, which pages without a background expect.
        let level: Float = event == WEBKIT_LOAD_FINISHED ? 1 : 0
        var color = GdkRGBA(red: level, green: level, blue: level, alpha: 1)
        webkit_web_view_set_background_color(view, &color)
        isLoaded = event == WEBKIT_LOAD_FINISHED
        readinessChanged()
        host?.changed(self)
    }

    /// The page has begun or ended to load, to get the keys, or to fill the screen.
    func readinessChanged() {
        isReady = false
        host?.drawNextFrame()
    }

    private func loadFailed(_ address: String, _ reason: String, isInterrupted: Bool) {
        if isInterrupted { return }
        report("\(address): \(reason)")
        show(message: "\(source?.name ?? path): \(reason). Ctrl+R loads it again.")
    }

    // MARK: - Navigation

    /// Decides whether the view may load an address. Returns whether the decision was made.
    private func decide(_ decision: UnsafeMutablePointer<WebKitPolicyDecision>, _ type: WebKitPolicyDecisionType) -> Bool {
        switch type {
        case WEBKIT_POLICY_DECISION_TYPE_NAVIGATION_ACTION:
            let action = webkit_navigation_policy_decision_get_navigation_action(OpaquePointer(decision))
            let address = webkit_uri_request_get_uri(webkit_navigation_action_get_request(action)).map { String(cString: $0) } ?? ""
            if source?.contains(address) == true { return false }
            webkit_policy_decision_ignore(decision)
            leave(action!)
        case WEBKIT_POLICY_DECISION_TYPE_NEW_WINDOW_ACTION:
            leave(webkit_navigation_policy_decision_get_navigation_action(OpaquePointer(decision)))
            webkit_policy_decision_ignore(decision)
        default:
            // A type that cannot be shown would become a download.
            if webkit_response_policy_decision_is_mime_type_supported(OpaquePointer(decision)) != 0 { return false }
            report("downloads are off")
            webkit_policy_decision_ignore(decision)
        }
        return true
    }

    /// Opens an address in the user's browser if the user has followed a link to it.
    private func leave(_ action: OpaquePointer) {
        let address = webkit_uri_request_get_uri(webkit_navigation_action_get_request(action)).map { String(cString: $0) } ?? ""
        let isWeb = address.hasPrefix("https://") || address.hasPrefix("http://")
        guard isWeb, webkit_navigation_action_is_user_gesture(action) != 0, address.utf8.count <= 2048 else {
            return report("\(String(address.prefix(200))): not loaded; a page of the window cannot be left")
        }
        report("\(address): opened in the browser")
        gtk_show_uri(nil, address, 0)
    }
}
