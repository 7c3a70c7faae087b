import CWebKit
import HemiolaSystem
import WindowCore

// What the window stores between two starts.

extension WindowController {
    /// Notes the tabs, the full screen and the size of the window.
    func recordWindow() {
        var record = saved.window
        record.tabs = tabs.containers.map { container in
            var tab = container.tab ?? Tab(id: "page", title: "", path: container.path)
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
        isWindowChanged = true
    }

    func storeIfDue() {
        guard MonotonicTime.now - lastStore > Self.storeSeconds else { return }
        if !pages.isEmpty { recordWindow() }
        guard isWindowChanged || !changedPages.isEmpty else { return }
        lastStore = MonotonicTime.now
        let changes = (window: isWindowChanged ? saved.window : nil, pages: changedPages.map(saved.page))
        (isWindowChanged, changedPages) = (false, [])
        guard let stateFile else { return }
        do {
            // Other windows may have stored other pages, and their own tabs.
            let warn: (String) -> Void = isStoreFaultReported ? { _ in } : { printMessage($0) }
            var stored = try stateFile.update(warn: warn) { state in
                for page in changes.pages { state.update(page.path) { $0 = page } }
                if let window = changes.window { state.window = window }
            }
            stored.window = saved.window
            saved = stored
            isStoreFaultReported = false
        } catch {
            // The changes are stored with the next attempt.
            isWindowChanged = isWindowChanged || changes.window != nil
            changedPages.formUnion(changes.pages.map(\.path))
            if !isStoreFaultReported { printMessage("\(error.message); the state of the window is not stored") }
            isStoreFaultReported = true
        }
    }

    /// Stores something for a page.
    func store(_ key: String, _ change: (inout SavedState.Page) -> Void) {
        let before = saved.page(key)
        saved.update(key, change)
        if saved.page(key) != before { changedPages.insert(key) }
    }
}
