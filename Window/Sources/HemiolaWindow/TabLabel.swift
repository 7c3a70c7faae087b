import CWebKit

/// The label of a tab: icon, text and close button.
final class TabLabel {
    /// The widget: a box with the box of the parts.
    let widget: UnsafeMutablePointer<GtkWidget>
    private let image: UnsafeMutablePointer<GtkWidget>
    private let label: UnsafeMutablePointer<GtkWidget>
    private let onClose: () -> Void
    private var text = ""

    /// - Parameter onClose: Called when the user clicks the close button, or the label with the middle button.
    init(onClose: @escaping () -> Void) {
        self.onClose = onClose
        widget = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0)
        let parts = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6)!
        image = gtk_image_new()
        label = gtk_label_new("")
        let button = gtk_button_new_from_icon_name("window-close-symbolic")!
        let middle = gtk_gesture_click_new()!
        g_object_ref_sink(widget)
        gtk_image_set_pixel_size(OpaquePointer(image), 16)
        gtk_widget_set_visible(image, 0)
        gtk_label_set_max_width_chars(OpaquePointer(label), 30)
        gtk_label_set_single_line_mode(OpaquePointer(label), 1)
        gtk_label_set_ellipsize(OpaquePointer(label), PANGO_ELLIPSIZE_END)
        gtk_widget_set_hexpand(label, 1)
        gtk_button_set_has_frame(cast(button), 0)
        gtk_widget_set_focusable(button, 0)
        gtk_widget_add_css_class(button, "tab-close")
        gtk_widget_set_tooltip_text(button, "Close (Ctrl+W)")
        for part in [image, label, button] { gtk_box_append(cast(parts), part) }
        gtk_box_append(cast(widget), parts)

        connect(button, "clicked", self) { label, _ in label.close() }
        gtk_gesture_single_set_button(middle, 2)
        connect(UnsafeMutableRawPointer(middle), "released", self) { label, _ in label.close() }
        gtk_widget_add_controller(parts, middle)
    }

    /// GTK still uses the label after the signal in which the tab is closed.
    private func close() {
        Timer.once { [weak self] in self?.onClose() }
    }

    /// Releases the widget. The object must not be used afterwards.
    func dispose() {
        // GtkNotebook of GTK 4.8 never releases the widget. So at least what is in it ends.
        g_object_run_dispose(cast(widget))
        g_object_unref(widget)
    }

    /// Shows the text, shortened if it is long; all of it is in the tooltip.
    func setText(_ newText: String) {
        guard newText != text else { return }
        text = newText
        gtk_label_set_text(OpaquePointer(label), newText)
        // A label that can be shortened is as narrow as possible otherwise.
        gtk_label_set_width_chars(OpaquePointer(label), Int32(min(newText.count, 16)))
        gtk_widget_set_tooltip_text(label, newText)
    }

    /// Shows the picture of the page; nil: it has none.
    func setIcon(_ texture: OpaquePointer?) {
        gtk_image_set_from_paintable(OpaquePointer(image), texture)
        gtk_widget_set_visible(image, texture == nil ? 0 : 1)
    }
}
