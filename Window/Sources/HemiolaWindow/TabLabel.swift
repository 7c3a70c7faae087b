import CWebKit
import CWindow
import Glibc
import WindowCore

/// The label of a tab: icon, text and close button.
final class TabLabel {
    /// The widget: a horizontal box.
    let widget: UnsafeMutablePointer<GtkWidget>
    private let image: UnsafeMutablePointer<GtkWidget>
    private let label: UnsafeMutablePointer<GtkWidget>
    private let onClose: () -> Void
    private var text = ""
    private var iconPath: String?
    private var icon: OpaquePointer?
    private var isDisposed = false

    /// - Parameter onClose: Called when the user clicks the close button, or the label with the middle button.
    init(onClose: @escaping () -> Void) {
        self.onClose = onClose
        widget = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6)
        image = gtk_image_new()
        label = gtk_label_new("")
        let button = gtk_button_new_from_icon_name("window-close-symbolic")!
        g_object_ref_sink(widget)
        gtk_image_set_pixel_size(OpaquePointer(image), Int32(TabIcon.side))
        gtk_widget_set_visible(image, 0)
        gtk_label_set_max_width_chars(OpaquePointer(label), 30)
        gtk_label_set_single_line_mode(OpaquePointer(label), 1)
        gtk_label_set_ellipsize(OpaquePointer(label), PANGO_ELLIPSIZE_END)
        gtk_widget_set_hexpand(label, 1)
        gtk_button_set_has_frame(cast(button), 0)
        gtk_widget_set_focusable(button, 0)
        gtk_widget_add_css_class(button, "tab-close")
        gtk_widget_set_tooltip_text(button, "Close (Ctrl+W)")
        for part in [image, label, button] { gtk_box_append(cast(widget), part) }

        let clicked: @convention(c) (gpointer, gpointer) -> Void = { _, data in
            let label: TabLabel = owner(data)
            MainActor.assumeIsolated { label.close() }
        }
        connect(button, "clicked", to: self, unsafeBitCast(clicked, to: UnsafeRawPointer.self))
        let middle = gtk_gesture_click_new()!
        gtk_gesture_single_set_button(middle, 2)
        let released: @convention(c) (gpointer, Int32, Double, Double, gpointer) -> Void = { _, _, _, _, data in
            let label: TabLabel = owner(data)
            MainActor.assumeIsolated { label.close() }
        }
        connect(UnsafeMutableRawPointer(middle), "released", to: self, unsafeBitCast(released, to: UnsafeRawPointer.self))
        gtk_widget_add_controller(widget, middle)
    }

    /// GTK still uses the label after the signal in which the tab is closed.
    private func close() {
        Timer.once { [self] in
            if !isDisposed { onClose() }
        }
    }

    /// Releases the widget. The object must not be used afterwards.
    func dispose() {
        isDisposed = true
        if let icon { g_object_unref(UnsafeMutableRawPointer(icon)) }
        icon = nil
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

    /// Shows a picture.
    ///
    /// - Parameters:
    ///   - path: A PNG or SVG file. If it cannot be used, this is printed once.
    ///   - favicon: The picture of the page, which is shown if there is no file; nil: it has none.
    func setIcon(path: String?, favicon: OpaquePointer?) {
        if path != iconPath {
            iconPath = path
            if let icon { g_object_unref(UnsafeMutableRawPointer(icon)) }
            icon = nil
            if let path { load(path) }
        }
        show(icon ?? (path == nil ? favicon : nil))
    }

    private func show(_ texture: OpaquePointer?) {
        gtk_image_set_from_paintable(OpaquePointer(image), texture)
        gtk_widget_set_visible(image, texture == nil ? 0 : 1)
    }

    // MARK: - Icon files

    private final class Decoding {
        let label: TabLabel
        let path: String
        init(_ label: TabLabel, _ path: String) {
            self.label = label
            self.path = path
        }
    }

    /// Reads a file and decodes it on another thread.
    private func load(_ path: String) {
        let bytes: [UInt8]
        do throws(PageSource.Fault) {
            bytes = try Self.read(path)
        } catch {
            return refuse(path, error.message)
        }
        if let problem = TabIcon.problem(of: bytes) { return refuse(path, problem) }
        let side = Int32(TabIcon.side) * max(1, gtk_widget_get_scale_factor(image))
        let stream = g_memory_input_stream_new_from_data(g_memdup2(bytes, gsize(bytes.count)), gssize(bytes.count), g_free)
        let decoded: GAsyncReadyCallback = { _, result, data in
            let decoding = Unmanaged<Decoding>.fromOpaque(data!).takeRetainedValue()
            var error: UnsafeMutablePointer<GError>?
            let pixels = gdk_pixbuf_new_from_stream_finish(result, &error)
            let reason = pixels == nil ? take(error) : ""
            // Unsafe: GLib calls this on the main thread, where the texture stays.
            nonisolated(unsafe) let texture = pixels.map { gdk_texture_new_for_pixbuf($0)! }
            if let pixels { g_object_unref(UnsafeMutableRawPointer(pixels)) }
            MainActor.assumeIsolated { decoding.label.decoded(texture, decoding.path, reason) }
        }
        gdk_pixbuf_new_from_stream_at_scale_async(
            stream, side, side, 1, nil, decoded, Unmanaged.passRetained(Decoding(self, path)).toOpaque())
        g_object_unref(stream)
    }

    private func decoded(_ texture: OpaquePointer?, _ path: String, _ reason: String) {
        guard !isDisposed, path == iconPath else {
            if let texture { g_object_unref(UnsafeMutableRawPointer(texture)) }
            return
        }
        guard let texture else { return refuse(path, reason) }
        icon = texture
        show(texture)
    }

    private func refuse(_ path: String, _ reason: String) {
        // Some messages of the decoders end with a space.
        let text = reason.split(separator: " ").joined(separator: " ")
        printMessage("\(path): \(text); the tab has no icon")
    }

    private static func read(_ path: String) throws(PageSource.Fault) -> [UInt8] {
        var size: Int64 = 0
        var real = [CChar](repeating: 0, count: 4097)
        let descriptor = cwindow_open_file(path, &real, real.count, &size)
        guard descriptor >= 0 else { throw PageSource.Fault(message: String(cString: strerror(errno))) }
        defer { Glibc.close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: TabIcon.sizeLimit + 1)
        var count = 0
        while count < bytes.count {
            let read = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress! + count, $0.count - count, off_t(count)) }
            guard read >= 0 else { throw PageSource.Fault(message: String(cString: strerror(errno))) }
            if read == 0 { break }
            count += read
        }
        return Array(bytes.prefix(count))
    }
}
