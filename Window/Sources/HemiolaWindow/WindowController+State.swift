import CWebKit
import CWindow
import FoundationEssentials
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
        isStateChanged = true
    }

    func storeIfDue() {
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
}
