import CWebKit
import CWindow
import Glibc

/// A window from which the file named by the argument can be dragged.
@main
enum Program {
    static func main() {
        gtk_init()
        let window = gtk_window_new()!
        gtk_window_set_title(OpaquePointer(window).assumed(), "drag source")
        gtk_window_set_default_size(OpaquePointer(window).assumed(), 120, 120)
        let label = gtk_label_new("drag")!
        gtk_window_set_child(OpaquePointer(window).assumed(), label)
        gtk_window_set_decorated(OpaquePointer(window).assumed(), 0)
        let source = gtk_drag_source_new()!
        gtk_drag_source_set_content(source, cwindow_file_content(CommandLine.arguments[1]))
        gtk_drag_source_set_actions(source, GDK_ACTION_COPY)
        let began: @convention(c) (gpointer, OpaquePointer, gpointer) -> Void = { _, drag, data in
            let accepted: @convention(c) (OpaquePointer, gpointer, gpointer) -> Void = { drag, _, _ in
                guard gdk_drag_get_selected_action(drag) == GDK_ACTION_COPY else { return }
                print("accepted")
                fflush(nil)
            }
            _ = cwindow_connect(
                UnsafeMutableRawPointer(drag), "notify::selected-action", unsafeBitCast(accepted, to: GCallback.self), data)
        }
        _ = cwindow_connect(UnsafeMutableRawPointer(source), "drag-begin", unsafeBitCast(began, to: GCallback.self), window)
        gtk_widget_add_controller(window, source)
        gtk_window_present(OpaquePointer(window).assumed())
        print("shown")
        fflush(nil)
        while true { g_main_context_iteration(nil, 1) }
    }
}

extension OpaquePointer {
    /// The pointer as one to an instance of a class of GTK.
    fileprivate func assumed<Instance>() -> UnsafeMutablePointer<Instance> { UnsafeMutablePointer(self) }
}
