import CWebKit
import FoundationEssentials
import WindowCore

// The tab view and its pages.

extension WindowController {
    var selectedPage: PageView? { pages[tabs.selection] }

    func add(_ container: TabContainer, restores: Bool = false) {
        let page = PageView(id: container.id, path: container.path, context: context, session: session, scheme: scheme, host: self)
        pages[container.id] = page
        let id = container.id
        labels[id] = TabLabel { [unowned self] in closeTab(id) }
        page.load(container.path, restores: restores)
    }

    func apply(_ changes: TabState.Changes) {
        for container in changes.created { add(container) }
        for container in changes.updated where changes.loaded.contains(container.id) {
            // Another spelling of the page's path is no other page.
            if let page = pages[container.id], !page.shows(container.path) { page.load(container.path) }
        }
        arrange()
        for id in changes.disposed {
            guard let page = pages.removeValue(forKey: id) else { continue }
            isArranging = true
            let number = gtk_notebook_page_num(notebook, page.widget)
            if number >= 0 { gtk_notebook_remove_page(notebook, number) }
            isArranging = false
            labels.removeValue(forKey: id)?.dispose()
            page.dispose()
        }
        updateShown()
    }

    /// Makes the tab view agree with `tabs`. Containers that are to be disposed stay at the end.
    func arrange() {
        isArranging = true
        defer { isArranging = false }
        for (index, container) in tabs.containers.enumerated() {
            guard let page = pages[container.id] else { continue }
            updateLabel(page)
            if gtk_notebook_page_num(notebook, page.widget) < 0 {
                gtk_notebook_insert_page(notebook, page.widget, labels[container.id]?.widget, Int32(index))
            } else {
                gtk_notebook_reorder_child(notebook, page.widget, Int32(index))
            }
        }
        updateTabBar()
        if let page = selectedPage {
            gtk_notebook_set_current_page(notebook, gtk_notebook_page_num(notebook, page.widget))
            changed(page)
            gtk_widget_grab_focus(cast(page.view))
            if isCursorHidden { gtk_widget_set_cursor_from_name(cast(page.view), "none") }
        }
        updateShown()
    }

    /// Shows the tab bar if there are several tabs, but not in full screen.
    func updateTabBar() {
        gtk_notebook_set_show_tabs(notebook, tabs.isTabbed && !isFullScreen ? 1 : 0)
    }

    private func updateLabel(_ page: PageView) {
        guard let label = labels[page.id], let container = tabs.containers.first(where: { $0.id == page.id }) else { return }
        label.setText(container.label(documentTitle: page.documentTitle))
        label.setIcon(webkit_web_view_get_favicon(page.view))
    }

    func switched(to widget: UnsafeMutableRawPointer) {
        guard !isArranging, let page = pages.values.first(where: { UnsafeMutableRawPointer($0.widget) == widget }) else { return }
        // GTK changes the page after this signal; it cannot be changed in it.
        Timer.once { [weak self] in
            guard let self, pages[page.id] === page else { return }
            select(page.id)
        }
    }

    func select(_ id: UUID) {
        apply(tabs.select(id))
    }

    func reload() {
        selectedPage?.reload(tabs.reload())
    }

    func updateShown() {
        for (id, page) in pages { page.setShown(id == tabs.selection && !isMinimized) }
    }

    /// The title or history of a page has changed.
    func changed(_ page: PageView) {
        guard window != nil else { return }
        updateLabel(page)
        guard page === selectedPage else { return }
        gtk_window_set_title(window, page.title)
        let (canGoBack, canGoForward) = (webkit_web_view_can_go_back(page.view), webkit_web_view_can_go_forward(page.view))
        for (button, isSensitive) in [(backButton!, canGoBack), (forwardButton!, canGoForward)] {
            gtk_widget_set_sensitive(button, isSensitive)
            // A page without history, as most visualizers are, needs neither.
            gtk_widget_set_visible(button, max(canGoBack, canGoForward))
        }
    }

    // MARK: - Tabs of the user

    /// The page has sent closeViz.
    func close(_ page: PageView) {
        // WebKitGTK still uses the page after the message in which it is closed.
        Timer.once { [weak self] in
            guard let self, pages[page.id] === page else { return }
            closeTab(page.id)
        }
    }

    /// Closes a tab; the last one: the window.
    func closeTab(_ id: UUID) {
        guard let changes = tabs.close(id) else { return close() }
        apply(changes)
    }

    /// Opens a page in a new tab.
    func openTab(_ path: String) {
        guard let changes = tabs.open(path) else {
            return printMessage("\(path): not opened; a window has at most \(TabDirective.tabLimit) tabs")
        }
        apply(changes)
    }

    /// Lets the user choose an HTML file, which is opened in a new tab. A file index.html stands for its folder.
    func choosePage() {
        guard !isChoosing else { return }
        isChoosing = true
        let dialog = gtk_file_chooser_native_new("Open a page in a new tab", window, GTK_FILE_CHOOSER_ACTION_OPEN, nil, nil)!
        let filter = gtk_file_filter_new()!
        gtk_file_filter_set_name(filter, "Pages (*.html)")
        for suffix in ["html", "htm"] { gtk_file_filter_add_suffix(filter, suffix) }
        gtk_file_chooser_add_filter(dialog, filter)
        g_object_unref(UnsafeMutableRawPointer(filter))
        connect(UnsafeMutableRawPointer(dialog), "response", self) { controller, values in
            controller.isChoosing = false
            let isAccepted = values.integer(0) == GTK_RESPONSE_ACCEPT.rawValue
            let file = isAccepted ? gtk_file_chooser_get_file(dialog) : nil
            let path = take(file.flatMap { g_file_get_path($0) })
            if let file { g_object_unref(UnsafeMutableRawPointer(file)) }
            g_object_unref(UnsafeMutableRawPointer(dialog))
            if let path { controller.openTab(path) }
        }
        gtk_native_dialog_set_modal(cast(UnsafeMutablePointer<GtkNativeDialog>(dialog)), 1)
        gtk_native_dialog_show(cast(UnsafeMutablePointer<GtkNativeDialog>(dialog)))
    }
}
