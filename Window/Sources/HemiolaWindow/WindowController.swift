import CWebKit
import CWindow
import FoundationEssentials
import Glibc
import WindowCore

/// The window: its tabs, their pages, and the connections to Hemiola.
final class WindowController: PageHost {
    private static let application = "org.hemiola.Window"
    /// Web processes that use more memory are ended, in MB, and the seconds between two checks.
    private static let memoryLimit = (megabytes: 4096, seconds: 60.0)
    /// The seconds between two checks of a limit that the user has set. A check takes the web process 20 ms.
    private static let memorySeconds = 5.0
    private static let cursorSeconds = 2.0
    private static let storeSeconds = 10.0
    /// Pictures that are kept in the window's folder.
    private static let maximumSnapshots = 16

    let socketPath: String
    var inspects: Bool { arguments.inspects }
    private let arguments: WindowArguments
    private let folder: String
    private let pipeline: Pipeline?
    private let control: ControlConnection
    private let stateFile: SavedStateFile?
    private var saved: SavedState
    private var isStateChanged = false
    private var tabs: TabState
    private var pages: [UUID: PageView] = [:]
    private var cycle: TabCycle?
    private var cycleTimer: Timer?
    private var timer: Timer?
    private var cursorTimer: Timer?
    private var snapshots: [String] = []
    private var snapshotCount = 0
    private var isArranging = false
    private var isMinimized = false
    private var isFullScreen = false
    private var lastPointer = (x: -1.0, y: -1.0)

    private let gtkApplication: UnsafeMutablePointer<GtkApplication>
    private let context: OpaquePointer
    private let session: OpaquePointer
    private let scheme: PageScheme
    private var window: UnsafeMutablePointer<GtkWindow>!
    private var notebook: OpaquePointer!
    private var backButton: UnsafeMutablePointer<GtkWidget>!
    private var forwardButton: UnsafeMutablePointer<GtkWidget>!

    /// - Parameters:
    ///   - folder: A private folder for the socket of a pipeline and for pictures.
    ///   - socketPath: Hemiola's socket.
    init(_ arguments: WindowArguments, folder: String, socketPath: String, pipeline: Pipeline?) {
        self.arguments = arguments
        self.folder = folder
        self.socketPath = socketPath
        self.pipeline = pipeline
        stateFile = SavedStateFile.standard()
        saved = stateFile?.read { printMessage($0) } ?? SavedState()
        var initial = TabState(arguments.tabs)
        if initial == nil, arguments.restores {
            initial = TabState(saved.window.tabs)
            if let selected = initial?.containers.dropFirst(saved.window.selection).first { _ = initial?.select(selected.id) }
        }
        tabs = initial ?? TabState(path: PageSource.builtInName)
        cycle = arguments.cycleBars.map { TabCycle(bars: $0) }
        control = ControlConnection(path: socketPath, beats: cycle != nil)
        gtkApplication = gtk_application_new(Self.application, G_APPLICATION_NON_UNIQUE)
        context = cwindow_context_new(
            guint(arguments.memoryLimit ?? Self.memoryLimit.megabytes),
            arguments.memoryLimit == nil ? Self.memoryLimit.seconds : Self.memorySeconds)
        let data = String(cString: g_get_user_data_dir()) + "/hemiola/window"
        let cache = String(cString: g_get_user_cache_dir()) + "/hemiola/window"
        session = webkit_network_session_new(data, cache)
        scheme = PageScheme(context: context)
    }

    /// Shows the window and returns the exit code when it was closed.
    func run() -> Int32 {
        scheme.onFault = { [unowned self] source, message in
            for page in pages.values where page.source == source { return page.report(message) }
        }
        let activate: @convention(c) (gpointer, gpointer) -> Void = { _, data in
            let controller: WindowController = owner(data)
            MainActor.assumeIsolated { controller.makeWindow() }
        }
        connect(gtkApplication, "activate", to: self, unsafeBitCast(activate, to: UnsafeRawPointer.self))
        let download: @convention(c) (gpointer, OpaquePointer, gpointer) -> Void = { _, download, _ in webkit_download_cancel(download) }
        connect(UnsafeMutableRawPointer(session), "download-started", to: self, unsafeBitCast(download, to: UnsafeRawPointer.self))
        let quit: GSourceFunc = { data in
            let controller: WindowController = owner(data)
            MainActor.assumeIsolated { controller.close() }
            return 1
        }
        for signal in [SIGTERM, SIGINT, SIGHUP] { g_unix_signal_add(signal, quit, data(self)) }
        control.onMessage = { [unowned self] message in received(message) }
        let code = g_application_run(cast(gtkApplication), 0, nil)
        control.close()
        pipeline?.stop()
        return code
    }

    // MARK: - Window

    private func makeWindow() {
        window = cast(gtk_application_window_new(gtkApplication))
        let size = arguments.size ?? saved.window.size ?? WindowSize(width: 1280, height: 720)
        gtk_window_set_default_size(window, Int32(size.width), Int32(size.height))
        gtk_window_set_title(window, "Hemiola")
        let bar = gtk_header_bar_new()!
        backButton = button("go-previous-symbolic", "Back (Alt+Left)") { $0.goBack() }
        forwardButton = button("go-next-symbolic", "Forward (Alt+Right)") { $0.goForward() }
        gtk_header_bar_pack_start(OpaquePointer(bar), backButton)
        gtk_header_bar_pack_start(OpaquePointer(bar), forwardButton)
        gtk_window_set_titlebar(window, bar)
        // The page fills the window to its edges.
        cwindow_set_style(
            gdk_display_get_default(), "window, notebook, notebook > stack, notebook > header { margin: 0; padding: 0; border: none; }")
        let notebook = gtk_notebook_new()!
        self.notebook = OpaquePointer(notebook)
        gtk_notebook_set_show_border(self.notebook, 0)
        gtk_notebook_set_scrollable(self.notebook, 1)
        gtk_window_set_child(window, notebook)

        let switched: @convention(c) (gpointer, UnsafeMutablePointer<GtkWidget>, guint, gpointer) -> Void = { _, widget, _, data in
            let controller: WindowController = owner(data)
            nonisolated(unsafe) let widget = widget
            MainActor.assumeIsolated { controller.switched(to: widget) }
        }
        connect(notebook, "switch-page", to: self, unsafeBitCast(switched, to: UnsafeRawPointer.self))
        let closing: @convention(c) (gpointer, gpointer) -> gboolean = { _, data in
            let controller: WindowController = owner(data)
            MainActor.assumeIsolated { controller.closed() }
            return 0
        }
        connect(window, "close-request", to: self, unsafeBitCast(closing, to: UnsafeRawPointer.self))
        let fullscreened: @convention(c) (gpointer, gpointer, gpointer) -> Void = { _, _, data in
            let controller: WindowController = owner(data)
            MainActor.assumeIsolated { controller.fullScreenChanged() }
        }
        connect(window, "notify::fullscreened", to: self, unsafeBitCast(fullscreened, to: UnsafeRawPointer.self))
        let realized: @convention(c) (gpointer, gpointer) -> Void = { _, data in
            let controller: WindowController = owner(data)
            MainActor.assumeIsolated { controller.watchSurface() }
        }
        connect(window, "realize", to: self, unsafeBitCast(realized, to: UnsafeRawPointer.self))
        addKeys()
        addPointer()

        for container in tabs.containers { add(container, restores: arguments.restores && arguments.pages.isEmpty) }
        arrange()
        if arguments.isFullScreen || (arguments.pages.isEmpty && arguments.restores && saved.window.isFullScreen) { setFullScreen(true) }
        gtk_window_present(window)
        gtk_application_inhibit(gtkApplication, window, GTK_APPLICATION_INHIBIT_IDLE, "shows a visualizer")
        if arguments.staysAbove, cwindow_keep_above(window) == 0 {
            printMessage("--above: this display server does not support it; use the menu of the window's title bar")
        }
        if arguments.inspects, let page = selectedPage { webkit_web_inspector_show(webkit_web_view_get_inspector(page.view)) }
        control.open()
        timer = Timer(every: 1) { [unowned self] in
            for page in pages.values { page.watch() }
            SandboxFile.removeIfLeftOver()
            storeIfDue()
            return true
        }
    }

    private final class Action {
        let body: (PageView) -> Void
        unowned let controller: WindowController
        init(_ controller: WindowController, _ body: @escaping (PageView) -> Void) {
            self.controller = controller
            self.body = body
        }
    }

    private var actions: [Action] = []

    private func button(_ icon: String, _ tooltip: String, _ body: @escaping (PageView) -> Void) -> UnsafeMutablePointer<GtkWidget> {
        let button = gtk_button_new_from_icon_name(icon)!
        gtk_widget_set_tooltip_text(button, tooltip)
        gtk_widget_set_focusable(button, 0)
        let action = Action(self, body)
        actions.append(action)
        let clicked: @convention(c) (gpointer, gpointer) -> Void = { _, data in
            let action: Action = owner(data)
            MainActor.assumeIsolated {
                if let page = action.controller.selectedPage { action.body(page) }
            }
        }
        connect(button, "clicked", to: action, unsafeBitCast(clicked, to: UnsafeRawPointer.self))
        return button
    }

    private func watchSurface() {
        let surface = gtk_native_get_surface(OpaquePointer(window))!
        let changed: @convention(c) (gpointer, gpointer, gpointer) -> Void = { surface, _, data in
            let controller: WindowController = owner(data)
            let state = gdk_toplevel_get_state(OpaquePointer(surface))
            MainActor.assumeIsolated { controller.setMinimized(state.rawValue & GDK_TOPLEVEL_STATE_MINIMIZED.rawValue != 0) }
        }
        connect(UnsafeMutableRawPointer(surface), "notify::state", to: self, unsafeBitCast(changed, to: UnsafeRawPointer.self))
    }

    private func setMinimized(_ minimized: Bool) {
        guard minimized != isMinimized else { return }
        isMinimized = minimized
        // WebKitGTK stops the pictures of a page whose view is not visible.
        gtk_widget_set_visible(UnsafeMutablePointer(notebook), minimized ? 0 : 1)
        updateShown()
    }

    /// Closes the window.
    private func close() {
        if let window { gtk_window_close(window) }
    }

    private func closed() {
        timer?.stop()
        cursorTimer?.stop()
        cycleTimer?.stop()
        for page in pages.values { page.storeSession() }
        recordWindow()
        isStateChanged = true
        lastStore = -.infinity
        storeIfDue()
        for page in pages.values { page.dispose() }
        pages = [:]
    }

    // MARK: - Stored state

    private var lastStore = 0.0

    /// Notes the tabs, the full screen and the size of the window.
    private func recordWindow() {
        var record = saved.window
        record.tabs = tabs.containers.map { container in
            var tab = container.tab ?? Tab(id: "page", title: WindowArguments.title(of: container.path), path: container.path)
            // The next start may be in another folder.
            if let source = pages[container.id]?.source { tab.path = source.key }
            return tab
        }
        record.selection = tabs.containers.firstIndex { $0.id == tabs.selection } ?? 0
        record.isFullScreen = isFullScreen
        if !isFullScreen {
            var (width, height): (Int32, Int32) = (0, 0)
            gtk_window_get_default_size(window, &width, &height)
            record.size = WindowSize(width: Int(width), height: Int(height))
        }
        guard record != saved.window else { return }
        saved.window = record
        isStateChanged = true
    }

    private func storeIfDue() {
        guard monotonicSeconds() - lastStore > Self.storeSeconds else { return }
        if !pages.isEmpty { recordWindow() }
        guard isStateChanged else { return }
        lastStore = monotonicSeconds()
        isStateChanged = false
        do throws(SavedStateFile.Fault) {
            try stateFile?.write(saved)
        } catch {
            printMessage("\(error.message); the state of the window is not stored")
        }
    }

    func stored(_ key: String) -> SavedState.Page {
        saved.page(key)
    }

    func store(_ key: String, _ change: (inout SavedState.Page) -> Void) {
        let before = saved
        saved.update(key, change)
        if before != saved { isStateChanged = true }
    }

    // MARK: - Tabs

    private var selectedPage: PageView? { pages[tabs.selection] }

    private func add(_ container: TabContainer, restores: Bool = false) {
        let page = PageView(id: container.id, path: container.path, context: context, session: session, scheme: scheme, host: self)
        pages[container.id] = page
        page.load(container.path, restores: restores)
    }

    private func apply(_ changes: TabState.Changes) {
        guard !changes.isEmpty else { return arrange() }
        for container in changes.created { add(container) }
        for container in changes.updated where changes.loaded.contains(container.id) { pages[container.id]?.load(container.path) }
        arrange()
        for id in changes.disposed {
            guard let page = pages.removeValue(forKey: id) else { continue }
            isArranging = true
            let number = gtk_notebook_page_num(notebook, page.widget)
            if number >= 0 { gtk_notebook_remove_page(notebook, number) }
            isArranging = false
            page.dispose()
        }
        gtk_notebook_set_show_tabs(notebook, tabs.isTabbed ? 1 : 0)
        updateShown()
    }

    /// Makes the tab view agree with `tabs`. Containers that are to be disposed stay at the end.
    private func arrange() {
        isArranging = true
        defer { isArranging = false }
        for (index, container) in tabs.containers.enumerated() {
            guard let page = pages[container.id] else { continue }
            let title = container.tab?.title ?? page.title
            let label = gtk_label_new(title)!
            // A label that can be shortened is as narrow as possible otherwise.
            gtk_label_set_width_chars(OpaquePointer(label), Int32(min(title.count, 16)))
            gtk_label_set_max_width_chars(OpaquePointer(label), 30)
            gtk_label_set_ellipsize(OpaquePointer(label), PANGO_ELLIPSIZE_END)
            if gtk_notebook_page_num(notebook, page.widget) < 0 {
                gtk_notebook_insert_page(notebook, page.widget, label, Int32(index))
            } else {
                gtk_notebook_reorder_child(notebook, page.widget, Int32(index))
                gtk_notebook_set_tab_label(notebook, page.widget, label)
            }
        }
        gtk_notebook_set_show_tabs(notebook, tabs.isTabbed ? 1 : 0)
        if let page = selectedPage {
            gtk_notebook_set_current_page(notebook, gtk_notebook_page_num(notebook, page.widget))
            changed(page)
            gtk_widget_grab_focus(cast(page.view))
        }
        updateShown()
    }

    private func switched(to widget: UnsafeMutablePointer<GtkWidget>) {
        guard !isArranging, let page = pages.values.first(where: { $0.widget == widget }) else { return }
        // GTK changes the page after this signal; it cannot be changed in it.
        Timer.once { [weak self] in
            guard let self, pages[page.id] === page else { return }
            select(page.id)
        }
    }

    private func select(_ id: UUID) {
        cycle?.restart()
        apply(tabs.select(id))
    }

    private func updateShown() {
        for (id, page) in pages { page.setShown(id == tabs.selection && !isMinimized) }
    }

    func changed(_ page: PageView) {
        guard page === selectedPage, window != nil else { return }
        gtk_window_set_title(window, page.title)
        gtk_widget_set_sensitive(backButton, webkit_web_view_can_go_back(page.view))
        gtk_widget_set_sensitive(forwardButton, webkit_web_view_can_go_forward(page.view))
    }

    func close(_ page: PageView) {
        if tabs.isTabbed {
            page.report("closeViz: the page stays, because the window has other tabs")
        } else {
            close()
        }
    }

    // MARK: - Messages of Hemiola

    private func received(_ message: WindowMessage) {
        switch message {
        case .tabs(let directive): apply(tabs.apply(directive))
        case .invalidTabs(let reason): printMessage("tabs: \(reason)")
        case .request(let request): perform(request)
        case .invalidRequest(let call, let reason): control.send(WindowRequest.failure(call: call, reason))
        case .beat(let position, let dueIn): count(position: position, dueIn: dueIn)
        case .error(let reason): printMessage("\(socketPath): \(reason)")
        case .cancel, .other: break
        }
    }

    private func perform(_ request: WindowRequest) {
        switch request.action {
        case .fullScreen(let value):
            setFullScreen(value ?? !isFullScreen)
            control.send(request.result())
        case .tab(let name):
            guard let container = tabs.container(named: name) else {
                return control.send(request.failure("no tab has the id or title \"\(name)\""))
            }
            select(container.id)
            control.send(request.result())
        case .reload:
            selectedPage?.reload()
            control.send(request.result())
        case .snapshot:
            guard let page = selectedPage else { return control.send(request.failure("no page is visible")) }
            snapshotCount += 1
            let path = "\(folder)/snapshot-\(snapshotCount).png"
            snapshots.append(path)
            if snapshots.count > Self.maximumSnapshots { unlink(snapshots.removeFirst()) }
            page.snapshot(to: path) { [weak self] result in
                switch result {
                case .success: self?.control.send(request.result(path))
                case .failure(let fault): self?.control.send(request.failure(fault.message))
                }
            }
        }
    }

    private func count(position: Int?, dueIn: Double) {
        guard tabs.isTabbed, let delay = cycle?.add(position: position, dueIn: dueIn) else { return }
        cycleTimer?.stop()
        cycleTimer = Timer(every: delay) { [unowned self] in
            cycleTimer = nil
            apply(tabs.select(tabs.next.id))
            return false
        }
    }

    func answer(_ page: PageView, action: String, value: String) throws(PageSource.Fault) -> String {
        switch (action, value) {
        case ("fullscreen", "true"), ("fullscreen", "false"), ("fullscreen", "null"):
            setFullScreen(value == "null" ? !isFullScreen : value == "true")
            return "null"
        case ("info", _):
            let scale = gtk_widget_get_scale_factor(cast(window!))
            let monitors = g_list_model_get_n_items(gdk_display_get_monitors(gdk_display_get_default()))
            return
                #"{"fullscreen":\#(isFullScreen),"scale":\#(scale),"monitors":\#(monitors),"zoom":\#(webkit_web_view_get_zoom_level(page.view))}"#
        default: throw PageSource.Fault(message: "the window does not support this request")
        }
    }

    // MARK: - Full screen

    private func setFullScreen(_ value: Bool) {
        guard value else { return gtk_window_unfullscreen(window) }
        guard let number = arguments.monitor else { return gtk_window_fullscreen(window) }
        let monitors = gdk_display_get_monitors(gdk_display_get_default())
        let count = g_list_model_get_n_items(monitors)
        guard number <= Int(count), let monitor = g_list_model_get_item(monitors, guint(number - 1)) else {
            printMessage("--monitor: \(number): there are \(count) monitors; the window's own is used")
            return gtk_window_fullscreen(window)
        }
        gtk_window_fullscreen_on_monitor(window, OpaquePointer(monitor))
        g_object_unref(monitor)
    }

    private func fullScreenChanged() {
        isFullScreen = gtk_window_is_fullscreen(window) != 0
        if isFullScreen { startCursorTimer() } else { showCursor() }
    }

    // MARK: - Keys and pointer

    private func addKeys() {
        let keys = gtk_event_controller_key_new()!
        gtk_event_controller_set_propagation_phase(keys, GTK_PHASE_CAPTURE)
        let pressed: @convention(c) (gpointer, guint, guint, GdkModifierType, gpointer) -> gboolean = { _, key, _, modifiers, data in
            let controller: WindowController = owner(data)
            return MainActor.assumeIsolated { controller.pressed(Int32(bitPattern: key), modifiers.rawValue) ? 1 : 0 }
        }
        connect(UnsafeMutableRawPointer(keys), "key-pressed", to: self, unsafeBitCast(pressed, to: UnsafeRawPointer.self))
        gtk_widget_add_controller(cast(window!), keys)
    }

    /// Handles a key of the window. Returns false for a key of the page.
    private func pressed(_ key: Int32, _ modifiers: UInt32) -> Bool {
        let control = modifiers & GDK_CONTROL_MASK.rawValue != 0
        let alt = modifiers & GDK_ALT_MASK.rawValue != 0
        let shift = modifiers & GDK_SHIFT_MASK.rawValue != 0
        switch (key, control, alt) {
        case (GDK_KEY_F11, false, false): setFullScreen(!isFullScreen)
        case (GDK_KEY_Escape, false, false) where isFullScreen: setFullScreen(false)
        case (GDK_KEY_F12, false, false):
            guard let page = selectedPage else { return false }
            guard arguments.inspects else {
                printMessage("F12: start the window with --inspect to open the inspector")
                return true
            }
            webkit_web_inspector_show(webkit_web_view_get_inspector(page.view))
        case (GDK_KEY_r, true, false), (GDK_KEY_F5, false, false): selectedPage?.reload()
        case (GDK_KEY_plus, true, false), (GDK_KEY_equal, true, false), (GDK_KEY_KP_Add, true, false): selectedPage?.zoom(by: 1.1)
        case (GDK_KEY_minus, true, false), (GDK_KEY_KP_Subtract, true, false): selectedPage?.zoom(by: 1 / 1.1)
        case (GDK_KEY_0, true, false), (GDK_KEY_KP_0, true, false): selectedPage?.zoom(by: nil)
        case (GDK_KEY_Left, false, true): selectedPage?.goBack()
        case (GDK_KEY_Right, false, true): selectedPage?.goForward()
        case (GDK_KEY_Tab, true, false) where !shift, (GDK_KEY_Page_Down, true, false): select(tabs.next.id)
        case (GDK_KEY_Tab, true, false), (GDK_KEY_ISO_Left_Tab, true, false), (GDK_KEY_Page_Up, true, false): select(tabs.previous.id)
        case (GDK_KEY_q, true, false), (GDK_KEY_w, true, false): close()
        default: return false
        }
        return true
    }

    private func addPointer() {
        let motion = gtk_event_controller_motion_new()!
        gtk_event_controller_set_propagation_phase(motion, GTK_PHASE_CAPTURE)
        let moved: @convention(c) (gpointer, Double, Double, gpointer) -> Void = { _, x, y, data in
            let controller: WindowController = owner(data)
            MainActor.assumeIsolated { controller.moved(x, y) }
        }
        connect(UnsafeMutableRawPointer(motion), "motion", to: self, unsafeBitCast(moved, to: UnsafeRawPointer.self))
        gtk_widget_add_controller(cast(window!), motion)

        let wheel = gtk_event_controller_scroll_new(GTK_EVENT_CONTROLLER_SCROLL_VERTICAL)!
        gtk_event_controller_set_propagation_phase(wheel, GTK_PHASE_CAPTURE)
        let scrolled: @convention(c) (gpointer, Double, Double, gpointer) -> gboolean = { wheel, _, y, data in
            let state = gtk_event_controller_get_current_event_state(OpaquePointer(wheel))
            guard state.rawValue & GDK_CONTROL_MASK.rawValue != 0, y != 0 else { return 0 }
            let controller: WindowController = owner(data)
            MainActor.assumeIsolated { controller.selectedPage?.zoom(by: y < 0 ? 1.1 : 1 / 1.1) }
            return 1
        }
        connect(UnsafeMutableRawPointer(wheel), "scroll", to: self, unsafeBitCast(scrolled, to: UnsafeRawPointer.self))
        gtk_widget_add_controller(cast(window!), wheel)

        let buttons = gtk_gesture_click_new()!
        gtk_gesture_single_set_button(buttons, 0)
        gtk_event_controller_set_propagation_phase(buttons, GTK_PHASE_CAPTURE)
        let clicked: @convention(c) (gpointer, Int32, Double, Double, gpointer) -> Void = { gesture, _, _, _, data in
            let button = gtk_gesture_single_get_current_button(OpaquePointer(gesture))
            let controller: WindowController = owner(data)
            MainActor.assumeIsolated {
                // The buttons for back and forward of a mouse.
                if button == 8 { controller.selectedPage?.goBack() }
                if button == 9 { controller.selectedPage?.goForward() }
            }
        }
        connect(UnsafeMutableRawPointer(buttons), "pressed", to: self, unsafeBitCast(clicked, to: UnsafeRawPointer.self))
        gtk_widget_add_controller(cast(window!), buttons)
    }

    private func moved(_ x: Double, _ y: Double) {
        // GTK also sends this event when what is under the pointer changes.
        guard abs(x - lastPointer.x) + abs(y - lastPointer.y) > 1 else { return }
        lastPointer = (x, y)
        showCursor()
        if isFullScreen { startCursorTimer() }
    }

    private func startCursorTimer() {
        cursorTimer?.stop()
        cursorTimer = Timer(every: Self.cursorSeconds) { [unowned self] in
            cursorTimer = nil
            if isFullScreen, let page = selectedPage { gtk_widget_set_cursor_from_name(cast(page.view), "none") }
            return false
        }
    }

    private func showCursor() {
        cursorTimer?.stop()
        cursorTimer = nil
        if let page = selectedPage { gtk_widget_set_cursor_from_name(cast(page.view), nil) }
    }
}

extension PageView {
    /// Loads the page before this one.
    func goBack() {
        webkit_web_view_go_back(view)
    }

    /// Loads the page after this one.
    func goForward() {
        webkit_web_view_go_forward(view)
    }
}
