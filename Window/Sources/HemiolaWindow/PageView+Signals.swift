import CWebKit
import HemiolaSystem
import WindowCore

extension PageView {
    /// Connects the signals of the web view.
    func connectSignals() {
        let manager = UnsafeMutableRawPointer(manager)
        connect(manager, "script-message-received::hemiolaWindow", self) { page, values in
            page.receivedMessage(OpaquePointer(values.pointer(0)))
        }
        handle(manager, "script-message-with-reply-received::hemiolaWindowRequest", self) { page, values in
            page.receivedRequest(OpaquePointer(values.pointer(0)), OpaquePointer(values.pointer(1)))
            return true
        }
        connect(view, "web-process-terminated", self) { page, values in
            page.processEnded(WebKitWebProcessTerminationReason(values.enumeration(0)))
        }
        handle(view, "decide-policy", self) { page, values in
            page.decide(values.pointer(0), WebKitPolicyDecisionType(values.enumeration(1)))
        }
        connect(view, "create", self) { page, values in page.leave(OpaquePointer(values.pointer(0))) }
        handle(view, "load-failed", self) { page, values in
            let error = values.pointer(2).assumingMemoryBound(to: GError.self).pointee
            // Loading ended because another load began, or the page was refused.
            if error.domain != webkit_policy_error_quark(), error.code != 302 {
                page.loadFailed(values.text(1), String(cString: error.message))
            }
            return true
        }
        connect(view, "load-changed", self) { page, values in page.loadChanged(WebKitLoadEvent(values.enumeration(0))) }
        // The address changes without a load when the page calls history.pushState.
        for property in ["title", "uri", "favicon"] {
            connect(view, "notify::\(property)", self) { page, _ in page.host?.changed(page) }
        }
        connect(view, "notify::has-focus", self) { page, _ in page.readinessChanged() }
        // Dialogs would stop a show; permissions such as location are never needed.
        handle(view, "script-dialog", self) { page, values in
            let dialog = OpaquePointer(values.pointer(0))
            // The question of a page before it is left: no dialog can answer it, and it would prevent a reload.
            if webkit_script_dialog_get_dialog_type(dialog) == WEBKIT_SCRIPT_DIALOG_BEFORE_UNLOAD_CONFIRM {
                webkit_script_dialog_confirm_set_confirmed(dialog, 1)
            } else {
                page.report("dialog: \(String(String(cString: webkit_script_dialog_get_message(dialog)).prefix(1000)))")
            }
            return true
        }
        handle(view, "permission-request", self) { _, values in
            webkit_permission_request_deny(OpaquePointer(values.pointer(0)))
            return true
        }
        handle(view, "print", self) { _, _ in true }
        handle(view, "context-menu", self) { page, _ in page.host?.inspects != true }
    }

    // MARK: - Messages of the page

    /// A field of a message as text; nil: it is missing, or longer than the limit.
    private func text(_ value: OpaquePointer, _ index: UInt32) -> String? {
        let field = jsc_value_object_get_property_at_index(value, index)
        defer { g_object_unref(UnsafeMutableRawPointer(field!)) }
        guard jsc_value_is_string(field) != 0 || jsc_value_is_number(field) != 0 else { return nil }
        guard let text = jsc_value_to_string_as_bytes(field) else { return nil }
        defer { g_bytes_unref(text) }
        var count: gsize = 0
        let start = g_bytes_get_data(text, &count)
        guard admit(Int(count), &bytes, "64 MiB of messages"), count <= Self.maximumMessage else { return nil }
        return String(decoding: UnsafeRawBufferPointer(start: start, count: Int(count)), as: UTF8.self)
    }

    /// Whether the page has not sent too much. A page that sends more is ended, as nothing else stops it.
    private func admit(_ amount: Int, _ limit: inout RateLimit, _ name: String) -> Bool {
        if limit.admit(amount, at: MonotonicTime.now) { return true }
        if limit.refusals == 1 {
            report("more than \(name) in a second; the page is ended")
            lastCrash = MonotonicTime.now
            webkit_web_view_terminate_web_process(view)
        }
        return false
    }

    private func receivedMessage(_ value: OpaquePointer) {
        guard admit(1, &messages, "4000 messages") else { return }
        guard jsc_value_is_array(value) != 0, let sender = text(value, 0), let kind = text(value, 1) else {
            return report("invalid message to the window")
        }
        // Read for frames of the page too, so that their bytes are counted.
        let content = text(value, 2)
        guard sender.hasPrefix(key) else { return }
        guard let first = content ?? (kind == "closeViz" ? "" : nil) else {
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
        do throws(Problem) {
            guard admit(1, &messages, "4000 messages"), jsc_value_is_array(value) != 0, text(value, 0)?.hasPrefix(key) == true,
                let action = text(value, 1), let argument = text(value, 2), let host
            else {
                throw Problem("invalid request to the window")
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
        let now = MonotonicTime.now
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

    private func loadFailed(_ address: String, _ reason: String) {
        report("\(address): \(reason)")
        show(message: "\(source?.name ?? path): \(reason). Ctrl+R loads it again.")
    }

    // MARK: - Navigation

    /// Decides whether the view may load an address. Returns whether the decision was made.
    private func decide(_ pointer: UnsafeMutableRawPointer, _ type: WebKitPolicyDecisionType) -> Bool {
        let decision = pointer.assumingMemoryBound(to: WebKitPolicyDecision.self)
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
