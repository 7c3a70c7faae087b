import CWebKit
import CWindow
import FoundationEssentials
import Glibc
import HemiolaSystem
import WindowCore

/// The window: its tabs, their pages, and the connections to Hemiola.
final class WindowController {
    static let application = "org.hemiola.Window"
    /// Web processes that use more memory are ended, in MB, and the seconds between two checks.
    private static let memoryLimit = (megabytes: 4096, seconds: 60.0)
    /// The seconds between two checks of a limit that the user has set. A check takes the web process 20 ms.
    private static let memorySeconds = 5.0
    static let cursorSeconds = 2.0
    static let storeSeconds = 10.0
    /// Pictures that are kept in the window's folder.
    static let maximumSnapshots = 16

    let socketPath: SocketPath
    var inspects: Bool { arguments.inspects }
    let arguments: WindowArguments
    let folder: String
    let pipeline: Pipeline?
    let control: ControlConnection
    let stateFile: SavedStateFile?
    var saved: SavedState
    /// Whether the state of the window has changed since it was stored, and the pages whose state has.
    var isWindowChanged = false
    var changedPages: Set<String> = []
    /// Whether it was printed that the state cannot be stored.
    var isStoreFaultReported = false
    var lastStore = 0.0
    var tabs: TabState
    var pages: [UUID: PageView] = [:]
    var labels: [UUID: TabLabel] = [:]
    var timer: Timer?
    var cursorTimer: Timer?
    var isCursorHidden = false
    var snapshots: [String] = []
    var snapshotCount = 0
    var isArranging = false
    var isChoosing = false
    var isMinimized = false
    var isFullScreen = false
    var lastPointer = (x: -1.0, y: -1.0)

    let gtkApplication: UnsafeMutablePointer<GtkApplication>
    let context: OpaquePointer
    let session: OpaquePointer
    let scheme: PageScheme
    var window: UnsafeMutablePointer<GtkWindow>!
    var notebook: OpaquePointer!
    var backButton: UnsafeMutablePointer<GtkWidget>!
    var forwardButton: UnsafeMutablePointer<GtkWidget>!

    /// - Parameters:
    ///   - folder: A private folder for pictures.
    ///   - socketPath: Hemiola's socket.
    init(_ arguments: WindowArguments, folder: String, socketPath: SocketPath, pipeline: Pipeline?) {
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
        control = ControlConnection(path: socketPath)
        gtkApplication = gtk_application_new(Self.application, G_APPLICATION_NON_UNIQUE)
        context = cwindow_context_new(
            guint(arguments.memoryLimit ?? Self.memoryLimit.megabytes),
            arguments.memoryLimit == nil ? Self.memoryLimit.seconds : Self.memorySeconds)
        let data = String(cString: g_get_user_data_dir()) + "/hemiola/window"
        let cache = String(cString: g_get_user_cache_dir()) + "/hemiola/window"
        session = webkit_network_session_new(data, cache)
        webkit_website_data_manager_set_favicons_enabled(webkit_network_session_get_website_data_manager(session), 1)
        scheme = PageScheme(context: context)
    }

    /// Shows the window and returns the exit code when it was closed.
    func run() -> Int32 {
        scheme.onFault = { [unowned self] source, message in
            for page in pages.values where page.source == source { return page.report(message) }
        }
        connect(gtkApplication, "activate", self) { controller, _ in controller.makeWindow() }
        connect(UnsafeMutableRawPointer(session), "download-started", self) { _, values in
            webkit_download_cancel(OpaquePointer(values.pointer(0)))
        }
        let quit: GSourceFunc = { data in
            let controller: WindowController = owner(data)
            MainActor.assumeIsolated { controller.close() }
            return 1
        }
        for signal in [SIGTERM, SIGINT, SIGHUP] { g_unix_signal_add(signal, quit, data(self)) }
        control.onMessage = { [unowned self] message in received(message) }
        control.onRefusal = { [unowned self] in try? pipeline?.start() }
        let code = g_application_run(cast(gtkApplication), 0, nil)
        control.close()
        pipeline?.stop()
        return code
    }

    // MARK: - Window

    func makeWindow() {
        window = cast(gtk_application_window_new(gtkApplication))
        let size = arguments.size ?? saved.window.size ?? WindowSize(width: 1280, height: 720)
        gtk_window_set_default_size(window, Int32(size.width), Int32(size.height))
        gtk_window_set_title(window, "Hemiola")
        let bar = gtk_header_bar_new()!
        backButton = button("go-previous-symbolic", "Back (Alt+Left)") { $0.selectedPage?.goBack() }
        forwardButton = button("go-next-symbolic", "Forward (Alt+Right)") { $0.selectedPage?.goForward() }
        let reload = button("view-refresh-symbolic", "Load the page again (Ctrl+R)") { $0.reload() }
        for button in [backButton!, forwardButton!, reload] { gtk_header_bar_pack_start(OpaquePointer(bar), button) }
        gtk_header_bar_pack_end(OpaquePointer(bar), button("list-add-symbolic", "Open a page in a new tab (Ctrl+O)") { $0.choosePage() })
        gtk_window_set_titlebar(window, bar)
        // The page fills the window to its edges.
        let style = gtk_css_provider_new()!
        gtk_css_provider_load_from_data(
            style,
            """
            window, notebook, notebook > stack, notebook > header { margin: 0; padding: 0; border: none; }
            button.tab-close { min-width: 20px; min-height: 20px; padding: 0; }
            """, -1)
        let priority = guint(GTK_STYLE_PROVIDER_PRIORITY_APPLICATION)
        gtk_style_context_add_provider_for_display(gdk_display_get_default(), OpaquePointer(style), priority)
        g_object_unref(UnsafeMutableRawPointer(style))
        let notebook = gtk_notebook_new()!
        self.notebook = OpaquePointer(notebook)
        gtk_notebook_set_show_border(self.notebook, 0)
        gtk_notebook_set_scrollable(self.notebook, 1)
        gtk_window_set_child(window, notebook)

        connect(notebook, "switch-page", self) { controller, values in controller.switched(to: values.pointer(0)) }
        handle(window, "close-request", self) { controller, _ in
            controller.closed()
            return false
        }
        connect(window, "notify::fullscreened", self) { controller, _ in controller.fullScreenChanged() }
        connect(window, "realize", self) { controller, _ in controller.watchSurface() }
        addKeys()
        addPointer()

        for container in tabs.containers { add(container, restores: arguments.restores && arguments.pages.isEmpty) }
        arrange()
        if arguments.isFullScreen || (arguments.pages.isEmpty && arguments.restores && saved.window.isFullScreen) { setFullScreen(true) }
        gtk_window_present(window)
        gtk_application_inhibit(gtkApplication, window, GTK_APPLICATION_INHIBIT_IDLE, "shows a visualizer")
        if arguments.inspects, let page = selectedPage { webkit_web_inspector_show(webkit_web_view_get_inspector(page.view)) }
        control.open()
        timer = Timer(every: 1) { [unowned self] in
            for page in pages.values { page.watch() }
            storeIfDue()
            return true
        }
    }

    private func button(
        _ icon: String, _ tooltip: String, _ body: @escaping (WindowController) -> Void
    ) -> UnsafeMutablePointer<GtkWidget> {
        let button = gtk_button_new_from_icon_name(icon)!
        gtk_widget_set_tooltip_text(button, tooltip)
        gtk_widget_set_focusable(button, 0)
        connect(button, "clicked", self) { controller, _ in body(controller) }
        return button
    }

    private func watchSurface() {
        let surface = gtk_native_get_surface(OpaquePointer(window))!
        connect(UnsafeMutableRawPointer(surface), "notify::state", self) { controller, _ in
            controller.setMinimized(gdk_toplevel_get_state(surface).rawValue & GDK_TOPLEVEL_STATE_MINIMIZED.rawValue != 0)
        }
        connect(UnsafeMutableRawPointer(gdk_surface_get_frame_clock(surface)!), "after-paint", self) { controller, _ in
            controller.selectedPage?.reportIfReady()
        }
    }

    /// Draws a frame, because a page may have become ready, and asks the page then.
    func drawNextFrame() {
        gtk_widget_queue_draw(cast(window))
    }

    func setMinimized(_ minimized: Bool) {
        guard minimized != isMinimized else { return }
        isMinimized = minimized
        // WebKitGTK stops the pictures of a page whose view is not visible.
        gtk_widget_set_visible(UnsafeMutablePointer(notebook), minimized ? 0 : 1)
        updateShown()
    }

    /// Closes the window.
    func close() {
        if let window { gtk_window_close(window) }
    }

    func closed() {
        timer?.stop()
        cursorTimer?.stop()
        for page in pages.values { page.storeSession() }
        recordWindow()
        // The window that is closed last is the one that the next start restores.
        isWindowChanged = true
        lastStore = -.infinity
        storeIfDue()
        for page in pages.values { page.dispose() }
        pages = [:]
    }
}
