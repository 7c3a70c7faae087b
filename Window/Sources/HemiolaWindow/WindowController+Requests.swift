import CWebKit
import FoundationEssentials
import HemiolaSystem
import WindowCore

// Messages of Hemiola, and requests of pages.

extension WindowController {
    func received(_ message: WindowMessage) {
        switch message {
        case .tabs(let directive): apply(tabs.apply(directive))
        case .request(let request): perform(request)
        case .error(let reason): printMessage("\(socketPath.path): \(reason)")
        case .other: break
        }
    }

    func perform(_ request: WindowRequest) {
        switch request.action {
        case nil: control.send(request.failure("the window does not support this request"))
        case .fullScreen(let value):
            setFullScreen(value ?? !isFullScreen)
            control.send(request.result())
        case .tab(let name):
            guard let container = tabs.container(named: name, titles: pages.compactMapValues(\.documentTitle)) else {
                return control.send(request.failure("no tab has the id or title \"\(name)\""))
            }
            select(container.id)
            control.send(request.result())
        case .reload:
            reload()
            control.send(request.result())
        case .snapshot:
            guard let page = selectedPage else { return control.send(request.failure("no page is visible")) }
            snapshotCount += 1
            let path = "\(folder)/snapshot-\(snapshotCount).png"
            snapshots.append(path)
            if snapshots.count > Self.maximumSnapshots { FileSystem.remove(snapshots.removeFirst()) }
            page.snapshot(to: path) { [weak self] result in
                switch result {
                case .success: self?.control.send(request.result(path))
                case .failure(let fault): self?.control.send(request.failure(fault.message))
                }
            }
        }
    }

    /// Answers a request of a page: an action and a JSON value. Returns JSON.
    func answer(_ page: PageView, action: String, value: String) throws(Problem) -> String {
        switch (action, value) {
        case ("fullscreen", "true"), ("fullscreen", "false"), ("fullscreen", "null"):
            setFullScreen(value == "null" ? !isFullScreen : value == "true")
            return "null"
        case ("info", _):
            let scale = gtk_widget_get_scale_factor(cast(window!))
            let monitors = g_list_model_get_n_items(gdk_display_get_monitors(gdk_display_get_default()))
            return
                #"{"fullscreen":\#(isFullScreen),"scale":\#(scale),"monitors":\#(monitors),"zoom":\#(webkit_web_view_get_zoom_level(page.view))}"#
        default: throw Problem("the window does not support this request")
        }
    }
}
