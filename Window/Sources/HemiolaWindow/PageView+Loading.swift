import CWebKit
import FoundationEssentials
import HemiolaSystem
import WindowCore

// Loading, history and zoom.

extension PageView {
    /// Loads the page at its path, or shows why it cannot be loaded.
    ///
    /// - Parameter restores: Whether the history of the last time is restored.
    func load(_ path: String, restores: Bool = false) {
        storeSession()
        self.path = path
        closeConnections()
        lastCrash = -.infinity
        do {
            let source = try PageSource(path)
            self.source = source
            scheme.add(source)
            let stored = host?.saved.page(source.key)
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

    /// Whether the page at a path is the one that is shown, whichever way the path is spelled.
    func shows(_ path: String) -> Bool {
        guard message == nil, let source else { return false }
        return (try? PageSource(path)) == source
    }

    /// Loads the page at a path again, also one whose web process has ended; or loads it, if another is shown.
    func reload(_ path: String) {
        lastCrash = -.infinity
        guard let source, (try? PageSource(path)) == source else { return load(path) }
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

    /// The page script, which runs before those of the page, with the preset and speed that were stored last.
    func updateScripts() {
        isScriptOutdated = false
        webkit_user_content_manager_remove_all_scripts(manager)
        guard let source else { return }
        let stored = host?.saved.page(source.key)
        var initial = "{"
        if let preset = stored?.preset { initial += #""presetB64":""# + Data(preset.utf8).base64EncodedString() + #"","# }
        if let speed = stored?.speed { initial += #""speed":"# + "\(speed)," }
        initial += #""windowKey":"\#(key)","handlers":[]}"#
        var script = String(decoding: PageSource.pageScript, as: UTF8.self)
        let placeholder = "const hemiolaInitial = null;"
        precondition(script.hasPrefix(placeholder), "the page script has no first line for the initial state")
        script.removeFirst(placeholder.count)
        // Data, not source: Base64 has no character with a meaning in JavaScript.
        let state = "const hemiolaInitial = JSON.parse(atob(\"\(Data(initial.utf8).base64EncodedString())\"));"
        let userScript = webkit_user_script_new(
            state + script, WEBKIT_USER_CONTENT_INJECT_TOP_FRAME, WEBKIT_USER_SCRIPT_INJECT_AT_DOCUMENT_START, nil, nil)
        webkit_user_content_manager_add_script(manager, userScript)
        webkit_user_script_unref(userScript)
    }

    /// The title of the page, or its name.
    var title: String { documentTitle ?? source?.name ?? path }

    /// The title of the document, at most 1024 characters of it; nil: it has none.
    var documentTitle: String? {
        if let title = webkit_web_view_get_title(view), title[0] != 0 { return String(String(cString: title).prefix(1024)) }
        return source == .builtIn ? source?.name : nil
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
        let session = start.map { Data(bytes: $0, count: Int(count)) }
        host?.store(source.key) { $0.session = session }
    }

    /// Restores the history. Returns whether the page is being loaded.
    func restore(_ session: Data?) -> Bool {
        guard let session, let source else { return false }
        let bytes = session.withUnsafeBytes { g_bytes_new($0.baseAddress, gsize($0.count)) }
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

    /// Loads the page before this one.
    func goBack() {
        webkit_web_view_go_back(view)
    }

    /// Loads the page after this one.
    func goForward() {
        webkit_web_view_go_forward(view)
    }

    // MARK: - Zoom

    /// Multiplies the zoom, or sets it to 1.
    func zoom(by factor: Double?) {
        setZoom(factor.map { PageZoom.multiplied(webkit_web_view_get_zoom_level(view), by: $0) } ?? 1)
    }

    /// Sets the zoom, and stores it for the page.
    private func setZoom(_ zoom: Double) {
        guard zoom != webkit_web_view_get_zoom_level(view) else { return }
        webkit_web_view_set_zoom_level(view, zoom)
        if let source { host?.store(source.key) { $0.zoom = zoom } }
    }

    /// Lets a pinch on a touchpad change the zoom. WebKitGTK itself would magnify the picture of the page, by a factor that cannot be
    /// restored.
    func addPinch() {
        gtk_event_controller_set_propagation_phase(pinch, GTK_PHASE_CAPTURE)
        connect(UnsafeMutableRawPointer(pinch), "begin", self) { page, _ in
            let type = gtk_event_controller_get_current_event(page.pinch).map { gdk_event_get_event_type($0) }
            // The fingers on a touch screen are the page's.
            let isTouch = type == GDK_TOUCH_BEGIN || type == GDK_TOUCH_UPDATE
            gtk_gesture_set_state(page.pinch, isTouch ? GTK_EVENT_SEQUENCE_DENIED : GTK_EVENT_SEQUENCE_CLAIMED)
            if !isTouch { page.zoomBeforePinch = webkit_web_view_get_zoom_level(page.view) }
        }
        connect(UnsafeMutableRawPointer(pinch), "scale-changed", self) { page, values in
            page.setZoom(PageZoom.pinched(page.zoomBeforePinch, scale: values.number(0)))
        }
        gtk_widget_add_controller(widget, pinch)
    }
}
