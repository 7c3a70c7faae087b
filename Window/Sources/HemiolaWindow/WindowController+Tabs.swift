import CWebKit
import CWindow
import FoundationEssentials
import WindowCore

// The tab view and its pages.

extension WindowController {
    var selectedPage: PageView? { pages[tabs.selection] }

    func add(_ container: TabContainer, restores: Bool = false) {
        let page = PageView(id: container.id, path: container.path, context: context, session: session, scheme: scheme, host: self)
        pages[container.id] = page
        page.load(container.path, restores: restores)
    }

    func apply(_ changes: TabState.Changes) {
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
    func arrange() {
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

    func switched(to widget: UnsafeMutablePointer<GtkWidget>) {
        guard !isArranging, let page = pages.values.first(where: { $0.widget == widget }) else { return }
        // GTK changes the page after this signal; it cannot be changed in it.
        Timer.once { [weak self] in
            guard let self, pages[page.id] === page else { return }
            select(page.id)
        }
    }

    func select(_ id: UUID) {
        cycle?.restart()
        apply(tabs.select(id))
    }

    func updateShown() {
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
}
